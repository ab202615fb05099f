import { type Clock, systemClock } from '../actors/clock.js';
import type { Journal, JournalBatch } from '../journal/journal.js';
import { type EventRow, readNumberedEvent } from '../protocol/event-row.js';
import type { EventType, JournalEvent } from '../protocol/events.js';
import type { SessionId } from '../protocol/session.js';

/** Events kept in memory for readers that are up to date. Who is further behind reads from the journal. */
const RING_SIZE = 4096;
/** So many more may stand there before the oldest are dropped together. */
const RING_SLACK = 64;
/** Characters of data that they may have together. Three quarters are left when the oldest are dropped. */
const RING_CHARACTERS = 8 * 1024 * 1024;
/** Events read from the journal at once. */
const PAGE_SIZE = 500;

/**
 * Events alone, for which nobody waits, are written this often at most, in milliseconds. A transaction costs as much as
 * thirty events, mostly for the pages of the index that it touches; measured with 32 busy sessions: 24 us a script for
 * the disk at 4 ms, 16 us at 20.
 */
const PACE_MS = 20;

/** Which events a reader wants. */
export interface EventSelection {
  readonly sessionId?: SessionId | undefined;
  /** The number of the last event already seen; 0 for none. */
  readonly after: number;
  /** Ends the stream when all up to this number was shown, instead of waiting for more. */
  readonly upTo?: number | undefined;
  /** All where it is left out. Others are passed over before they are read out of their row. */
  readonly types?: ReadonlySet<EventType> | undefined;
  readonly signal: AbortSignal;
}

/** What a reader comes to, one after another. */
interface Listed {
  readonly seq: number;
  readonly type: EventType;
  readonly event: JournalEvent;
}

/** An event of the ring: read out of its row by the first who wants it. */
class Shown implements Listed {
  readonly seq: number;
  readonly #row: EventRow;
  #event: JournalEvent | null = null;

  constructor(seq: number, row: EventRow) {
    this.seq = seq;
    this.#row = row;
  }

  get sessionId(): SessionId {
    return this.#row[0];
  }

  get type(): EventType {
    return this.#row[2];
  }

  get characters(): number {
    return this.#row[3].length;
  }

  get event(): JournalEvent {
    this.#event ??= readNumberedEvent(this.#row, this.seq);
    return this.#event;
  }
}

interface Gathering {
  readonly events: EventRow[];
  readonly losers: Set<(error: unknown) => void>;
  write(): void;
}

/**
 * The one point where events fan out. What comes in goes to the journal first; it is shown to readers once it is on
 * disk. Readers pull: nothing is buffered for a slow one, it reads on from the journal where it stopped.
 *
 *   write -> journal -> ring of the newest -> readers at their own pace
 */
export class EventHub {
  readonly #journal: Journal;
  /** Readers that wait, by the session that they follow; under null those that follow all. */
  readonly #wakers = new Map<SessionId | null, Set<() => void>>();
  /** Events that wait to be written together. */
  #gathering: Gathering | null = null;
  readonly #clock: Clock;
  #writtenAtMs = 0;
  #ring: Shown[] = [];
  #ringCharacters = 0;
  #shown: number;

  constructor(journal: Journal, clock: Clock = systemClock) {
    this.#journal = journal;
    this.#clock = clock;
    this.#shown = journal.lastSeq();
  }

  /** The number of the newest event that readers have been shown. */
  lastSeq(): number {
    return this.#shown;
  }

  /** Settles when the batch is on disk. Readers see its events at that moment. */
  write(batch: JournalBatch): Promise<void> {
    // What was told before it is numbered before it.
    this.#gathering?.write();
    return this.#write(batch);
  }

  /**
   * The same for events alone. What comes within {@link PACE_MS} of the last batch, from whatever session, is one batch;
   * a {@link write} takes it along.
   * @param onLost called, once for all that was added with it, where the batch cannot be written
   */
  add(events: readonly EventRow[], onLost: (error: unknown) => void): void {
    this.#gathering ??= this.#gather();
    for (const event of events) this.#gathering.events.push(event);
    this.#gathering.losers.add(onLost);
  }

