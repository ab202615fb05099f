import type { Clock } from '../../base/clock.js';
import { pause, withDeadline } from '../../base/deadline.js';
import { sentenceOf } from '../../base/system-fault.js';
import type { JournalBatch, KeyValue, StoredSession } from '../../journal/journal.js';
import { type ErrorBody, encodeError, TroupeError } from '../../protocol/errors.js';
import { type EventRow, eventRow, readEvent } from '../../protocol/event-row.js';
import type { EventData, EventType, SessionEvent } from '../../protocol/events.js';
import type { BrowserRequest } from '../../protocol/second-browser.js';
import type { SessionId, SessionRecord, WebhookFormat } from '../../protocol/session.js';
import type { WebhookMoment } from '../../protocol/webhook.js';
import type { Log } from '../../telemetry/log.js';
import type { EventHub } from '../events/index.js';
import type { SessionChild } from './session-child.js';
import type { SessionDependencies } from './session-dependencies.js';
import { handoffRecord, spentRecord, withoutHandoff } from './session-record.js';
import { ACTIVITY_EVENTS, activityOf } from './task/activity.js';

/** Events whose data also updates the session's own state. */
const PARSED_EVENTS: ReadonlySet<EventType> = new Set([
  'StepFinished',
  'ModelCallFinished',
  'HandoffRequested',
  'HandoffEnded',
  'SessionRestarted',
  'StateCollected',
  'BrowserRequested',
  'BrowserLost',
]);

/** The address that is notified of a session's start and end, and how. */
export interface WebhookWish {
  readonly url?: string | undefined;
  readonly format?: WebhookFormat | undefined;
}

