import { z } from 'zod';
import type { KeyValue } from '../journal/journal.js';
import { WebhookDelivery } from '../protocol/webhook.js';

/** `sessionId` is the id of a session or of a batch: both have the same format, and none is used twice. */
export const Stored = WebhookDelivery.extend({ sessionId: z.string(), target: z.unknown(), body: z.string() });
export type Stored = z.infer<typeof Stored>;

type MessageName = Pick<Stored, 'moment' | 'handoff'>;

export function idOf(stored: Pick<Stored, 'sessionId'> & MessageName): string {
  return `${stored.sessionId}/${nameOf(stored)}`;
}

/** Unique within the session, which may have several handoffs. */
export function nameOf({ moment, handoff }: MessageName): string {
  return handoff === undefined ? moment : `${moment}-${handoff}`;
}

/** Waiting messages are stored separately, so that a start reads only those. */
export function rowsOf(stored: Stored): readonly KeyValue[] {
  const id = idOf(stored);
  const waits = stored.state === 'waiting';
  return [
    { kind: 'delivery', id, data: waits ? stored : null },
    { kind: 'delivered', id, data: waits ? null : stored },
  ];
}