  #gather(): Gathering {
    const events: EventRow[] = [];
    const losers = new Set<(error: unknown) => void>();
    const gathering = {
      events,
      losers,
      write: () => {
        if (this.#gathering !== gathering) return;
        this.#gathering = null;
        cancel();
        this.#write({ events }).catch((error: unknown) => {
          for (const lose of losers) lose(error);
        });
      },
    };
    const waitMs = this.#writtenAtMs + PACE_MS - this.#nowMs();
    const cancel = this.#clock.after(Math.min(Math.max(0, waitMs), PACE_MS), gathering.write);
    return gathering;
  }

  #nowMs(): number {
    return this.#clock.now().getTime();
  }

  async #write(batch: JournalBatch): Promise<void> {
    this.#writtenAtMs = this.#nowMs();
    const { events = [] } = batch;
    const firstSeq = await this.#journal.write(batch);
    if (events.length === 0) return;
    let seq = firstSeq;
    for (const row of events) {
      const shown = new Shown(seq++, row);
      this.#ring.push(shown);
      this.#ringCharacters += shown.characters;
    }
    this.#dropOldest();
    this.#shown = seq - 1;
    this.#wake(null);
    if (this.#wakers.size > 0) for (const id of new Set(events.map(([sessionId]) => sessionId))) this.#wake(id);
  }

  #dropOldest(): void {
    const many = this.#ring.length > RING_SIZE + RING_SLACK;
    if (!many && this.#ringCharacters <= RING_CHARACTERS) return;
    let first = 0;
    for (const { characters } of this.#ring) {
      const fits = this.#ring.length - first <= RING_SIZE && this.#ringCharacters <= 0.75 * RING_CHARACTERS;
      if (fits) break;
      first += 1;
      this.#ringCharacters -= characters;
    }
    this.#ring = this.#ring.slice(first);
  }

  /** Lets the readers of a session look again: it has ended, and nothing more comes. */
  sessionGone(sessionId: SessionId): void {
    this.#wake(sessionId);
  }

  /**
   * Events in order, without gap or repeat, until `signal` is aborted. A stream of one session also ends after its
   * SessionEnded, or when there is nothing more to come.
   *
   * @param isLiving tells whether more events of the session may come
   */
  async *stream(selection: EventSelection, isLiving: () => boolean): AsyncGenerator<JournalEvent, void> {
    const { sessionId, types, signal, upTo = Number.POSITIVE_INFINITY } = selection;
    let cursor = selection.after;
    while (!signal.aborted) {
      // Read in this order: what ends or arrives in between is then seen by the next turn.
      const mayGrow = sessionId === undefined || isLiving();
      const newest = this.lastSeq();
      const page = await this.#page(cursor, sessionId);
      for (const listed of page.events) {
        if (signal.aborted) return;
        if (types === undefined || types.has(listed.type)) yield listed.event;
        cursor = listed.seq;
        if (sessionId !== undefined && listed.type === 'SessionEnded') return;
      }
      if (!page.complete) continue;
      cursor = Math.max(cursor, newest);
      if (!mayGrow || cursor >= upTo) return;
      if (this.lastSeq() <= cursor && (sessionId === undefined || isLiving())) {
        await this.#woken(sessionId ?? null, signal);
      }
    }
  }

  async #page(
    after: number,
    sessionId: SessionId | undefined,
  ): Promise<{ readonly events: readonly Listed[]; readonly complete: boolean }> {
    const oldest = this.#ring[0];
    if (after >= this.lastSeq()) return { events: [], complete: true };
    if (oldest !== undefined && oldest.seq <= after + 1) {
      const events = this.#ring.slice(firstAfter(this.#ring, after));
      return {
        events: sessionId === undefined ? events : events.filter((event) => event.sessionId === sessionId),
        complete: true,
      };
    }
    const events = await this.#journal.events({
      after,
      limit: PAGE_SIZE,
      ...(sessionId === undefined ? {} : { sessionId }),
    });
    // What is on disk but not yet in the ring is shown when it is there: no reader is ahead of `lastSeq`.
    const shown = events.filter((event) => event.seq <= this.#shown);
    const listed = shown.map((event) => ({ seq: event.seq, type: event.type, event }));
    return { events: listed, complete: listed.length < PAGE_SIZE };
  }

  #wake(key: SessionId | null): void {
    const wakers = this.#wakers.get(key);
    this.#wakers.delete(key);
    for (const waker of wakers ?? []) waker();
  }

  #woken(key: SessionId | null, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const wakers = this.#wakers.get(key) ?? new Set();
      this.#wakers.set(key, wakers);
      const done = () => {
        wakers.delete(done);
        if (wakers.size === 0 && this.#wakers.get(key) === wakers) this.#wakers.delete(key);
        signal.removeEventListener('abort', done);
        resolve();
      };
      wakers.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }
}

/** The index of the first event with a number above `after`; events rise by number. */
function firstAfter(events: readonly Listed[], after: number): number {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((events[middle]?.seq ?? 0) > after) high = middle;
    else low = middle + 1;
  }
  return low;
}
