import { type Clock, systemClock } from '../../base/clock.js';
import { Wakeups } from '../../base/deadline.js';
import type { Journal, JournalBatch } from '../../journal/journal.js';
import { type EventPage, type EventRow, ListedEvent } from '../../protocol/event-row.js';
import type { EventType, JournalEvent } from '../../protocol/events.js';
import type { SessionId } from '../../protocol/session.js';
import { EventPages, type Reading } from './event-pages.js';
import { EventRing } from './event-ring.js';
import { PastEvents } from './past-events.js';
import { WorkTurns } from './work-turns.js';

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
  readonly signal: AbortSignal;
}

interface Gathering {
  readonly events: EventRow[];
  readonly losers: Set<(error: unknown) => void>;
  write(): void;
}

/**
 * The one point where events fan out. What comes in goes to the journal first; it is shown to readers once it is on
 * disk. Readers pull pages, each in its turn, so that however many they are others are answered in between. Nothing is
 * buffered for a slow one: it holds a page at most, and reads on from the journal where it stopped.
 *
 *   write -> journal -> ring of the newest -> pages -> readers at their own pace
 *                `------- the past ------------^
 */
export class EventHub {
  readonly #journal: Journal;
  /** Readers that wait, by the session that they follow; under null those that follow all. */
  readonly #wakeups = new Map<SessionId | null, Wakeups>();
  /** Events that wait to be written together. */
  #gathering: Gathering | null = null;
  readonly #clock: Clock;
  #writtenAtMs = 0;
  readonly #ring = new EventRing();
  readonly #recentPages = new EventPages();
  readonly #past: PastEvents;
  readonly #turns = new WorkTurns();
  #shown: number;

  constructor(journal: Journal, clock: Clock = systemClock) {
    this.#journal = journal;
    this.#clock = clock;
    this.#shown = journal.lastSeq();
    this.#past = new PastEvents(journal, this.#recentPages, () => this.#shown);
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
    this.#ring.add(events.map((row, index) => new ListedEvent(firstSeq + index, row)));
    this.#shown = firstSeq + events.length - 1;
    this.#wake(null);
    if (this.#wakeups.size > 0) for (const id of new Set(events.map(([sessionId]) => sessionId))) this.#wake(id);
  }

  /** Lets the readers of a session look again: it has ended, and nothing more comes. */
  sessionGone(sessionId: SessionId): void {
    this.#wake(sessionId);
  }

  /**
   * Events in order, without gap or repeat, until `signal` is aborted. A stream of one session also ends after its
   * SessionEnded, or when there is nothing more to come.
   *
   * @param selection.types all where it is left out; others are passed over before they are read out of their row
   * @param isLiving tells whether more events of the session may come
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

  /** The same in pages, none of them empty. Readers of the same events get the same pages as far as they keep step. */
  async *pages(selection: EventSelection, isLiving: () => boolean): AsyncGenerator<EventPage, void> {
    this.#recentPages.enter();
    try {
      yield* this.#pages(selection, isLiving);
    } finally {
      this.#recentPages.leave();
    }
  }

  async *#pages(selection: EventSelection, isLiving: () => boolean): AsyncGenerator<EventPage, void> {
    const { sessionId, signal, upTo = Number.POSITIVE_INFINITY } = selection;
    let cursor = selection.after;
    while (!signal.aborted) {
      // Read in this order: what ends or arrives in between is then seen by the next turn.
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
        await this.#woken(sessionId ?? null, signal);
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

  /** Who was woken by other sessions' events meanwhile stands elsewhere than its neighbour, and comes to the same page. */
  #shared(sessionId: SessionId | undefined, reading: Reading): Reading {
    const [first] = reading.events;
    const last = reading.events.at(-1);
    if (first === undefined || last === undefined) return reading;
    const key = `${sessionId ?? ''}:${first.seq}-${last.seq}`;
    const known = this.#recentPages.get(key);
    if (known !== undefined) return { events: known.events, through: reading.through };
    this.#recentPages.put(key, reading);
    return reading;
  }

  #wake(key: SessionId | null): void {
    const wakeups = this.#wakeups.get(key);
    this.#wakeups.delete(key);
    wakeups?.wake();
  }

  async #woken(key: SessionId | null, signal: AbortSignal): Promise<void> {
    const wakeups = this.#wakeups.get(key) ?? new Wakeups();
    this.#wakeups.set(key, wakeups);
    await wakeups.next(signal);
    if (wakeups.size === 0 && this.#wakeups.get(key) === wakeups) this.#wakeups.delete(key);
  }
}
