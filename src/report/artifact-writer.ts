import { type FileHandle, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { asAbsent } from '../base/system-fault.js';
import type { JournalEvent } from '../protocol/events.js';
import type { Report } from '../protocol/report/report.js';
import type { SessionRecord } from '../protocol/session.js';
import { TRACE } from '../protocol/trace/trace.js';
import { harPieces, notedRequests } from './har.js';
import { renderHtml, wantedScreenshots } from './html/html.js';
import { screenshotImages } from './images.js';
import { sessionJUnit } from './junit.js';
import { ReportBuilder } from './report.js';
import { TraceWriter } from './trace/trace-writer.js';
import { VIDEO, videoFailures } from './video.js';

/** Text is written to disk in pieces of about this many characters. */
const WRITE_CHARACTERS = 256 * 1024;
/** Files that a report lists at most. */
const MAX_LISTED = 10_000;

/** Files and folders that a session's folder may contain besides the report, in the order of the list. */
const LISTED = [
  'session.json',
  'transcript.jsonl',
  VIDEO,
  TRACE,
  'network.har',
  'screenshots',
  'downloads',
  'healed-flows',
  'baselines',
  'pdf',
];

/**
 * Writes a session's artifacts into its folder: session.json, transcript.jsonl, report.json, report.html, and
 * report.junit.xml, and the trace if the session is to have one. Each is replaced atomically. Holds the report in memory, but not the events.
 */
export async function produceArtifacts(
  dir: string,
  record: SessionRecord,
  pages: AsyncIterable<readonly JournalEvent[]>,
): Promise<void> {
  await mkdir(dir, { recursive: true });
  const builder = new ReportBuilder(record);
  const trace = await TraceWriter.open(dir, record);
  await replaceFile(dir, 'transcript.jsonl', transcript(pages, builder, trace));
  await trace?.write();
  const har = await harPieces(dir);
  if (har !== null) await replaceFile(dir, 'network.har', har);
  await replaceFile(dir, 'session.json', [`${JSON.stringify(record, null, 2)}\n`]);
  const report = builder.build(await listArtifacts(dir), await notedRequests(dir), await videoFailures(dir));
  await replaceFile(dir, 'report.json', [`${JSON.stringify(report, null, 2)}\n`]);
  await replaceFile(dir, 'report.junit.xml', [sessionJUnit(report, record)]);
  await replaceFile(dir, 'report.html', renderHtml(report, screenshotImages(dir, wantedScreenshots(report))));
}

async function* transcript(
  pages: AsyncIterable<readonly JournalEvent[]>,
  builder: ReportBuilder,
  trace: TraceWriter | null,
): AsyncGenerator<string> {
  for await (const page of pages) {
    for (const event of page) {
      builder.add(event);
      trace?.add(event);
      const { seq, at, type, data } = event;
      yield `${JSON.stringify({ seq, at, type, data })}\n`;
    }
  }
}

/** Readers see the old file or the new one. The temporary name is ignored by archives. */
async function replaceFile(dir: string, name: string, pieces: Iterable<string> | AsyncIterable<string>): Promise<void> {
  const temporary = join(dir, `.${name}.tmp`);
  // It may be left from an interrupted write, or even be a link.
  await rm(temporary, { force: true });
  const file = await open(temporary, 'wx', 0o644);
  try {
    await writePieces(file, pieces);
    await file.close();
    await rename(temporary, join(dir, name));
  } catch (error) {
    await file.close();
    await rm(temporary, { force: true });
    throw error;
  }
}

async function writePieces(file: FileHandle, pieces: Iterable<string> | AsyncIterable<string>): Promise<void> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (text.length < WRITE_CHARACTERS) continue;
    await file.appendFile(text);
    text = '';
  }
  await file.appendFile(text);
}

async function listArtifacts(dir: string): Promise<Report['artifacts']> {
  const listed: Report['artifacts'] = [];
  for (const item of LISTED) {
    const names = typeof item === 'string' ? [item] : (await readdir(dir)).filter((name) => item.test(name)).sort();
    for (const name of names) await listInto(listed, dir, name);
  }
  return listed;
}

async function listInto(listed: Report['artifacts'], dir: string, path: string): Promise<void> {
  if (listed.length >= MAX_LISTED) return;
  const stats = await lstat(join(dir, path)).catch(asAbsent);
  if (stats?.isFile()) listed.push({ path, bytes: stats.size });
  if (!stats?.isDirectory()) return;
  const names = (await readdir(join(dir, path)).catch(asAbsent)) ?? [];
  for (const name of names.sort()) if (!name.startsWith('.')) await listInto(listed, dir, `${path}/${name}`);
}
