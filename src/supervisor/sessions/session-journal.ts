import type { Clock } from '../../base/clock.js';
import { pause } from '../../base/deadline.js';
import { sentenceOf } from '../../base/system-fault.js';
import type { JournalBatch, StoredSession } from '../../journal/journal.js';
import { type EventRow, eventRow, readEvent } from '../../protocol/event-row.js';
import type { EventData, EventType, SessionEvent } from '../../protocol/events.js';
import type { SessionId, SessionRecord } from '../../protocol/session.js';
import type { WebhookMoment } from '../../protocol/webhook.js';
import type { Log } from '../../telemetry/log.js';
import type { EventHub } from '../events/index.js';
import type { SessionChild } from './session-child.js';
import type { SessionDependencies } from './session-dependencies.js';
import { spentRecord } from './session-record.js';
import { ACTIVITY_EVENTS, activityOf } from './task/activity.js';

/** Events of which more is taken than that they were. */
const TAKEN: ReadonlySet<EventType> = new Set(['StepFinished', 'ModelCallFinished']);

/** What the journal is told of a living session: its record as it is now, and its events in their order. */
export class SessionJournal {
  #record: SessionRecord;
  /** Milliseconds since the epoch; null where the record says so already. */
  #touchedAtMs: number | null = null;
  /** The last start of the actor found a page that did not answer. */
  pageLost = false;
  /** The number of the last step: an actor that is started again goes on from there. */
  steps = 0;
  /** What it does, or the event that told it, of which few are ever asked. */
  #doing: string | EventRow | null = null;
  readonly #deps: Pick<SessionDependencies, 'hub' | 'clock' | 'log' | 'webhooks'>;
  readonly #webhook: string | undefined;
  readonly #lease: () => StoredSession['lease'];
  readonly #answered: (call: number) => void;
  readonly #lost = (error: unknown): void =>
    this.#deps.log(`events were not written: ${sentenceOf(error)}`, { session: this.record.id });
  #open = true;

  /**
   * @param options.lease of its browser now
   * @param options.answered called when an answer of a model is on disk
   */
  constructor(
    around: Pick<SessionDependencies, 'hub' | 'clock' | 'log' | 'webhooks'>,
    options: {
      readonly record: SessionRecord;
      /** Who is told of its start and its end. */
      readonly webhook: string | undefined;
      readonly lease: () => StoredSession['lease'];
      readonly answered: (call: number) => void;
    },
  ) {
    this.#deps = around;
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
    if (this.#doing !== null && typeof this.#doing !== 'string') this.#doing = activityOf(readEvent(this.#doing));
    return this.#doing;
  }

  /** Something was done in the session. The record is made when somebody reads it, which few scripts are followed by. */
  touch(): void {
    this.#touchedAtMs = this.#deps.clock.now().getTime();
  }

  /** Enough to find the session again; its request is on disk already. */
  get stored(): StoredSession {
    return { record: this.record, lease: this.#lease() };
  }

  event<T extends EventType>(type: T, data: EventData<T>): EventRow {
    return eventRow(this.record.id, { type, data } as SessionEvent, this.#deps.clock.now().toISOString());
  }

  emit(event: SessionEvent): void {
    this.publish([eventRow(this.record.id, event, this.#deps.clock.now().toISOString())]);
  }

  /** An actor that is there again has lost its scripts and their scope, and of its pages those that do not answer. */
  restarted(thread: number, attempt: number): EventRow {
    return this.event('SessionRestarted', { thread, attempt, ...(this.pageLost ? { pageLost: true } : {}) });
  }

  /** Tells each start of the actor that is still to come. */
  emitRestarts(child: SessionChild): void {
    child.states$.subscribe((state) => {
      if (state.kind === 'running') this.publish([this.restarted(state.thread, state.attempt)]);
    });
  }

  /** A start or an end, with the message to whoever asked to be told; a later attempt's start is none. */
  announced(moment: WebhookMoment, batch: JournalBatch): JournalBatch {
    if (moment === 'started' && this.record.attempt > 1) return batch;
    const messages = this.#deps.webhooks.entries(this.record, this.#webhook, moment);
    return { ...batch, keyValues: [...(batch.keyValues ?? []), ...messages] };
  }

  /** Writes what the session tells. After {@link close} it is dropped. */
  publish(rows: readonly EventRow[]): void {
    if (!this.#open) return;
    const calls: number[] = [];
    for (const row of rows) {
      if (ACTIVITY_EVENTS.has(row[2])) this.#doing = row;
      if (!TAKEN.has(row[2])) continue;
      const { type, data } = readEvent(row);
      if (type === 'StepFinished') this.steps = data.index;
      if (type !== 'ModelCallFinished') continue;
      this.record = spentRecord(this.record, data);
      calls.push(data.call);
    }
    const { hub } = this.#deps;
    if (calls.length === 0) {
      hub.add(rows, this.#lost);
      return;
    }
    hub.write({ records: [this.stored], events: rows }).then(() => {
      for (const call of calls) this.#answered(call);
    }, this.#lost);
  }

  /** What it told before, under an earlier service or in an earlier attempt. */
  recall({ steps, doing }: Pick<SessionJournal, 'steps' | 'doing'>): void {
    this.steps = steps;
    this.#doing = doing;
  }

  /** The end is being written: a session shows nothing after it. */
  close(): void {
    this.#open = false;
  }
}

/** Waits after each try, in milliseconds. */
const WAITS_MS = [100, 400, 1_500];

/**
 * Writes a session's end, and tries more than once: a disk that is full for a moment must not keep a session from ending.
 * Never rejects. An end that cannot be written is logged; the next start of the service ends the session then.
 */
export async function writeEnd(
  { hub, clock, log }: { readonly hub: EventHub; readonly clock: Clock; readonly log: Log },
  id: SessionId,
  batch: JournalBatch,
): Promise<void> {
  for (const waitMs of WAITS_MS) {
    try {
      await hub.write(batch);
      return;
    } catch (error) {
      log(`its end was not written: ${sentenceOf(error)}`, { session: id });
      await pause(waitMs, { clock });
    }
  }
}
