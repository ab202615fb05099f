import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipArchive } from 'archiver';
import { asAbsent, systemFault } from '../base/system-fault.js';
import { contentOf, openOwnFile, openRegularFile, regularFileNames } from '../files/regular-file.js';
import { safeFileName } from '../protocol/file-name.js';
import { TRACE } from '../protocol/trace/trace.js';
import { VIDEO } from './video.js';

/** Says which artifacts are missing. */
export const MISSING = 'artifacts-missing.txt';
/** The files of a session's folder that its zip contains, in this order; all others are omitted. */
const FILES = [
  MISSING,
  'session.json',
  'transcript.jsonl',
  'report.json',
  'report.html',
  'report.junit.xml',
  'network.har',
  TRACE,
];
const DOWNLOADS = 'downloads';
const FOLDERS = ['screenshots', DOWNLOADS, 'healed-flows', 'baselines', 'pdf'];
/** The most files of a running session's downloads. */
const MAX_DOWNLOADS = 10_000;
/** The deepest level of folders that is included. */
const MAX_DEPTH = 20;
/** Files that are compressed already are only stored: compressing them costs time and saves nothing. */
const STORED = /\.(png|jpe?g|webp|gif|mp4|webm|zip|gz|zst|pdf)$/i;

/** A file for a zip. */
export interface ArchiveEntry {
  readonly name: string;
  readonly path: string;
  /** The browser may write to the file's folder. */
  readonly untrusted?: boolean;
}

/** A session's folder, and its place in the zip. */
export interface ArchiveSource {
  readonly dir: string;
  /** The folder of a running session's downloads, if they are not in `dir` (yet). */
  readonly downloadsDir?: string | undefined;
  /** Its folder in the zip; the root if omitted. */
  readonly folder?: string;
}

/** A session's files that are not in a folder, and their place in the zip. */
export interface StoredSource {
  readonly folder?: string;
  /** Opened one by one, each when the previous one is in the zip. */
  files(): Promise<readonly StoredEntry[]>;
}

type ZipSource = ArchiveSource | StoredSource;

export interface StoredEntry {
  readonly name: string;
  /** Null if it is gone. */
  open(): Promise<{ readonly content: Readable; readonly modifiedAt: Date } | null>;
}

/**
 * Streams a zip of a session's folder. It is created as fast as it is read, with one open file at a time. A file that
 * is
 * deleted or grows meanwhile is omitted or truncated; the zip stays valid. Links are omitted. A system fault ends the
 * stream with an error. Destroying the stream ends the work and closes the file.
 *
 * @param sources requested one by one, each when the previous one is in the zip
 */
export function openArchive(sources: Iterable<ZipSource> | AsyncIterable<ZipSource>): Readable {
  const zip = new ZipArchive({ zlib: { level: 6 } });
  const output = new PassThrough();
  const ended = new AbortController();
  output.once('close', () => ended.abort());
  // Both report to `output`: a destroyed output ends the pipeline, and a failed zip destroys the output.
  void pipeline(zip, output, { signal: ended.signal }).catch((error: unknown) => output.destroy(asError(error)));
  void fill(zip, sources, ended.signal).catch((error: unknown) => output.destroy(asError(error)));
  return output;
}

async function fill(
  zip: ZipArchive,
  sources: Iterable<ZipSource> | AsyncIterable<ZipSource>,
  signal: AbortSignal,
): Promise<void> {
  for await (const source of sources) {
    const prefix = source.folder === undefined ? '' : `${source.folder}/`;
    if ('files' in source) {
      for (const entry of await source.files()) {
        if (signal.aborted) return;
        await appendStored(zip, { ...entry, name: prefix + entry.name }, signal);
      }
      continue;
    }
    const taken = new Set<string>();
    for await (const entry of archiveEntries(source)) {
      if (signal.aborted) return;
      if (taken.has(entry.name)) continue;
      if (await appendFile(zip, { ...entry, name: prefix + entry.name }, signal)) taken.add(entry.name);
    }
  }
  if (!signal.aborted) await zip.finalize();
}

