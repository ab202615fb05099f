import { z } from 'zod';
import { pause } from '../base/deadline.js';
import { sentenceOf } from '../base/system-fault.js';
import type { Journal, KeyValue } from '../journal/journal.js';
import type { BatchId, BatchOutcome } from '../protocol/batches/batch.js';
import type { EventType, JournalEvent } from '../protocol/events.js';
import type { SessionId, SessionRecord, WebhookFormat } from '../protocol/session.js';
import {
  type BatchMessage,
  type HandoffMessage,
  WebhookDelivery,
  type WebhookMessage,
  WebhookMoment,
} from '../protocol/webhook.js';
import { type BatchWebhook, webhookOfBatch } from './batch-webhook.js';
import { type SendOutcome, sendMessage } from './send-message.js';
import { signatureHeaders } from './signature.js';
import { slackBatchMessage, slackHandoffMessage, slackMessage } from './slack-message.js';
import { type TargetRule, targetFault } from './webhook-target.js';

/** Delays before the second and later attempts, in seconds: a day and a half in total. */
const WAITS_S = [5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600, 43_200, 43_200];
/** The largest fraction by which a delay is randomly extended, so that many do not end together. */
const JITTER = 0.2;
const ANSWER_MS = 10_000;
/** Delays after journal errors; the first one, doubled up to the second. */
const FAULT_WAIT_MS = 1_000;
const MAX_FAULT_WAIT_MS = 60_000;
/** Concurrent deliveries, in total and per receiver: a slow receiver does not delay others. */
const AT_ONCE = 16;
const AT_ONCE_EACH = 4;

/** `sessionId` is the id of a session or of a batch: both have the same format, and none is used twice. */
const Stored = WebhookDelivery.extend({ sessionId: z.string(), target: z.unknown(), body: z.string() });
type Stored = z.infer<typeof Stored>;

/** The events that trigger messages, from now on. */
interface EventRequest {
  readonly types: ReadonlySet<EventType>;
  readonly signal: AbortSignal;
}

const MESSAGE_EVENTS: ReadonlySet<EventType> = new Set(['SessionStarted', 'HandoffRequested', 'SessionEnded']);

interface Waiting {
  readonly origin: string;
  readonly dueMs: number;
}

export interface OutboxParts {
  readonly journal: Pick<Journal, 'write' | 'keyValues'>;
  /** Seals receivers' addresses on disk, since they may contain keys. */
  readonly vault: {
    seal(value: unknown, caller: string): unknown;
    unseal(stored: unknown): { readonly request: unknown } | null;
  };
  readonly clock: { now(): Date; after(ms: number, work: () => void): () => void };
  readonly log: (line: string, about?: { readonly session?: string }) => void;
  /** Signs messages; undefined if webhooks are off. */
  readonly secret: string | undefined;
  readonly rule: TargetRule;
  /** The link that gives a person control for the record's open handoff; undefined if no such links are sent. */
  readonly handoffLink?: ((record: SessionRecord) => string | null) | undefined;
  /** Returns 0 to 1. */
  readonly random: () => number;
  /** Of several nodes one sends the messages of all; see {@link Outbox.appoint}. */
  readonly isShared?: boolean | undefined;
  /** How long a receiver may take to answer, in milliseconds; 10 s by default. */
  readonly answerMs?: number;
}

/**
 * Stores and sends webhook messages. A message is written to disk together with its event, sent until it is delivered
 * or
 * no attempts are left, and kept until its session is removed, so that it can be replayed. After a journal error, the
 * outbox waits; a damaged message counts as failed.
 *
 *   session -> disk (one transaction with the event) -> event stream -> waiting -> sending -> delivered
 *                                                                          ^----- delay <--'`-> failed
 *
 * A message may arrive more than once, with the same `webhook-id`: a service that ends before it has recorded an answer
 * sends it again.
 */
