import type { JournalBatch, StoredSession } from '../journal/journal.js';
import { type EventRow, readEvent } from '../protocol/event-row.js';
import type { EventData, EventType, SessionEvent } from '../protocol/events.js';
import type { SessionRecord } from '../protocol/session.js';
import { sentenceOf } from '../protocol/system-fault.js';
import type { WebhookMoment } from '../protocol/webhook.js';
import { DOING, doingOf } from './doing-of.js';
import { newEvent } from './new-event.js';
import type { SessionChild } from './session-child.js';
import { spentRecord } from './session-record.js';
import type { SessionSurroundings } from './session-surroundings.js';

/** Events of which more is taken than that they were. */
const TAKEN: ReadonlySet<EventType> = new Set(['StepFinished', 'ModelCallFinished']);

/** What the journal is told of a living session: its record as it is now, and its events in their order. */
export class SessionBook {
  #record: SessionRecord;
  /** Milliseconds since the epoch; null where the record says so already. */
  #touchedAtMs: number | null = null;
  /** The last start of the actor found a page that did not answer. */
  pageLost = false;
  /** The number of the last step: an actor that is started again goes on from there. */
  steps = 0;
  /** What it does, or the event that told it, of which few are ever asked. */
  #doing: string | EventRow | null = null;
  readonly #around: Pick<SessionSurroundings, 'hub' | 'clock' | 'log' | 'webhooks'>;
  readonly #webhook: string | undefined;
  readonly #lease: () => StoredSession['lease'];
  readonly #answered: (call: number) => void;
  readonly #lost = (error: unknown): void =>
    this.#around.log(`events were not written: ${sentenceOf(error)}`, { session: this.record.id });
  #open = true;

  /**
   * @param options.lease of its browser now
   * @param options.answered called when an answer of a model is on disk
   */
  constructor(
    around: Pick<SessionSurroundings, 'hub' | 'clock' | 'log' | 'webhooks'>,
    options: {
      readonly record: SessionRecord;
      /** Who is told of its start and its end. */
      readonly webhook: string | undefined;
      readonly lease: () => StoredSession['lease'];
      readonly answered: (call: number) => void;
    },
  ) {
    this.#around = around;
    this.#record = options.record;
    this.#webhook = options.webhook;
    this.#lease = options.lease;
    this.#answered = options.answered;
  }

  get record(): SessionRecord {
    if (this.#touchedAtMs !== null) {
      this.#record = { ...this.#record, lastActivityAt: new Date(this.#touchedAtMs).toISOString() };
      this.#touchedAtMs = null;
    }
    return this.#record;
  }

  set record(record: SessionRecord) {
    this.#record = record;
    this.#touchedAtMs = null;
  }

  /** What it does, as a line of script or the name of a flow; null before its first. */
  get doing(): string | null {
    if (this.#doing !== null && typeof this.#doing !== 'string') this.#doing = doingOf(readEvent(this.#doing));
    return this.#doing;
  }

  /** Something was done in the session. The record is made when somebody reads it, which few scripts are followed by. */
  touch(): void {
    this.#touchedAtMs = this.#around.clock.now().getTime();
  }

  /** Enough to find the session again; its request is on disk already. */
  get stored(): StoredSession {
    return { record: this.record, lease: this.#lease() };
  }

  event<T extends EventType>(type: T, data: EventData<T>): EventRow {
    return newEvent(this.record.id, { type, data } as SessionEvent, this.#around.clock.now());
  }

  tell(event: SessionEvent): void {
    this.publish([newEvent(this.record.id, event, this.#around.clock.now())]);
  }

  /** An actor that is there again has lost its scripts and their scope, and of its pages those that do not answer. */
  restarted(thread: number, attempt: number): EventRow {
    return this.event('SessionRestarted', { thread, attempt, ...(this.pageLost ? { pageLost: true } : {}) });
  }

  /** Tells each start of the actor that is still to come. */
  tellRestarts(child: SessionChild): void {
    child.states$.subscribe((state) => {
      if (state.kind === 'running') this.publish([this.restarted(state.thread, state.attempt)]);
    });
  }

  /** A start or an end, with the message to whoever asked to be told; a later attempt's start is none. */
  announced(moment: WebhookMoment, batch: JournalBatch): JournalBatch {
    if (moment === 'started' && this.record.attempt > 1) return batch;
    const messages = this.#around.webhooks.entries(this.record, this.#webhook, moment);
    return { ...batch, kept: [...(batch.kept ?? []), ...messages] };
  }

  /** Writes what the session tells. After {@link close} it is dropped. */
  publish(rows: readonly EventRow[]): void {
    if (!this.#open) return;
    const calls: number[] = [];
    for (const row of rows) {
      if (DOING.has(row[2])) this.#doing = row;
      if (!TAKEN.has(row[2])) continue;
      const { type, data } = readEvent(row);
      if (type === 'StepFinished') this.steps = data.index;
      if (type !== 'ModelCallFinished') continue;
      this.record = spentRecord(this.record, data);
      calls.push(data.call);
    }
    const { hub } = this.#around;
    if (calls.length === 0) {
      hub.add(rows, this.#lost);
      return;
    }
    hub.write({ records: [this.stored], events: rows }).then(() => {
      for (const call of calls) this.#answered(call);
    }, this.#lost);
  }

  /** What it told before, under an earlier service or in an earlier attempt. */
  recall({ steps, doing }: Pick<SessionBook, 'steps' | 'doing'>): void {
    this.steps = steps;
    this.#doing = doing;
  }

  /** The end is being written: a session shows nothing after it. */
  close(): void {
    this.#open = false;
  }
}
