import { type Clock, systemClock } from '../../base/clock.js';
import { Wakeups } from '../../base/deadline.js';
import type { ClaimBook } from '../../cluster/claim-book.js';
import type { Journal, JournalBatch } from '../../journal/journal.js';
import { type EventPage, type EventRow, LazyEvent } from '../../protocol/event-row.js';
import type { EventType, JournalEvent } from '../../protocol/events.js';
import type { SessionId } from '../../protocol/session.js';
import { EventPageCache, type Reading } from './event-page-cache.js';
import { EventRing } from './event-ring.js';
import { PastEvents } from './past-events.js';
import { WorkTurns } from './work-turns.js';

/**
 * The shortest time between two transactions that contain only events, in milliseconds. A transaction costs as much as
 * thirty events, mostly for the index pages that it touches; measured with 32 busy sessions: 24 us per script for the
 * disk at 4 ms, 16 us at 20.
 */
const PACE_MS = 20;

/** Selects events for a reader. */
export interface EventSelection {
  readonly sessionId?: SessionId | undefined;
  /** The number of the last event already seen; 0 for none. */
  readonly after: number;
  /** The stream ends after this number instead of waiting for more. */
  readonly upTo?: number | undefined;
  readonly signal: AbortSignal;
}

interface PendingBatch {
  readonly events: EventRow[];
  readonly lostCallbacks: Set<(error: unknown) => void>;
  write(): void;
}

/**
 * Distributes events. They are written to the journal first, and readers get them once they are on disk. Readers pull
 * pages and take turns, so that other work runs in between, however many readers there are. Nothing is buffered for a
 * slow reader: it holds one page at most, and continues from the journal.
 *
 *   write -> journal -> ring of the newest -> pages -> readers at their own pace
 *                `------- older events ---------^
 */
export class EventHub {
  readonly #journal: Journal;
  readonly #claims: ClaimBook | null;
  /** Waiting readers by the session that they follow; null for those that follow all. */
  readonly #wakeups = new Map<SessionId | null, Wakeups>();
  /** Events that are collected for the next transaction. */
  #pendingBatch: PendingBatch | null = null;
  readonly #clock: Clock;
  #writtenAtMs = 0;
  readonly #ring = new EventRing();
  readonly #cache = new EventPageCache();
  readonly #past: PastEvents;
  readonly #turns = new WorkTurns();
  #visibleSeq: number;

  /** @param claims of this node, if others write to the same database; see {@link foreignEvents} */
  constructor(journal: Journal, clock: Clock = systemClock, claims: ClaimBook | null = null) {
    this.#journal = journal;
    this.#claims = claims;
    this.#clock = clock;
    this.#visibleSeq = journal.lastSeq();
    this.#past = new PastEvents(journal, this.#cache, () => this.#visibleSeq);
  }

  /** The number of the newest event that readers can see. */
  lastSeq(): number {
    return this.#visibleSeq;
  }

  /** Resolves when the batch is on disk, which is also when readers see its events. */
  write(batch: JournalBatch): Promise<void> {
    // Events that were emitted before get lower numbers.
    this.#pendingBatch?.write();
    return this.#write(batch);
  }

  /**
   * Writes only events, without a promise. Events of all sessions within {@link PACE_MS} of the last batch share a
   * batch;
   * a {@link write} includes it. While the database is away, they wait for it.
   * @param onLost called once for all events of a batch that cannot be written
   */
  add(events: readonly EventRow[], onLost: (error: unknown) => void): void {
    if (this.#claims !== null) {
      // Of one session: if its claim is lost, others' events are not lost with it. The journal groups the writes.
      this.#write({ events, isKept: true }).catch(onLost);
      return;
    }
    this.#pendingBatch ??= this.#startBatch();
    for (const event of events) this.#pendingBatch.events.push(event);
    this.#pendingBatch.lostCallbacks.add(onLost);
  }

