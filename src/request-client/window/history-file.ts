import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { asObject, type JsonObject, member, textOf } from '../collection/json-access.js';

/** One request that was sent, as it is kept on disk: as it is written, without its answer, and without what is secret. */
export interface KeptRequest {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly name: string;
  readonly method: string;
  readonly url: string;
  /** Null where there was no answer. */
  readonly status: number | null;
  readonly durationMs: number;
  readonly passed: boolean;
  /** The item of a collection; null where it was too large. */
  readonly item: JsonObject | null;
}

/** Past the bounds the oldest are forgotten, with the next start or after so many more. */
const MAX_ENTRIES = 500;
const SLACK = 100;
const MAX_ITEM_CHARACTERS = 64 * 1024;

/** A request of the history, with what this start knows of it. */
export interface HistoryEntry extends KeptRequest {
  readonly id: string;
  /** Of the answer; null for those of an earlier start. */
  readonly sentId: string | null;
}

/** What was sent, in a file of one JSON value a line that only its owner can read. It lasts from start to start. */
export class HistoryFile {
  /** Null: nothing is kept beyond the end. */
  readonly #path: string | null;
  /** Oldest first. */
  #entries: HistoryEntry[] = [];
  /** Lines of the file, those that are forgotten included. */
  #lines = 0;
  #count = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string | null) {
    this.#path = path;
  }

  /** A file that is not there, or cannot be read, is an empty one; lines that are broken are left out. */
  static async open(path: string): Promise<HistoryFile> {
    const text = await readFile(path, 'utf8').catch(() => '');
    const lines = text.split('\n').filter((line) => line !== '');
    const history = new HistoryFile(path);
    for (const kept of lines.slice(-MAX_ENTRIES).flatMap(keptIn)) history.#remember(kept, null);
    history.#lines = lines.length;
    return history;
  }

  /** Newest first. */
  get entries(): HistoryEntry[] {
    return this.#entries.toReversed();
  }

  /** Adds one. Where the disk does not take it, it lasts until the end: that is no reason not to send. */
  async add(entry: KeptRequest, sentId: string): Promise<void> {
    const tooLarge = entry.item !== null && JSON.stringify(entry.item).length > MAX_ITEM_CHARACTERS;
    const kept = tooLarge ? { ...entry, item: null } : entry;
    this.#remember(kept, sentId);
    this.#lines += 1;
    await this.#write((path) =>
      this.#lines > MAX_ENTRIES + SLACK
        ? this.#rewrite(path)
        : appendFile(path, `${JSON.stringify(kept)}\n`, { mode: 0o600 }),
    );
  }

  async clear(): Promise<void> {
    this.#entries = [];
    await this.#write((path) => this.#rewrite(path));
  }

  #remember(kept: KeptRequest, sentId: string | null): void {
    this.#count += 1;
    this.#entries.push({ ...kept, id: `h${this.#count}`, sentId });
    if (this.#entries.length > MAX_ENTRIES) this.#entries.splice(0, this.#entries.length - MAX_ENTRIES);
  }

  /** One after the other. */
  async #write(work: (path: string) => Promise<void>): Promise<void> {
    const path = this.#path;
    if (path === null) return;
    this.#writing = this.#writing.then(async () => {
      try {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        await work(path);
      } catch {
        // A full or locked disk: see add.
      }
    });
    await this.#writing;
  }

  async #rewrite(path: string): Promise<void> {
    const temporary = `${path}.${process.pid}.tmp`;
    const lines = this.#entries.map(({ id: _id, sentId: _sentId, ...kept }) => `${JSON.stringify(kept)}\n`);
    await writeFile(temporary, lines.join(''), { mode: 0o600 });
    await rename(temporary, path);
    this.#lines = lines.length;
  }
}

function keptIn(line: string): KeptRequest[] {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return [];
  }
  const at = member(value, 'at');
  const url = textOf(member(value, 'url'));
  if (typeof at !== 'number' || url === undefined) return [];
  const status = member(value, 'status');
  return [
    {
      at,
      url,
      name: textOf(member(value, 'name')) ?? '',
      method: textOf(member(value, 'method')) ?? 'GET',
      status: typeof status === 'number' ? status : null,
      durationMs: Number(member(value, 'durationMs')) || 0,
      passed: member(value, 'passed') === true,
      item: asObject(member(value, 'item')) ?? null,
    },
  ];
}
