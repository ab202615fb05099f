import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { asObject, type JsonObject, member, textOf } from '../engine/collection/json-access.js';

/** One sent request on disk: as written, without its answer and without secrets. */
export interface KeptRequest {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly name: string;
  readonly method: string;
  readonly url: string;
  /** Null if there was no answer. */
  readonly status: number | null;
  readonly durationMs: number;
  readonly passed: boolean;
  /** The item of a collection; null if it was too large. */
  readonly item: JsonObject | null;
}

/** Beyond this the oldest are removed, at the next start or after this many more. */
const MAX_ENTRIES = 500;
const SLACK = 100;
const MAX_ITEM_CHARACTERS = 64 * 1024;

/** A request of the history, with data of this start. */
export interface HistoryEntry extends KeptRequest {
  readonly id: string;
  /** The id of the answer; null for a request of an earlier start. */
  readonly sentId: string | null;
}

/**
 * The sent requests, in a file with one JSON value per line that only its owner can read. It is kept from start to
 * start.
 */
export class HistoryFile {
  /** Null if nothing is stored on disk. */
  readonly #path: string | null;
  /** Oldest first. */
  #entries: HistoryEntry[] = [];
  /** Lines of the file, including removed entries. */
  #lines = 0;
  #count = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string | null) {
    this.#path = path;
  }

  /** A missing or unreadable file counts as empty; invalid lines are skipped. */
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

  /** Adds an entry. If it cannot be written, it is kept in memory: that must not prevent a request. */
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

  /** Writes one after another. */
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
