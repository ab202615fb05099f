import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipArchive } from 'archiver';
import { z } from 'zod';
import { linesOf } from '../../base/lines.js';
import { asAbsent } from '../../base/system-fault.js';
import { counted } from '../../protocol/counted.js';
import type { JournalEvent } from '../../protocol/events.js';
import type { SessionRecord } from '../../protocol/session.js';
import { keepsTrace } from '../../protocol/trace/keeps-trace.js';
import { TRACE, type TraceLine } from '../../protocol/trace/trace.js';
import { appendFile } from '../archive.js';
import { NETWORK_LOG, withoutErrorBody } from '../har.js';
import { PAGE_ID, type PictureSize, TraceEvents } from './trace-events.js';
import { readTraceLog } from './trace-log-file.js';

/** Pictures of a trace, in bytes together: the newest. */
const MAX_PICTURE_BYTES = 64 * 1024 * 1024;
/** Requests of a trace with their bodies, in characters of JSON: the first. */
const MAX_NETWORK = 16 * 1024 * 1024;
/** Types of bodies that cannot run anything where they are shown. */
const SHOWN_AS_IS =
  /^(?:application\/json|text\/(?:plain|css|javascript)|application\/javascript|image\/(?:png|jpeg|gif|webp|avif)|font\/)/;
const WithBody = z.looseObject({
  response: z.looseObject({
    content: z.looseObject({ mimeType: z.string(), text: z.string(), encoding: z.string().optional() }),
  }),
});
/** The signature of a PNG, then length and name of its first chunk, then width and height. */
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const PNG_HEAD_BYTES = 24;

/**
 * Writes a session's `trace.zip`, which Playwright's trace viewer opens, from its events, its pictures, and what it
 * collected while it ran. Like all artifacts it can be written again at any time.
 */
export class TraceWriter {
  readonly #dir: string;
  readonly #log: readonly TraceLine[];
  readonly #events: TraceEvents;
  /** Bodies of answers, by the name that requests refer to. */
  readonly #bodies = new Map<string, Buffer>();

  /** Null if the session is to have no trace; one that it had is removed. */
  static async open(dir: string, record: SessionRecord): Promise<TraceWriter | null> {
    if (record.trace === undefined) return null;
    if (keepsTrace(record)) return new TraceWriter(dir, record, await readTraceLog(dir));
    await rm(join(dir, TRACE), { force: true });
    return null;
  }

  private constructor(dir: string, record: SessionRecord, log: readonly TraceLine[]) {
    this.#dir = dir;
    this.#log = log;
    this.#events = new TraceEvents(record);
  }

  add(event: JournalEvent): void {
    this.#events.add(event);
  }