  #startBatch(): PendingBatch {
    const events: EventRow[] = [];
    const lostCallbacks = new Set<(error: unknown) => void>();
    const batch = {
      events,
      lostCallbacks,
      write: () => {
        if (this.#pendingBatch !== batch) return;
        this.#pendingBatch = null;
        cancel();
        this.#write({ events, isKept: true }).catch((error: unknown) => {
          for (const onLost of lostCallbacks) onLost(error);
        });
      },
    };
    const waitMs = this.#writtenAtMs + PACE_MS - this.#nowMs();
    const cancel = this.#clock.after(Math.min(Math.max(0, waitMs), PACE_MS), batch.write);
    return batch;
  }

  #nowMs(): number {
    return this.#clock.now().getTime();
  }

  async #write(batch: JournalBatch): Promise<void> {
    this.#writtenAtMs = this.#nowMs();
    const { events = [] } = batch;
    const firstSeq = await this.#writeRows(batch);
    if (events.length === 0) return;
    // Events of other nodes lie in between, or were seen before these.
    if (firstSeq > this.#visibleSeq + 1) this.foreignEvents(firstSeq - 1);
    if (firstSeq !== this.#visibleSeq + 1) this.#ring.clear();
    if (firstSeq > this.#visibleSeq) this.#ring.add(events.map((row, index) => new LazyEvent(firstSeq + index, row)));
    this.#visibleSeq = Math.max(this.#visibleSeq, firstSeq + events.length - 1);
    this.#wake(null);
    if (this.#wakeups.size > 0) for (const id of new Set(events.map(([sessionId]) => sessionId))) this.#wake(id);
  }

  async #writeRows(batch: JournalBatch): Promise<number> {
    const claims = this.#claims;
    if (claims === null) return this.#journal.write(batch);
    const rights = claims.rightsFor(batch);
    try {
      const firstSeq = await this.#journal.write({ ...batch, rights });
      if (rights !== undefined) claims.written(rights);
      return firstSeq;
    } catch (error) {
      claims.refused(error, rights);
      throw error;
    }
  }

  /** Other nodes have written events, up to this number: readers get them from the journal. */
  foreignEvents(lastSeq: number): void {
    if (lastSeq <= this.#visibleSeq) return;
    this.#ring.clear();
    this.#visibleSeq = lastSeq;
    for (const key of [...this.#wakeups.keys()]) this.#wake(key);
  }

  /** Wakes the readers of a session that has ended: no more events will come. */
  sessionGone(sessionId: SessionId): void {
    this.#wake(sessionId);
  }

  /**
   * Events in order, without gap or repeat, until `signal` is aborted. A stream of one session also ends after its
   * SessionEnded, or when no more events can come.
   *
   * @param selection.types all if omitted; other events are skipped without parsing them
   * @param isLiving whether more events of the session may come
   */
  async *stream(
    { types, ...selection }: EventSelection & { readonly types?: ReadonlySet<EventType> | undefined },
    isLiving: () => boolean,
  ): AsyncGenerator<JournalEvent, void> {
    for await (const page of this.#pages(selection, isLiving)) {
      for (const listed of page) {
        if (selection.signal.aborted) return;
        if (types === undefined || types.has(listed.type)) yield listed.event;
      }
    }
  }

  /** The same in pages, none of them empty. Readers at the same position get the same page objects. */
  async *pages(selection: EventSelection, isLiving: () => boolean): AsyncGenerator<EventPage, void> {
    this.#cache.enter();
    try {
      yield* this.#pages(selection, isLiving);
    } finally {
      this.#cache.leave();
    }
  }

  async *#pages(selection: EventSelection, isLiving: () => boolean): AsyncGenerator<EventPage, void> {
    const { sessionId, signal, upTo = Number.POSITIVE_INFINITY } = selection;
    let cursor = selection.after;
    while (!signal.aborted) {
      // Read in this order, so that the next iteration sees what ends or arrives in between.
      const mayGrow = sessionId === undefined || isLiving();
      const newest = this.lastSeq();
      if (cursor < newest) {
        const { events, through } = await this.#read(cursor, sessionId);
        if (signal.aborted) return;
        const ended = sessionId === undefined ? -1 : events.findIndex(({ type }) => type === 'SessionEnded');
        if (events.length > 0) yield ended === -1 ? events : events.slice(0, ended + 1);
        if (ended !== -1) return;
        cursor = through;
      }
      if (cursor < newest) continue;
      if (!mayGrow || cursor >= upTo) return;
      if (this.lastSeq() <= cursor && (sessionId === undefined || isLiving())) {
        await this.#nextWakeup(sessionId ?? null, signal);
      }
    }
  }

  async #read(after: number, sessionId: SessionId | undefined): Promise<Reading> {
    await this.#turns.next();
    if (this.#ring.reaches(after)) return this.#shared(sessionId, this.#ring.read(after, sessionId));
    const reading = await this.#past.read(after, sessionId);
    await this.#turns.next();
    return reading;
  }

  /** Readers that were woken by other sessions' events may be at different positions, and still get the same page. */
  #shared(sessionId: SessionId | undefined, reading: Reading): Reading {
    const [first] = reading.events;
    const last = reading.events.at(-1);
    if (first === undefined || last === undefined) return reading;
    const key = `${sessionId ?? ''}:${first.seq}-${last.seq}`;
    const known = this.#cache.get(key);
    if (known !== undefined) return { events: known.events, through: reading.through };
    this.#cache.put(key, reading);
    return reading;
  }

  #wake(key: SessionId | null): void {
    const wakeups = this.#wakeups.get(key);
    this.#wakeups.delete(key);
    wakeups?.wake();
  }

  async #nextWakeup(key: SessionId | null, signal: AbortSignal): Promise<void> {
    const wakeups = this.#wakeups.get(key) ?? new Wakeups();
    this.#wakeups.set(key, wakeups);
    await wakeups.next(signal);
    if (wakeups.size === 0 && this.#wakeups.get(key) === wakeups) this.#wakeups.delete(key);
  }
}