/** Writes a session's record and events to the journal. */
export class SessionJournal {
  #record: SessionRecord;
  /** When the session was last used, in milliseconds since the epoch; null if the record is up to date. */
  #touchedAtMs: number | null = null;
  /** Whether a page did not answer at the actor's last start, and was closed. */
  pageLost = false;
  /** The number of the last step: a restarted actor continues from there. */
  steps = 0;
  /** The session's activity, or the event that describes it, since few are ever requested. */
  #activity: string | EventRow | null = null;
  readonly #deps: Pick<SessionDependencies, 'hub' | 'clock' | 'log' | 'webhooks'>;
  readonly #webhook: WebhookWish;
  /** The webhook of the session's batch, once {@link findWebhook} has read it. */
  #batchWebhook: WebhookWish = {};
  readonly #lease: () => StoredSession['lease'];
  readonly #answered: (call: number, error: ErrorBody | null) => void;
  readonly #handoffChanged: () => void;
  readonly #stateCollected: (state: string) => void;
  readonly #browserRequested: (request: BrowserRequest) => void;
  readonly #browserLost: (name: string) => void;
  readonly #lost = (error: unknown): void => {
    // Another node has the session: its end here is under way.
    if (encodeError(error).code === 'NODE_LOST') return;
    this.#deps.log(`events were not written: ${sentenceOf(error)}`, { session: this.record.id });
  };
  #open = true;

  /**
   * @param options.lease returns the current lease
   * @param options.answered called when a model's answer is on disk, or why it cannot be
   * @param options.stateCollected called when a script has collected a login state
   * @param options.browserRequested called when a script asks for a further browser
   * @param options.browserLost called when the connection to one of those has ended
   * @param options.handoffChanged called when the session begins or ceases to wait for a person
   */
  constructor(
    dependencies: Pick<SessionDependencies, 'hub' | 'clock' | 'log' | 'webhooks'>,
    options: {
      readonly record: SessionRecord;
      readonly webhook: WebhookWish;
      readonly lease: () => StoredSession['lease'];
      readonly answered: (call: number, error: ErrorBody | null) => void;
      readonly handoffChanged: () => void;
      readonly stateCollected: (state: string) => void;
      readonly browserRequested: (request: BrowserRequest) => void;
      readonly browserLost: (name: string) => void;
    },
  ) {
    this.#deps = dependencies;
    // Scripts do not outlive the service that ran them.
    this.#record = withoutHandoff(options.record);
    this.#webhook = options.webhook;
    this.#lease = options.lease;
    this.#answered = options.answered;
    this.#handoffChanged = options.handoffChanged;
    this.#stateCollected = options.stateCollected;
    this.#browserRequested = options.browserRequested;
    this.#browserLost = options.browserLost;
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

  /** The session's activity, as a line of script or the name of a flow; null before the first. */
  get activity(): string | null {
    if (this.#activity !== null && typeof this.#activity !== 'string')
      this.#activity = activityOf(readEvent(this.#activity));
    return this.#activity;
  }

  /** Notes that the session was used. The record is updated only when it is read, which is rare. */
  touch(): void {
    this.#touchedAtMs = this.#deps.clock.now().getTime();
  }

  /** Enough to find the session after a restart; its request is on disk already. */
  get stored(): StoredSession {
    return { record: this.record, lease: this.#lease() };
  }

  event<T extends EventType>(type: T, data: EventData<T>): EventRow {
    return eventRow(this.record.id, { type, data } as SessionEvent, this.#deps.clock.now().toISOString());
  }

  emit(event: SessionEvent): void {
    this.publish([eventRow(this.record.id, event, this.#deps.clock.now().toISOString())]);
  }

  /** The event of a restarted actor, which lost its scripts, their scope, and pages that do not answer. */
  restarted(thread: number, attempt: number): EventRow {
    return this.event('SessionRestarted', { thread, attempt, ...(this.pageLost ? { pageLost: true } : {}) });
  }

  /** Emits an event for each future restart of the actor. */
  emitRestarts(child: SessionChild): void {
    child.states$.subscribe((state) => {
      if (state.kind === 'running') this.publish([this.restarted(state.thread, state.attempt)]);
    });
  }

  /** Adds the webhook message for a start or an end to the batch. Starts of later attempts have none. */
  withWebhook(moment: Exclude<WebhookMoment, 'handoff'>, batch: JournalBatch): JournalBatch {
    if (moment === 'started' && this.record.attempt > 1) return batch;
    const messages = this.#deps.webhooks.entries(this.record, this.#webhook.url, moment, this.#webhook.format);
    return { ...batch, keyValues: [...(batch.keyValues ?? []), ...messages] };
  }

  /**
   * Writes the session's start. A job waits for a database that is away, until the signal is aborted.
   * @throws the journal's error; the signal's reason
   */
  async writeStart(batch: JournalBatch, signal: AbortSignal): Promise<void> {
    await this.findWebhook();
    const isKept = this.record.mode === 'auto';
    const written = this.#deps.hub.write({ ...this.withWebhook('started', batch), isKept });
    await withDeadline(written, { signal: isKept ? signal : undefined });
  }

  /** Reads the webhook of the session's batch, for messages about handoffs. Call before scripts run. Never rejects. */
  async findWebhook(): Promise<void> {
    const { batch, id } = this.record;
    if (batch === null || this.#webhook.url !== undefined) return;
    try {
      this.#batchWebhook = (await this.#deps.webhooks.handoffReceiver(batch)) ?? {};
    } catch (error) {
      const why = sentenceOf(error);
      this.#deps.log(`the webhook of its batch could not be read, so handoffs are not sent to it: ${why}`, {
        session: id,
      });
    }
  }

  /** Writes events of the session. They are dropped after {@link close}. */
  publish(rows: readonly EventRow[]): void {
    if (!this.#open) return;
    const calls: number[] = [];
    const { handoff } = this.#record;
    for (const row of rows) {
      if (ACTIVITY_EVENTS.has(row[2])) this.#activity = row;
      if (!PARSED_EVENTS.has(row[2])) continue;
      const { type, data } = readEvent(row);
      if (type === 'StepFinished') this.steps = data.index;
      if (type === 'HandoffRequested') this.record = handoffRecord(this.record, data, this.#deps.clock.now());
      // A restarted actor has lost the script that waited.
      if (type === 'HandoffEnded' || type === 'SessionRestarted') this.record = withoutHandoff(this.record);
      if (type === 'StateCollected') this.#stateCollected(data.state);
      if (type === 'BrowserRequested') this.#browserRequested(data);
      if (type === 'BrowserLost' && data.session !== undefined) this.#browserLost(data.session);
      if (type !== 'ModelCallFinished') continue;
      this.record = spentRecord(this.record, data);
      calls.push(data.call);
    }
    const { hub } = this.#deps;
    const changed = handoff !== this.#record.handoff;
    if (changed) this.#handoffChanged();
    if (calls.length === 0 && !changed) {
      hub.add(rows, this.#lost);
      return;
    }
    const asked = handoff?.id !== this.#record.handoff?.id;
    const keyValues = asked ? this.#handoffMessages() : [];
    hub.write({ records: [this.stored], events: rows, keyValues, isKept: true }).then(
      () => {
        for (const call of calls) this.#answered(call, null);
      },
      (error: unknown) => {
        this.#lost(error);
        for (const call of calls) this.#answered(call, encodeError(error));
      },
    );
  }

  /** Restores the state from events of an earlier run of the service or an earlier attempt. */
  restore({ steps, activity }: Pick<SessionJournal, 'steps' | 'activity'>): void {
    this.steps = steps;
    this.#activity = activity;
  }

  /** The end is being written: later events are dropped, and no handoff is open. */
  close(): void {
    this.#open = false;
    this.#handoffChanged();
  }

  #handoffMessages(): readonly KeyValue[] {
    const { url, format } = this.#webhook.url === undefined ? this.#batchWebhook : this.#webhook;
    return url === undefined ? [] : this.#deps.webhooks.handoffEntries(this.#record, url, format);
  }
}

/** Delays after each attempt, in milliseconds. */
const RETRY_DELAYS_MS = [100, 400, 1_500];
/** How long an end is awaited while the database is away, in milliseconds. It may still be written later. */
const AWAY_MS = 30_000;

/**
 * Writes a session's end, with retries, because a disk that is full for a moment must not keep a session from ending.
 * Never rejects. An end that cannot be written is logged; the next start of the service then ends the session.
 */
export async function writeEnd(
  { hub, clock, log }: { readonly hub: EventHub; readonly clock: Clock; readonly log: Log },
  id: SessionId,
  batch: JournalBatch,
): Promise<void> {
  let isWaiting = false;
  const late = () => {
    isWaiting = true;
    return new TroupeError('UNAVAILABLE', 'The database is away; it is written when the database answers again');
  };
  for (const waitMs of RETRY_DELAYS_MS) {
    try {
      await withDeadline(hub.write({ ...batch, isKept: true }), { ms: AWAY_MS, late, clock });
      return;
    } catch (error) {
      // Another node writes it.
      if (encodeError(error).code === 'NODE_LOST') return;
      log(`its end was not written: ${sentenceOf(error)}`, { session: id });
      if (isWaiting) return;
      await pause(waitMs, { clock });
    }
  }
}
