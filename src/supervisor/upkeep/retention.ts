import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LoginStates } from '../../auth/login-states.js';
import type { Clock } from '../../base/clock.js';
import { sentenceOf } from '../../base/system-fault.js';
import type { Config } from '../../config.js';
import type { Journal } from '../../journal/journal.js';
import { counted } from '../../protocol/counted.js';
import { SessionId, type SessionRecord } from '../../protocol/session.js';
import { type ArtifactKeeper, type CarriedFiles, removeBatchFlows } from '../artifacts/index.js';

const RUN_EVERY_MS = 10 * 60_000;
const DAY_MS = 24 * 3_600_000;
const MEGABYTE = 1024 * 1024;
/** Sessions that are read from the journal at once. */
const PAGE = 200;
/** The history of flows is small, and is kept longer than sessions. */
const HISTORY_DAYS = 400;

/**
 * Removes ended sessions with their records, events, and artifacts, oldest first, when they are too old or take too
 * much
 * space. Never touches a session that has not ended.
 */
export class Retention {
  readonly #parts: RetentionParts;
  /** The folder sizes of ended sessions in bytes, which no longer change. Contains only existing sessions. */
  readonly #sizes = new Map<SessionId, number>();
  #cancel: () => void = () => undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
  }

  /** Runs now, and then every ten minutes. */
  start(): void {
    if (this.#stopped) return;
    this.#running = this.#run().finally(() => {
      if (!this.#stopped) this.#cancel = this.#parts.clock.after(RUN_EVERY_MS, () => this.start());
    });
  }

  /** Resolves when no removal is in progress. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#running;
  }

  /** Never rejects: the next run tries again. */
  async #run(): Promise<void> {
    try {
      const { doesChores = () => true } = this.#parts;
      // First: what follows fails while a store for artifacts does not answer.
      if (doesChores()) await this.#prune();
      await this.#removeFolders();
      const old = doesChores() ? await this.#removeOld() : 0;
      const much = await this.#removeSurplus();
      if (old + much > 0)
        this.#parts.log(`retention: removed ${counted(old, 'old session')}, and ${much} to free disk space`);
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

  /** Beyond the limit, removes the oldest until a tenth of the limit is free. */
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
        if (record.endedAt !== null && !this.#parts.isLiving(record.id) && (await this.#isHere(record)))
          ids.push(record.id);
      if (page.length < PAGE) return ids;
      before = page.at(-1)?.record.id;
    }
  }

  /** Whether the session's files are in this home; of those in the store, one node takes care. */
  async #isHere(record: SessionRecord): Promise<boolean> {
    const { doesChores = () => true, artifacts } = this.#parts;
    return record.artifacts === 'stored' ? doesChores() : await artifacts.isOwn(record);
  }

  async #prune(): Promise<void> {
    const { clock, config, journal } = this.#parts;
    const now = clock.now().getTime();
    await journal.prune({
      runsBefore: new Date(now - HISTORY_DAYS * DAY_MS).toISOString(),
      // A day, so that a batch that is being submitted is not removed.
      batchesBefore: new Date(now - DAY_MS).toISOString(),
      joinedBefore: new Date(now - Math.max(1, config.retention.days) * DAY_MS).toISOString(),
    });
    await this.#parts.states.removeExpired();
    await this.#parts.carried?.removeUnused();
  }

  /** Removes the folders of batches, and of sessions that another node has removed; stores those that it has ended. */
  async #removeFolders(): Promise<void> {
    const { clock, journal, config, artifacts } = this.#parts;
    const before = clock.now().getTime() - DAY_MS;
    const known = new Set((await journal.keyValues('batch')).map(({ id }) => id));
    for (const folder of await oldFolders(config.batchesDir, before)) {
      if (!known.has(folder) && !this.#isLiving(folder)) await removeBatchFlows(config, folder);
    }
    if (config.node === undefined) return;
    for (const folder of await oldFolders(config.sessionsDir, before)) {
      const id = SessionId.safeParse(folder);
      if (!id.success) continue;
      const stored = await journal.get(id.data);
      if (stored === null) await artifacts.remove(id.data);
      else await artifacts.uploadLeft(stored.record);
    }
  }

  #isLiving(folder: string): boolean {
    const id = SessionId.safeParse(folder);
    return id.success && this.#parts.isLiving(id.data);
  }

  /** Removes the record last: if the service ends in between, the next run finds it and removes the rest. */
  async #remove(id: SessionId): Promise<void> {
    await this.#parts.artifacts.remove(id);
    await this.#parts.journal.remove(id);
    this.#sizes.delete(id);
  }

  async #sizeOf(id: SessionId): Promise<number> {
    const known = this.#sizes.get(id);
    if (known !== undefined) return known;
    const { artifacts } = this.#parts;
    const bytes = (await bytesBelow(artifacts.dir(id))) || (await artifacts.storedBytes(id));
    this.#sizes.set(id, bytes);
    return bytes;
  }
}

export interface RetentionParts {
  readonly config: Pick<Config, 'retention' | 'batchesDir' | 'flowsDir' | 'sessionsDir' | 'node'>;
  readonly journal: Journal;
  readonly artifacts: ArtifactKeeper;
  readonly states: Pick<LoginStates, 'removeExpired'>;
  readonly clock: Clock;
  readonly log: (line: string) => void;
  /** With several nodes: what jobs bring with them. */
  readonly carried?: Pick<CarriedFiles, 'removeUnused'> | undefined;
  /** Of several nodes one removes old sessions, for all. True by default. */
  doesChores?(): boolean;
  /** Whether a session still holds resources. */
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
