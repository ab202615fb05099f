import { readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { asAbsent } from '../../base/system-fault.js';
import { unpackZip } from '../../files/unpack-zip.js';

/** The file in a folder of reports that lists what runs have written there, a path a line. */
const OWNED = '.troupe-files';

/**
 * Removes what earlier runs have written into a folder, and folders that are empty then; other files stay.
 * @returns whether runs have written there
 */
export async function removeOwned(folder: string): Promise<boolean> {
  const text = await readFile(join(folder, OWNED), 'utf8').catch(asAbsent);
  if (text === null) return false;
  const names = text.split('\n').filter(isInside);
  for (const name of names) await rm(join(folder, name), { force: true });
  const folders = new Set(names.flatMap(foldersOf));
  // The innermost first.
  for (const name of [...folders].sort((a, b) => b.length - a.length)) {
    await rmdir(join(folder, name)).catch(() => undefined);
  }
  await rm(join(folder, OWNED), { force: true });
  return true;
}

/** Notes files that a run has written into a folder, for {@link removeOwned}. @param names with forward slashes */
export async function noteOwned(folder: string, names: readonly string[]): Promise<void> {
  if (names.length > 0) await writeFile(join(folder, OWNED), `${names.filter(isInside).join('\n')}\n`);
}

/** Unpacks the artifacts of a job, in place of those of an earlier run. @throws as {@link unpackZip} */
export async function unpackArtifacts(zip: string, folder: string, maxBytes?: number): Promise<void> {
  await removeOwned(folder);
  const names = await unpackZip(zip, folder, maxBytes === undefined ? {} : { maxBytes });
  await noteOwned(folder, names);
}

/**
 * Removes what earlier runs left of retries, `retry-1` and on, in the folder of a flow.
 * @param isUsed whether this run has written a folder
 */
export async function removeRetries(folder: string, isUsed: (folder: string) => boolean): Promise<void> {
  const names = (await readdir(folder).catch(asAbsent)) ?? [];
  for (const name of names) {
    const retry = join(folder, name);
    if (!/^retry-\d+$/.test(name) || isUsed(retry)) continue;
    if (await removeOwned(retry)) await rmdir(retry).catch(() => undefined);
  }
}

function foldersOf(name: string): readonly string[] {
  const folder = dirname(name);
  return folder === '.' ? [] : [folder, ...foldersOf(folder)];
}

function isInside(name: string): boolean {
  return name !== '' && !name.includes('\\') && name.split('/').every((part) => part !== '' && part !== '..');
}
