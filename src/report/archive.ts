import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipArchive } from 'archiver';
import { asAbsent, systemFault } from '../base/system-fault.js';
import { contentOf, openOwnFile, openRegularFile, regularFileNames } from '../files/regular-file.js';
import { safeFileName } from '../protocol/file-name.js';
import { VIDEO } from './video.js';

/** What a zip has of a session's folder (everything else stays where it is), in this order. */
const FILES = ['session.json', 'transcript.jsonl', 'report.json', 'report.html', 'report.junit.xml', 'network.har'];
const DOWNLOADS = 'downloads';
const FOLDERS = ['screenshots', DOWNLOADS, 'healed-flows'];
/** Files of a running session's downloads. */
const MAX_DOWNLOADS = 10_000;
/** Folders in folders that are followed. */
const MAX_DEPTH = 20;
/** Compressed already: storing them costs less and gains the same. */
const STORED = /\.(png|jpe?g|webp|gif|mp4|webm|zip|gz|zst|pdf)$/i;

interface Entry {
  readonly name: string;
  readonly path: string;
  /** The browser may write to its folder. */
  readonly foreign?: boolean;
}

/** A session's folder, and where it goes in the zip. */
export interface ArchiveSource {
  readonly dir: string;
  /** Where a running session's downloads lie, if not (yet) under `dir`. */
  readonly downloadsDir?: string | undefined;
  /** The folder of the zip that it fills; its root where it is left out. */
  readonly folder?: string;
}

/**
 * The zip of what is in a session's folder now, as a stream: it is made as fast as it is read, one file open at a time.
 * A file that vanishes or grows meanwhile is left out or cut; the zip stays whole. Links are left out. A fault of the
 * system ends the stream with an error.
 * Destroying the stream ends the work and closes the file.
 *
 * @param sources asked for one by one, each when the one before is in the zip
 */
export function openArchive(sources: Iterable<ArchiveSource> | AsyncIterable<ArchiveSource>): Readable {
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
  sources: Iterable<ArchiveSource> | AsyncIterable<ArchiveSource>,
  signal: AbortSignal,
): Promise<void> {
  for await (const source of sources) {
    const prefix = source.folder === undefined ? '' : `${source.folder}/`;
    const taken = new Set<string>();
    for await (const entry of entries(source)) {
      if (signal.aborted) return;
      if (taken.has(entry.name)) continue;
      if (await append(zip, { ...entry, name: prefix + entry.name }, signal)) taken.add(entry.name);
    }
  }
  if (!signal.aborted) await zip.finalize();
}

/** Settles when the file is in the zip whole; false where there is none to be had. */
async function append(zip: ZipArchive, { name, path, foreign }: Entry, signal: AbortSignal): Promise<boolean> {
  const opened = await (foreign ? openOwnFile(path) : openRegularFile(path));
  if (opened === null) return false;
  const { file, stats } = opened;
  // Bound to the size that it has now: a file that grows faster than it is read would never end.
  let fault: unknown;
  const onFault = (error: unknown) => {
    fault = error;
  };
  const source = Readable.from(untilError(contentOf(opened), onFault), { objectMode: false });
  // The zip says when it has read a source; one that was destroyed says nothing more.
  const read = new AbortController();
  zip.once('entry', () => read.abort());
  const over = AbortSignal.any([signal, read.signal]);
  try {
    zip.append(source, { name, date: stats.mtime, mode: 0o644, store: STORED.test(name) });
    if (!over.aborted) await once(over, 'abort');
  } finally {
    source.destroy();
    await file.close();
  }
  // A file that the disk gave only in part would look whole.
  if (systemFault(fault) !== null) throw fault;
  return true;
}

/** A source that fails would leave the zip waiting for ever: it ends instead. */
async function* untilError(content: Readable, onFault: (error: unknown) => void): AsyncGenerator<Buffer, void> {
  try {
    yield* content;
  } catch (error) {
    // The disk's error, or the end of the whole archive: either way this file has no more to give.
    onFault(error);
  } finally {
    content.destroy();
  }
}

async function* entries(options: ArchiveSource): AsyncGenerator<Entry> {
  for (const name of FILES) yield { name, path: join(options.dir, name) };
  const videos = ((await readdir(options.dir).catch(asAbsent)) ?? []).filter((name) => VIDEO.test(name));
  for (const name of videos.sort()) yield { name, path: join(options.dir, name) };
  for (const name of FOLDERS) yield* entriesIn(join(options.dir, name), name, 0);
  if (options.downloadsDir === undefined) return;
  // None of its folders is entered: a browser may put a link in the place of one on the way.
  for (const name of (await regularFileNames(options.downloadsDir, MAX_DOWNLOADS)).sort()) {
    if (isUnfinished(name)) continue;
    yield { name: `${DOWNLOADS}/${safeSegment(name)}`, path: join(options.downloadsDir, name), foreign: true };
  }
}

async function* entriesIn(dir: string, prefix: string, depth: number): AsyncGenerator<Entry> {
  const found = (await readdir(dir, { withFileTypes: true }).catch(asAbsent)) ?? [];
  const taken = new Set<string>();
  for (const entry of found.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = `${prefix}/${unlike(taken, safeSegment(entry.name))}`;
    if (entry.isFile() && !isUnfinished(entry.name)) yield { name, path: join(dir, entry.name) };
    else if (entry.isDirectory() && depth < MAX_DEPTH) yield* entriesIn(join(dir, entry.name), name, depth + 1);
  }
}

/** A page chooses its downloads' names. What some system takes for a path or refuses in a name becomes `_`. */
function safeSegment(name: string): string {
  return safeFileName(name).replace(/^\.+$/, '_');
}

/** Names that are told apart on disk may be the same once they are safe: those that come later get a number. */
function unlike(taken: Set<string>, name: string): string {
  let free = name;
  const { name: stem, ext } = parse(name);
  for (let number = 1; taken.has(free); number += 1) free = `${stem} (${number})${ext}`;
  taken.add(free);
  return free;
}

/** Files that are being written, by us or by the browser. */
function isUnfinished(name: string): boolean {
  return name.startsWith('.') || name.endsWith('.crdownload');
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
