import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { asAbsent } from '../../base/system-fault.js';
import { cacheFolder } from '../../config.js';
import { parseSuiteFile, renderSuiteFile, type SuiteFile, type SuitePart } from '../../report/suite/suite-file.js';
import type { SuiteResult } from '../../report/suite/suite-result.js';

const LastRun = z.object({ failed: z.array(z.string()) });
/** Runs that are kept, of all folders: CI checks out into ever new ones. */
const MAX_RUNS = 100;

/** The flows that failed in the last run of a flows folder on this machine, by name; null if none is known. */
export async function readLastFailed(root: string): Promise<ReadonlySet<string> | null> {
  const text = await readFile(fileOf(root), 'utf8').catch(asAbsent);
  if (text === null) return null;
  try {
    return new Set(LastRun.parse(JSON.parse(text)).failed);
  } catch {
    // It was cut off while it was written: as good as none.
    return null;
  }
}

/** Stores which flows failed, for `--last-failed`. Rejects if the cache folder cannot be written. */
export async function storeLastFailed(root: string, failed: readonly string[]): Promise<void> {
  const file = fileOf(root);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify({ root, failed })}\n`);
}

/** Outside of the checkout, which a run does not change. */
function fileOf(root: string): string {
  return join(cacheFolder(), 'last-run', `${keyOf(root)}.json`);
}

/**
 * Stores a run for `troupe why`, in place of the one before from the same folder. Rejects if the cache folder cannot be
 * written.
 * @param folder the folder of the command, absolute
 */
export async function storeLastRun(folder: string, suite: SuiteResult, part: SuitePart | null): Promise<void> {
  const file = runOf(folder);
  await mkdir(dirname(file), { recursive: true });
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    // It says what pages showed.
    await writeFile(
      temporary,
      renderSuiteFile(suite, part, (path) => path),
      { mode: 0o600 },
    );
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await removeOld(dirname(file));
}

/**
 * The last run from a folder, or from the nearest folder above it that has one; null if none is known. Paths in it are as the
 * run had them: relative to its folder, or absolute.
 */
export async function readLastRun(from: string): Promise<{ readonly folder: string; readonly run: SuiteFile } | null> {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const file = runOf(folder);
    const text = await readFile(file, 'utf8').catch(asAbsent);
    const run = text === null ? null : runIn(text, file);
    if (run !== null) return { folder, run };
    if (folder === dirname(folder)) return null;
  }
}

/** Null if another version wrote it. */
function runIn(text: string, file: string): SuiteFile | null {
  try {
    return parseSuiteFile(text, file);
  } catch {
    return null;
  }
}

function runOf(folder: string): string {
  return join(cacheFolder(), 'runs', `${keyOf(folder)}.json`);
}

function keyOf(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 16);
}

/** Removes all but the newest. */
async function removeOld(dir: string): Promise<void> {
  const names = await readdir(dir);
  if (names.length <= MAX_RUNS) return;
  const files = await Promise.all(
    names.map(async (name) => {
      const file = join(dir, name);
      return { file, at: (await stat(file).catch(asAbsent))?.mtimeMs ?? 0 };
    }),
  );
  for (const { file } of files.sort((a, b) => b.at - a.at).slice(MAX_RUNS)) await rm(file, { force: true });
}
