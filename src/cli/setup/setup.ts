import { chmod, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../config.js';
import { makeHome } from '../../service/make-home.js';
import { parseOptions } from '../parse-options.js';
import type { Finding } from './finding.js';
import { checkMachine } from './machine-checks.js';
import { prepareWorkerImage } from './prepare-worker-image.js';

const MARKS = { ok: 'ok  ', note: 'note', failed: 'FAIL' } as const;

/**
 * Checks the machine, creates the folders and, unless `--brief`, pulls or builds the worker image. Each finding is one line: what, why, and how to fix it.
 * @returns 1 when something that the service cannot do without is missing
 */
export async function runSetup(args: readonly string[]): Promise<number> {
  const flags = parseOptions(args, {
    brief: { type: 'boolean' },
    base: { type: 'string' },
    'launch-script': { type: 'string' },
  });
  const config = readConfig({});
  await makeHome(config);
  const findings = [...(await checkMachine(config))];
  for (const finding of findings) {
    if (flags.brief !== true || finding.level === 'failed') process.stdout.write(line(finding));
  }
  if (flags.brief !== true || flags.base !== undefined) {
    const image = await prepareWorkerImage(config, flags.base);
    findings.push(image);
    process.stdout.write(line(image));
  }
  const script = flags['launch-script'];
  if (script !== undefined) {
    await writeLaunchScript(resolve(script), config.home);
    process.stdout.write(`ok   launch script: ${resolve(script)}\n`);
  }
  return findings.some(({ level }) => level === 'failed') ? 1 : 0;
}

function line({ level, what, why, fix }: Finding): string {
  const text = `${what}: ${why}${fix === undefined ? '' : `. Fix: ${fix}`}`;
  return `${MARKS[level]} ${text.replaceAll(/\s*\n\s*/g, ' ')}\n`;
}

async function writeLaunchScript(path: string, home: string): Promise<void> {
  const cli = fileURLToPath(new URL('../../cli.js', import.meta.url));
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const text = `#!/bin/sh
# Starts Troupe with its folder as it was when this script was written.
export TROUPE_HOME=${quote(home)}
exec ${quote(process.execPath)} ${quote(cli)} dashboard "$@"
`;
  await writeFile(path, text);
  await chmod(path, 0o755);
}