/** Puts a file into a zip. Resolves when the whole file is in it; false if there is no such file. */
export async function appendFile(
  zip: ZipArchive,
  { name, path, untrusted: foreign }: ArchiveEntry,
  signal: AbortSignal,
): Promise<boolean> {
  const opened = await (foreign ? openOwnFile(path) : openRegularFile(path));
  if (opened === null) return false;
  const { file, stats } = opened;
  // Limited to the current size: a file that grows faster than it is read would never end.
  let fault: unknown;
  const onFault = (error: unknown) => {
    fault = error;
  };
  try {
    await append(zip, { name, date: stats.mtime }, untilError(contentOf(opened), onFault), signal);
  } finally {
    await file.close();
  }
  // Otherwise a file that could be read only in part would look complete.
  if (systemFault(fault) !== null) throw fault;
  return true;
}

/** Any error of the store ends the zip: it must not look complete. */
async function appendStored(zip: ZipArchive, { name, open }: StoredEntry, signal: AbortSignal): Promise<void> {
  const opened = await open();
  if (opened === null) return;
  const faults: unknown[] = [];
  await append(
    zip,
    { name, date: opened.modifiedAt },
    untilError(opened.content, (error) => faults.push(error)),
    signal,
  );
  if (faults.length > 0 && !signal.aborted) throw faults[0];
}

/** Resolves when the zip has read the content, or the signal is aborted. */
async function append(
  zip: ZipArchive,
  { name, date }: { readonly name: string; readonly date: Date },
  content: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  const source = Readable.from(content, { objectMode: false });
  // The zip reports when it has read a source, but not if the source was destroyed.
  const read = new AbortController();
  zip.once('entry', () => read.abort());
  const over = AbortSignal.any([signal, read.signal]);
  try {
    zip.append(source, { name, date, mode: 0o644, store: STORED.test(name) });
    if (!over.aborted) await once(over, 'abort');
  } finally {
    source.destroy();
  }
}

/** Ends a source when it fails: on an error, the zip would wait forever. */
async function* untilError(content: Readable, onFault: (error: unknown) => void): AsyncGenerator<Buffer, void> {
  try {
    yield* content;
  } catch (error) {
    // A disk error, or the end of the whole archive: in both cases there is no more data of this file.
    onFault(error);
  } finally {
    content.destroy();
  }
}

/** The files that the zip of a session's folder contains, if they exist. */
export async function* archiveEntries(options: ArchiveSource): AsyncGenerator<ArchiveEntry> {
  for (const name of FILES) yield { name, path: join(options.dir, name) };
  const videos = ((await readdir(options.dir).catch(asAbsent)) ?? []).filter((name) => VIDEO.test(name));
  for (const name of videos.sort()) yield { name, path: join(options.dir, name) };
  for (const name of FOLDERS) yield* entriesIn(join(options.dir, name), name, 0);
  if (options.downloadsDir === undefined) return;
  // Folders are not entered: a browser may replace one with a link.
  for (const name of (await regularFileNames(options.downloadsDir, MAX_DOWNLOADS)).sort()) {
    if (isUnfinished(name)) continue;
    yield { name: `${DOWNLOADS}/${safeSegment(name)}`, path: join(options.downloadsDir, name), untrusted: true };
  }
}

async function* entriesIn(dir: string, prefix: string, depth: number): AsyncGenerator<ArchiveEntry> {
  const found = (await readdir(dir, { withFileTypes: true }).catch(asAbsent)) ?? [];
  const taken = new Set<string>();
  for (const entry of found.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = `${prefix}/${uniqueName(taken, safeSegment(entry.name))}`;
    if (entry.isFile() && !isUnfinished(entry.name)) yield { name, path: join(dir, entry.name) };
    else if (entry.isDirectory() && depth < MAX_DEPTH) yield* entriesIn(join(dir, entry.name), name, depth + 1);
  }
}

/** Pages choose the names of downloads. Characters that any system treats as special or rejects become `_`. */
function safeSegment(name: string): string {
  return safeFileName(name).replace(/^\.+$/, '_');
}

/** Different names may become equal when they are made safe: later ones get a number. */
function uniqueName(taken: Set<string>, name: string): string {
  let free = name;
  const { name: stem, ext } = parse(name);
  for (let number = 1; taken.has(free); number += 1) free = `${stem} (${number})${ext}`;
  taken.add(free);
  return free;
}

/** Files that we or the browser are still writing. */
function isUnfinished(name: string): boolean {
  return name.startsWith('.') || name.endsWith('.crdownload');
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
