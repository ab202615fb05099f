import { z } from 'zod';
import type { SessionRecord } from './session.js';

/** What a receiver is told of: a session's first start, and its end. */
export const WebhookMoment = z.enum(['started', 'ended']);
export type WebhookMoment = z.infer<typeof WebhookMoment>;

/** The body that a receiver gets. */
export interface WebhookMessage {
  readonly type: 'session.started' | 'session.completed' | 'session.failed' | 'session.stopped';
  /** ISO 8601. */
  readonly timestamp: string;
  readonly data: SessionRecord;
}

/** `GET` and `POST /api/sessions/{id}/webhooks`: a message, and what came of it. */
export const WebhookDelivery = z.object({
  moment: WebhookMoment,
  /** Scheme, name and port of the receiver. */
  origin: z.string(),
  /** `waiting` for its first or next try, `delivered`, or `failed` for good. */
  state: z.enum(['waiting', 'delivered', 'failed']),
  attempts: z.int(),
  /** What the last try failed with; null where it did not. */
  lastError: z.string().nullable(),
  /** When the next try is due; null where there is none. */
  nextAt: z.iso.datetime().nullable(),
});
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

/** `POST /api/sessions/{id}/webhooks`. */
export const ReplayRequest = z.strictObject({ moment: WebhookMoment.optional() });
