import { execFile } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { cachedPackages } from '../../scripts/support/cached-packages.mjs';

const NPM_MS = 120_000;
/** One version, or all of a range, oldest first. */
const Versions = z.union([z.string(), z.array(z.string()).min(1)]);

/** A package as the registry has it today. */
export interface NewestPackage {
  readonly version: string;
  /** The path of a file among the installed packages, by its parts. */
  file(...parts: readonly string[]): string;
}

/**
 * Installs the newest version of a tag or range into the user's cache, without running what it brings, and removes the
 * versions that were the newest before.
 *
 * @param tag such as `latest` or `3`
 * @returns why it cannot be had, in one sentence, for tap's `skip`
 */
export async function newestPackage(name: string, tag: string): Promise<NewestPackage | { readonly why: string }> {
  const asked = promisify(execFile)('npm', ['view', `${name}@${tag}`, 'version', '--json'], { timeout: NPM_MS });
  const said = await asked.then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );
  if (said === '') return { why: `the npm registry has no ${name}@${tag}, or is not reachable` };
  const versions = Versions.parse(JSON.parse(said));
  const version = typeof versions === 'string' ? versions : (versions.at(-1) ?? '');
  const prefix = `newest-${name.replace(/\W+/g, '-')}-${tag}-`;
  const installed = cachedPackages(`${prefix}${version}`, [`${name}@${version}`]);
  const cache = dirname(dirname(installed()));
  for (const folder of readdirSync(cache)) {
    if (folder.startsWith(prefix) && folder !== `${prefix}${version}`) {
      rmSync(join(cache, folder), { recursive: true, force: true });
    }
  }
  return { version, file: installed };
}