export class Outbox {
  readonly #parts: OutboxParts;
  readonly #stopped = new AbortController();
  /** Sessions with messages that were passed to the journal. */
  readonly #expected = new Set<string>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #sending = new Map<string, string>();
  readonly #work = new Set<Promise<void>>();
  #cancelTimer: () => void = () => undefined;
  #isSender: boolean;
  /** Consecutive journal errors. */
  #faults = 0;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
    this.#isSender = parts.isShared !== true;
  }

  /** Makes this node the one that sends, or not; it then reads what others have left. Never rejects. */
  async appoint(isSender: boolean): Promise<void> {
    this.#isSender = isSender;
    if (!isSender) {
      this.#cancelTimer();
      this.#waiting.clear();
      return;
    }
    const left = await this.#readKind('delivery', '').catch(() => []);
    for (const stored of left) this.#schedule(stored);
  }

  /** Why a job with this webhook is rejected, or null. The addresses of its host are checked at each attempt. */
  refusal(webhook: string): string | null {
    const { secret, rule } = this.#parts;
    if (secret !== undefined) return targetFault(new URL(webhook), rule);
    return 'webhooks are not signed: set webhookSecret in troupe.json to the name of an environment variable';
  }

  /** The rows to write in one transaction with the event; none if no webhook was requested. */
  entries(
    record: SessionRecord,
    webhook: string | undefined,
    moment: Exclude<WebhookMoment, 'handoff'>,
    format: WebhookFormat = 'standard',
  ): readonly KeyValue[] {
    if (webhook === undefined || (format === 'slack' && moment === 'started')) return [];
    const timestamp = this.#parts.clock.now().toISOString();
    const standard: WebhookMessage = { type: typeOf(record, moment), timestamp, data: record };
    const message = format === 'slack' ? slackMessage(record) : standard;
    this.#expected.add(record.id);
    return rowsOf(this.#stored(record.id, moment, webhook, message, timestamp));
  }

  /** The webhook of a batch, if it gets messages about handoffs of its jobs. @throws the journal's error */
  async handoffReceiver(batch: string): Promise<BatchWebhook | null> {
    return this.#parts.handoffLink === undefined ? null : webhookOfBatch(this.#parts, batch);
  }

  /** As {@link entries}, about the record's open handoff; none if the configuration turns such messages off. */
  handoffEntries(record: SessionRecord, webhook: string, format: WebhookFormat = 'standard'): readonly KeyValue[] {
    const link = this.#parts.handoffLink?.(record) ?? null;
    const { handoff } = record;
    if (link === null || handoff === undefined) return [];
    const timestamp = this.#parts.clock.now().toISOString();
    const data = { ...record, handoff: { ...handoff, link } };
    const standard: HandoffMessage = { type: 'session.handoff', timestamp, data };
    const message = format === 'slack' ? slackHandoffMessage(record, handoff.text, link) : standard;
    this.#expected.add(record.id);
    return rowsOf({ ...this.#stored(record.id, 'handoff', webhook, message, timestamp), handoff: handoff.id });
  }

  /**
   * Stores and sends the message about the end of a batch. Does nothing if the batch has a message already, so that a
   * caller may try again after an error, or in the next run of the service. Resolves once the message is on disk.
   * @throws the journal's error
   */
  async sendBatchEnd(outcome: BatchOutcome, webhook: string, format: WebhookFormat = 'standard'): Promise<void> {
    if ((await this.#read(`${outcome.id}/`)).length > 0) return;
    const timestamp = this.#parts.clock.now().toISOString();
    const { state } = outcome;
    const type = state === 'completed' || state === 'failed' ? (`batch.${state}` as const) : 'batch.stopped';
    const standard: BatchMessage = { type, timestamp, data: outcome };
    const message = format === 'slack' ? slackBatchMessage(outcome) : standard;
    const stored = this.#stored(outcome.id, 'ended', webhook, message, timestamp);
    await this.#parts.journal.write({ keyValues: rowsOf(stored) });
    this.#schedule(stored);
  }

  #stored(id: string, moment: WebhookMoment, webhook: string, message: object, timestamp: string): Stored {
    return {
      sessionId: id,
      moment,
      origin: new URL(webhook).origin,
      target: this.#parts.vault.seal(webhook, ''),
      body: JSON.stringify(message),
      state: 'waiting',
      attempts: 0,
      lastError: null,
      nextAt: timestamp,
    };
  }

  /**
   * Sends messages of an earlier run of the service, then those of new events, until {@link close}. After a journal
   * error,
   * waits and starts again. Never rejects.
   */
  async run(events: (wanted: EventRequest) => AsyncIterable<JournalEvent>): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        await this.#follow(events);
      } catch (error) {
        if (!signal.aborted) await this.#pauseAfter(error);
      }
    }
  }

  async #follow(events: (wanted: EventRequest) => AsyncIterable<JournalEvent>): Promise<void> {
    const { signal } = this.#stopped;
    // Subscribe first, so that no event is missed while the journal is read.
    const newEvents = events({ types: MESSAGE_EVENTS, signal });
    for (const stored of await this.#readKind('delivery', '')) this.#schedule(stored);
    this.#faults = 0;
    for await (const { type, sessionId } of newEvents) {
      if (!this.#expected.has(sessionId) && !(this.#parts.isShared && this.#isSender)) continue;
      for (const stored of await this.#read(`${sessionId}/`)) this.#schedule(stored);
      if (type === 'SessionEnded') this.#expected.delete(sessionId);
    }
  }

  /** Each consecutive error doubles the delay. */
  #faultWaitMs(): number {
    this.#faults += 1;
    return Math.min(MAX_FAULT_WAIT_MS, FAULT_WAIT_MS * 2 ** (this.#faults - 1));
  }

  async #pauseAfter(error: unknown): Promise<void> {
    const waitMs = this.#faultWaitMs();
    this.#parts.log(`webhooks pause for ${waitMs / 1_000} s after an error: ${sentenceOf(error)}`);
    const { signal } = this.#stopped;
    await pause(waitMs, { signal, clock: this.#parts.clock }).catch(() => undefined);
  }

  /** The messages about a session or batch, in order. */
  async list(id: SessionId | BatchId): Promise<readonly WebhookDelivery[]> {
    return (await this.#read(`${id}/`))
      .map((stored) => WebhookDelivery.parse(stored))
      .sort((a, b) => b.moment.localeCompare(a.moment));
  }

  /** Sends the messages about a session or batch again, or one of them. */
  async replay(id: SessionId | BatchId, moment: WebhookMoment | undefined): Promise<readonly WebhookDelivery[]> {
    for (const stored of await this.#read(`${id}/`)) {
      if (moment !== undefined && stored.moment !== moment) continue;
      const nextAt = this.#parts.clock.now().toISOString();
      const again: Stored = { ...stored, state: 'waiting', attempts: 0, lastError: null, nextAt };
      await this.#parts.journal.write({ keyValues: rowsOf(again) });
      this.#schedule(again);
    }
    return this.list(id);
  }

  /** Aborts deliveries in progress: the next start sends them again. Idempotent. */
  async close(): Promise<void> {
    this.#stopped.abort();
    this.#cancelTimer();
    await Promise.all(this.#work);
  }

  #schedule(stored: Stored): void {
    if (stored.state !== 'waiting' || stored.nextAt === null || !this.#isSender || this.#stopped.signal.aborted) return;
    this.#waiting.set(idOf(stored), { origin: stored.origin, dueMs: Date.parse(stored.nextAt) });
    this.#sendDue();
  }

  /** Sends due messages within the limits, and schedules the next run. */
  #sendDue(): void {
    this.#cancelTimer();
    if (this.#stopped.signal.aborted || !this.#isSender) return;
    const nowMs = this.#parts.clock.now().getTime();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [id, { origin, dueMs }] of this.#waiting) {
      if (this.#sending.size >= AT_ONCE) return;
      if (this.#sending.has(id) || !this.#hasRoom(origin)) continue;
      if (dueMs > nowMs) {
        nextMs = Math.min(nextMs, dueMs);
        continue;
      }
      this.#waiting.delete(id);
      this.#sending.set(id, origin);
      const work = this.#send(id, origin).finally(() => {
        this.#work.delete(work);
        this.#sending.delete(id);
        this.#sendDue();
      });
      this.#work.add(work);
    }
    if (nextMs < Number.POSITIVE_INFINITY) {
      this.#cancelTimer = this.#parts.clock.after(Math.max(1, nextMs - nowMs), () => this.#sendDue());
    }
  }

  #hasRoom(origin: string): boolean {
    let count = 0;
    for (const other of this.#sending.values()) if (other === origin) count += 1;
    return count < AT_ONCE_EACH;
  }

  /** Never rejects. */
  async #send(id: string, origin: string): Promise<void> {
    try {
      const [stored] = await this.#read(id);
      // Two events may have scheduled it.
      if (stored?.state !== 'waiting') return;
      const outcome = await this.#try(stored);
      // A session that was removed meanwhile took its messages with it.
      if (this.#stopped.signal.aborted || (await this.#read(id)).length === 0) return;
      const after = this.#after(stored, outcome);
      await this.#parts.journal.write({ keyValues: rowsOf(after) });
      this.#faults = 0;
      this.#schedule(after);
      if (after.state !== 'failed') return;
      this.#parts.log(`its webhook was not delivered: ${after.lastError}`, { session: stored.sessionId });
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      const waitMs = this.#faultWaitMs();
      // It may have been delivered: it is then sent again, with the same `webhook-id`.
      this.#waiting.set(id, { origin, dueMs: this.#parts.clock.now().getTime() + waitMs });
      this.#parts.log(`a webhook will be sent again in ${waitMs / 1_000} s, after an error: ${sentenceOf(error)}`);
    }
  }

  async #try(stored: Stored): Promise<SendOutcome> {
    const { vault, secret, clock, rule } = this.#parts;
    const target = z.url().safeParse(vault.unseal(stored.target)?.request);
    if (!target.success) return { kind: 'refused', why: 'its address was sealed with another key' };
    if (secret === undefined) return { kind: 'failed', why: 'webhookSecret is not set, so it cannot be signed' };
    const { body, sessionId } = stored;
    const headers = signatureHeaders(secret, {
      id: `${sessionId}_${nameOf(stored)}`,
      atMs: clock.now().getTime(),
      body,
    });
    const bounds = { rule, signal: this.#stopped.signal, timeoutMs: this.#parts.answerMs ?? ANSWER_MS };
    return sendMessage(new URL(target.data), { headers, body }, bounds);
  }

  #after(stored: Stored, outcome: SendOutcome): Stored {
    const attempts = stored.attempts + 1;
    const over = { ...stored, attempts, nextAt: null };
    switch (outcome.kind) {
      case 'taken':
        return { ...over, state: 'delivered', lastError: null };
      case 'refused':
        return { ...over, state: 'failed', lastError: outcome.why };
      case 'failed': {
        const waitS = WAITS_S[stored.attempts];
        if (waitS === undefined) return { ...over, state: 'failed', lastError: outcome.why };
        const waitMs = waitS * 1000 * (1 + JITTER * this.#parts.random());
        const nextAt = new Date(this.#parts.clock.now().getTime() + waitMs).toISOString();
        return { ...stored, attempts, lastError: outcome.why, nextAt };
      }
    }
  }

  async #read(prefix: string): Promise<readonly Stored[]> {
    const [waiting, over] = await Promise.all([
      this.#readKind('delivery', prefix),
      this.#readKind('delivered', prefix),
    ]);
    return [...waiting, ...over];
  }

  async #readKind(kind: 'delivery' | 'delivered', prefix: string): Promise<readonly Stored[]> {
    const rows = (await this.#parts.journal.keyValues(kind, prefix)).map(async ({ id, data }) => {
      const stored = Stored.safeParse(data);
      return stored.success ? [stored.data] : this.#setAside(kind, id);
    });
    return (await Promise.all(rows)).flat();
  }

  /** Marks a damaged message as failed, so that it does not keep the others from being sent. */
  async #setAside(kind: 'delivery' | 'delivered', id: string): Promise<readonly Stored[]> {
    const [sessionId = '', name] = id.split('/');
    const [, kindOf = name, handoff] = /^(handoff)-(.+)$/s.exec(name ?? '') ?? [];
    const moment = WebhookMoment.safeParse(kindOf);
    this.#parts.log(`webhook ${id} is damaged in the journal and is not sent`);
    if (!moment.success) {
      await this.#parts.journal.write({ keyValues: [{ kind, id, data: null }] });
      return [];
    }
    const of = { sessionId, moment: moment.data, ...(handoff === undefined ? {} : { handoff }) };
    const about = { ...of, origin: '', target: null, body: '' };
    const lastError = 'its row in the journal is damaged';
    const lost: Stored = { ...about, state: 'failed', attempts: 0, lastError, nextAt: null };
    await this.#parts.journal.write({ keyValues: rowsOf(lost) });
    return [lost];
  }
}

type MessageName = Pick<Stored, 'moment' | 'handoff'>;

function idOf(stored: Pick<Stored, 'sessionId'> & MessageName): string {
  return `${stored.sessionId}/${nameOf(stored)}`;
}

/** Unique within the session, which may have several handoffs. */
function nameOf({ moment, handoff }: MessageName): string {
  return handoff === undefined ? moment : `${moment}-${handoff}`;
}

/** Waiting messages are stored separately, so that a start reads only those. */
function rowsOf(stored: Stored): readonly KeyValue[] {
  const id = idOf(stored);
  const waits = stored.state === 'waiting';
  return [
    { kind: 'delivery', id, data: waits ? stored : null },
    { kind: 'delivered', id, data: waits ? null : stored },
  ];
}

function typeOf({ status }: SessionRecord, moment: 'started' | 'ended'): WebhookMessage['type'] {
  if (moment === 'started') return 'session.started';
  return status === 'completed' || status === 'failed' ? `session.${status}` : 'session.stopped';
}
