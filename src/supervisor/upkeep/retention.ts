import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.js';
import { sentenceOf } from '../../base/system-fault.js';
import type { Config } from '../../config.js';
import type { Journal } from '../../journal/journal.js';
import type { SessionId } from '../../protocol/session.js';
import { type ArtifactKeeper, removeBatchFlows } from '../artifacts/index.js';

const LOOK_EVERY_MS = 10 * 60_000;
const DAY_MS = 24 * 3_600_000;
const MEGABYTE = 1024 * 1024;
/** Sessions that are looked at together. */
const PAGE = 200;
/** The history of flows is small, and is kept longer than what it tells of. */
const HISTORY_DAYS = 400;

/**
 * Removes what has become too old, or too much: ended sessions with their records, events and artifacts, the oldest
 * first. A session that has not ended is never touched.
 */
export class Retention {
  readonly #parts: RetentionParts;
  /** What an ended session's folder has, in bytes: it changes no more. Only of those that are there. */
  readonly #sizes = new Map<SessionId, number>();
  #cancel: () => void = () => undefined;
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
  }

  /** Looks now, and every ten minutes from then on. */
  start(): void {
    if (this.#stopped) return;
    this.#looking = this.#look().finally(() => {
      if (!this.#stopped) this.#cancel = this.#parts.clock.after(LOOK_EVERY_MS, () => this.start());
    });
  }

  /** Settles when nothing is being removed. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#looking;
  }

  /** Never rejects: the next look tries again. */
  async #look(): Promise<void> {
    try {
      const old = await this.#removeOld();
      const much = await this.#removeSurplus();
      await this.#prune();
      if (old + much > 0) this.#parts.log(`retention: removed ${old} old sessions, and ${much} for their size`);
    } catch (error) {
      this.#parts.log(`retention: ${sentenceOf(error)}`);
    }
  }

  async #removeOld(): Promise<number> {
    const { config, clock, journal } = this.#parts;
    const before = new Date(clock.now().getTime() - config.retention.days * DAY_MS).toISOString();
    let removed = 0;
    while (!this.#stopped) {
      const page = await journal.endedBefore(before, PAGE);
      for (const { record } of page) await this.#remove(record.id);
      removed += page.length;
      if (page.length < PAGE) break;
    }
    return removed;
  }

  /** Past the bound the oldest go, until a tenth of it is free again. */
  async #removeSurplus(): Promise<number> {
    const { config } = this.#parts;
    const most = config.retention.megabytes * MEGABYTE;
    const ended = await this.#endedOldestFirst();
    let bytes = 0;
    for (const id of ended) bytes += await this.#sizeOf(id);
    if (bytes <= most) return 0;
    let removed = 0;
    for (const id of ended) {
      if (this.#stopped || bytes <= most * 0.9) break;
      bytes -= await this.#sizeOf(id);
      await this.#remove(id);
      removed += 1;
    }
    return removed;
  }

  async #endedOldestFirst(): Promise<readonly SessionId[]> {
    const ids: SessionId[] = [];
    let before: string | undefined;
    for (;;) {
      const page = await this.#parts.journal.list({ before, limit: PAGE, oldestFirst: true });
      for (const { record } of page)
        if (record.endedAt !== null && !this.#parts.isLiving(record.id)) ids.push(record.id);
      if (page.length < PAGE) return ids;
      before = page.at(-1)?.record.id;
    }
  }

  async #prune(): Promise<void> {
    const { clock, journal, config } = this.#parts;
    const now = clock.now().getTime();
    await journal.prune({
      runsBefore: new Date(now - HISTORY_DAYS * DAY_MS).toISOString(),
      // Not one that is being submitted.
      batchesBefore: new Date(now - DAY_MS).toISOString(),
    });
    const known = new Set((await journal.keyValues('batch')).map(({ id }) => id));
    for (const folder of await oldFolders(config.batchesDir, now - DAY_MS)) {
      if (!known.has(folder)) await removeBatchFlows(config, folder);
    }
  }

  /** The record last: a service that ends in between finds it again, and with it what is left. */
  async #remove(id: SessionId): Promise<void> {
    await this.#parts.artifacts.remove(id);
    await this.#parts.journal.remove(id);
    this.#sizes.delete(id);
  }

  async #sizeOf(id: SessionId): Promise<number> {
    const known = this.#sizes.get(id);
    if (known !== undefined) return known;
    const bytes = await bytesBelow(this.#parts.artifacts.dir(id));
    this.#sizes.set(id, bytes);
    return bytes;
  }
}

export interface RetentionParts {
  readonly config: Pick<Config, 'retention' | 'batchesDir' | 'flowsDir'>;
  readonly journal: Journal;
  readonly artifacts: ArtifactKeeper;
  readonly clock: Clock;
  readonly log: (line: string) => void;
  /** Whether a session still has something to give back. */
  isLiving(id: SessionId): boolean;
}

async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0;
  const entries = await opendir(folder).catch(() => null);
  if (entries === null) return 0;
  for await (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await bytesBelow(path);
    else if (entry.isFile()) bytes += await sizeOf(path);
  }
  return bytes;
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}

async function oldFolders(folder: string, beforeMs: number): Promise<readonly string[]> {
  const old: string[] = [];
  const entries = await opendir(folder).catch(() => null);
  if (entries === null) return old;
  for await (const entry of entries) {
    const stats = await stat(join(folder, entry.name)).catch(() => null);
    if (entry.isDirectory() && stats !== null && stats.mtimeMs < beforeMs) old.push(entry.name);
  }
  return old;
}
