import { z } from 'zod';
import type { BatchOutcome } from './batches/batch.js';
import type { Handoff } from './person/handoff.js';
import type { SessionRecord } from './session.js';

/**
 * The events that a receiver is notified of: a session's first start, the end of a session or batch, and what a script
 * asks a person to do.
 */
export const WebhookMoment = z.enum(['started', 'handoff', 'ended']);
export type WebhookMoment = z.infer<typeof WebhookMoment>;

/** The body of a message about a batch. */
export interface BatchMessage {
  readonly type: 'batch.completed' | 'batch.failed' | 'batch.stopped';
  /** ISO 8601. */
  readonly timestamp: string;
  readonly data: BatchOutcome;
}

/** The body of a message about a session. */
export interface WebhookMessage {
  readonly type: 'session.started' | 'session.completed' | 'session.failed' | 'session.stopped';
  /** ISO 8601. */
  readonly timestamp: string;
  readonly data: SessionRecord;
}

/** The body of a message about a handoff. */
export interface HandoffMessage {
  readonly type: 'session.handoff';
  /** ISO 8601. */
  readonly timestamp: string;
  /** `link` gives a person control of the session until the handoff ends. */
  readonly data: Omit<SessionRecord, 'handoff'> & { readonly handoff: Handoff & { readonly link: string } };
}

/** `GET` and `POST` of `/api/sessions/{id}/webhooks` and `/api/batches/{id}/webhooks`: a message and its delivery. */
export const WebhookDelivery = z.object({
  moment: WebhookMoment,
  /** The handoff that a message with the moment `handoff` is about. */
  handoff: z.string().optional(),
  /** The receiver's scheme, host, and port. */
  origin: z.string(),
  /** `waiting` for its first or next attempt, `delivered`, or permanently `failed`. */
  state: z.enum(['waiting', 'delivered', 'failed']),
  attempts: z.int(),
  /** The last attempt's error; null if it succeeded. */
  lastError: z.string().nullable(),
  /** When the next attempt is due; null if there is none. */
  nextAt: z.iso.datetime().nullable(),
});
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

/** `POST /api/sessions/{id}/webhooks` and `POST /api/batches/{id}/webhooks`. */
export const ReplayRequest = z.strictObject({ moment: WebhookMoment.optional() });
