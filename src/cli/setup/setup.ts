import { existsSync } from 'node:fs';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findService, type LocalService } from '../../client/local-service/find-service.js';
import { type Config, readConfig } from '../../config.js';
import { encodeError } from '../../protocol/errors.js';
import { DOCTOR, SETUP } from '../../terminal/commands/service-commands.js';
import { print } from '../../terminal/output.js';
import { parseOptions } from '../../terminal/parse-options.js';
import { typedCommand } from '../../terminal/typed-command.js';
import { makeTemporary } from '../leftovers.js';
import { readVersion } from '../version.js';
import type { Finding } from './finding.js';
import { checkMachine } from './machine-checks.js';
import { makeFirstHome } from './make-first-home.js';
import { prepareWorkerImage } from './prepare-worker-image.js';
import { removeUnusedBinaries } from './unused-binaries.js';

const MARKS = { ok: 'ok  ', note: 'note', failed: 'FAIL' } as const;

/**
 * Checks the machine, creates the folders and, unless `--brief`, pulls or builds the worker image. Each finding is one line: what, why, and how to fix it.
 * @returns 1 when something that the service cannot do without is missing
 */
export async function runSetup(args: readonly string[]): Promise<number> {
  const flags = parseOptions(args, SETUP);
  const config = readConfig({});
  await makeFirstHome(config);
  const binaries = await removeBinaries();
  const findings = [...(await checkMachine(config)), ...(binaries === null ? [] : [binaries])];
  for (const finding of findings) {
    if (flags.brief !== true || finding.level === 'failed') print(line(finding));
  }
  if (flags.brief !== true || flags.base !== undefined) {
    const image = await prepareWorkerImage(config, flags.base);
    findings.push(image);
    print(line(image));
  }
  const script = flags['launch-script'];
  if (script !== undefined) {
    await writeLaunchScript(resolve(script), config.home);
    print(`ok   launch script: ${resolve(script)}\n`);
  }
  return findings.some(({ level }) => level === 'failed') ? 1 : 0;
}

/**
 * `troupe doctor`: looks at the machine as setup does, and at the service that runs for this home, and changes nothing.
 * @returns 1 when something that the service cannot do without is missing
 */
export async function runDoctor(args: readonly string[]): Promise<number> {
  parseOptions(args, DOCTOR);
  const config = readConfig({});
  const findings = [...(await checkBeforeHome(config)), await checkService(config)];
  for (const finding of findings) print(line(finding));
  return findings.some(({ level }) => level === 'failed') ? 1 : 0;
}

/** A home that is not there yet is not made for it: what is looked at is where it would be. */
async function checkBeforeHome(config: Config): Promise<readonly Finding[]> {
  if (existsSync(config.home)) return checkMachine(config);
  const tmpDir = await makeTemporary('doctor');
  try {
    // The user that browsers run as must reach a browser that is unpacked there; else it would be unpacked elsewhere.
    await chmod(tmpDir, 0o755);
    let home = config.home;
    while (!existsSync(home)) home = dirname(home);
    return await checkMachine({ ...config, home, tmpDir });
  } finally {
    await rm(tmpDir, { recursive: true, force: true });
  }
}

async function checkService(config: Config): Promise<Finding> {
  const what = 'Service of this home';
  let found: LocalService | null;
  try {
    found = await findService(config.home);
  } catch (error) {
    return { level: 'note', what, why: encodeError(error).error };
  }
  if (found === null) return { level: 'note', what, why: 'not running' };
  const [own, other] = [readVersion(), found.version];
  if (other === own) return { level: 'ok', what, why: `answers at ${found.url}` };
  const why = `answers at ${found.url} with version ${other}; this command is version ${own}`;
  return { level: 'note', what, why, fix: 'install the same version of both' };
}

/** Null where there is nothing to say. */
async function removeBinaries(): Promise<Finding | null> {
  const what = 'Binaries of other platforms';
  try {
    const megabytes = await removeUnusedBinaries();
    return megabytes === 0 ? null : { level: 'ok', what, why: `${megabytes} MB removed` };
  } catch (error) {
    const fix = `nothing, or to save disk space run ${typedCommand()} setup as the user who installed it`;
    return { level: 'note', what, why: `not removed: ${encodeError(error).error}`, fix };
  }
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