  /** Replaces the file atomically. The temporary name is ignored by archives. */
  async write(): Promise<void> {
    const temporary = join(this.#dir, `.${TRACE}.tmp`);
    await rm(temporary, { force: true });
    const zip = new ZipArchive({ zlib: { level: 6 } });
    const ended = new AbortController();
    const written = pipeline(zip, createWriteStream(temporary, { flags: 'wx', mode: 0o644 }), { signal: ended.signal });
    written.catch(() => ended.abort());
    try {
      await this.#fill(zip, ended.signal);
      await zip.finalize();
      await written;
      await rename(temporary, join(this.#dir, TRACE));
    } catch (error) {
      ended.abort();
      await rm(temporary, { force: true });
      throw error;
    }
  }

  async #fill(zip: ZipArchive, signal: AbortSignal): Promise<void> {
    const sizes = await this.#pictureSizes();
    for (const picture of sizes.keys()) {
      const path = join(this.#dir, 'screenshots', picture);
      await appendFile(zip, { name: `resources/${picture}`, path }, signal);
    }
    for (const line of this.#log) if (line.kind === 'source') this.#events.addSource(line.flow, line.text);
    for (const [name, text] of this.#events.sources) append(zip, `resources/${name}`, [text]);
    let network = '';
    for await (const line of this.#network()) network += line;
    for (const [name, body] of this.#bodies) append(zip, `resources/${name}`, [body]);
    append(zip, 'trace.network', [network]);
    append(zip, 'trace.trace', this.#events.lines(this.#log, sizes));
  }

  /** Of the pictures that the trace has. */
  async #pictureSizes(): Promise<ReadonlyMap<string, PictureSize>> {
    const sizes: [string, PictureSize][] = [];
    let bytes = 0;
    let dropped = 0;
    for (const picture of this.#events.pictures.toReversed()) {
      const path = join(this.#dir, 'screenshots', picture);
      const stats = await stat(path).catch(asAbsent);
      if (!stats?.isFile()) continue;
      bytes += stats.size;
      const size = bytes > MAX_PICTURE_BYTES ? null : await pictureSize(path);
      if (size === null) dropped += 1;
      else sizes.push([picture, size]);
    }
    const megabytes = MAX_PICTURE_BYTES / 1024 / 1024;
    if (dropped > 0)
      this.#events.note(`Not in the trace: the first ${counted(dropped, 'screenshot')} (limit: ${megabytes} MB)`, 0);
    return new Map(sizes.reverse());
  }

  /** The content of `trace.network`. */
  async *#network(): AsyncGenerator<string> {
    const file = join(this.#dir, NETWORK_LOG);
    if (!(await stat(file).catch(asAbsent))?.isFile()) return;
    let characters = 0;
    let dropped = 0;
    for await (const line of linesOf(createReadStream(file))) {
      characters += line?.length ?? 0;
      if (line === null || characters > MAX_NETWORK) dropped += 1;
      else yield this.#requestLine(withoutErrorBody(line));
    }
    if (dropped > 0) this.#events.note(`Not in the trace: the last ${counted(dropped, 'request')} (limit: 16 MB)`);
  }

  /** A line of the network log is an entry of a HAR file; so is what the viewer reads. '' for one that was truncated. */
  #requestLine(line: string): string {
    let entry: unknown;
    try {
      entry = JSON.parse(line);
    } catch {
      return '';
    }
    if (typeof entry !== 'object' || entry === null || !('startedDateTime' in entry)) return '';
    const _monotonicTime = this.#events.timeOf(String(entry.startedDateTime));
    const snapshot = { ...this.#withBody(entry), pageref: PAGE_ID, _monotonicTime };
    return `${JSON.stringify({ type: 'resource-snapshot', snapshot })}\n`;
  }

  /** The body of an answer, if the log has it, becomes a file of its own, as the viewer reads it. */
  #withBody(entry: object): object {
    const read = WithBody.safeParse(entry);
    if (!read.success) return entry;
    const { response } = read.data;
    const { text, encoding, ...content } = response.content;
    const body = Buffer.from(text, encoding === 'base64' ? 'base64' : 'utf8');
    const _sha1 = createHash('sha1').update(body).digest('hex');
    this.#bodies.set(_sha1, body);
    // The viewer must never show a body as a document: its scripts would run there.
    const mimeType = SHOWN_AS_IS.test(content.mimeType) ? content.mimeType : 'text/plain';
    return { ...entry, response: { ...response, content: { ...content, mimeType, _sha1 } } };
  }
}

function append(zip: ZipArchive, name: string, pieces: Iterable<string | Buffer>): void {
  zip.append(Readable.from(pieces), { name, date: new Date(), mode: 0o644, store: false });
}

/** Null for a file that is no picture. */
async function pictureSize(path: string): Promise<PictureSize | null> {
  const file = await open(path).catch(asAbsent);
  if (file === null || file === undefined) return null;
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(PNG_HEAD_BYTES), 0, PNG_HEAD_BYTES, 0);
    if (bytesRead < PNG_HEAD_BYTES || !buffer.subarray(0, PNG.length).equals(PNG)) return null;
    return { width: buffer.readUInt32BE(16), height: buffer.readUInt32BE(20) };
  } finally {
    await file.close();
  }
}
