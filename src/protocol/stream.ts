import { z } from 'zod';
import type { Role } from './access.js';
import { ControlKey, PageInput } from './control.js';
import type { ErrorBody } from './errors.js';
import type { JournalEvent } from './events.js';
import { SessionId, type SessionRecord, type SessionStatus } from './session.js';

/**
 * Requests of a page over the WebSocket `/api/stream`: JSON text, at most 256 KiB per message.
 *
 * - `watchSessions`: rows of the running sessions, then of every session that changes; ended sessions come from
 *  `/api/sessions`. First come the counts of all sessions, and of those that failed since an instant (24 hours ago by
 *  default).
 * - `watchSession`: the session's events after a sequence number (0: all), then new ones. A page that reconnects sends
 *  the last number that it has.
 * - `watchScreen`: pictures of the session's page when it changes: up to 15 per second (`live`), or one (`slow`), and
 *  fewer if there are many screens on a busy machine. `width`: the useful width in pixels; a picture may be wider.
 * - `holdControl`: the page uses the control with that key. Control is given back 10 s after the last page that holds
 * it
 *  has disconnected, or sent `letControlGo`.
 * - `input`: input for the page on the screen, in order. `copy`: requests the page's selection. Both need a session
 * whose
 *  control this page holds.
 * - `ping`: requests a `pong`. A page cannot see the pings of the WebSocket protocol, and would show a connection that
 *  nobody closed as live.
 */
export const StreamRequest = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('watchSessions'), failedSince: z.iso.datetime().optional() }),
  z.strictObject({ type: z.literal('watchSession'), id: SessionId, after: z.int().min(0) }),
  z.strictObject({ type: z.literal('unwatchSession'), id: SessionId }),
  z.strictObject({
    type: z.literal('watchScreen'),
    id: SessionId,
    pace: z.enum(['live', 'slow']),
    width: z.int().min(1).max(16_384).optional(),
  }),
  z.strictObject({ type: z.literal('unwatchScreen'), id: SessionId }),
  z.strictObject({ type: z.literal('holdControl'), id: SessionId, key: ControlKey }),
  z.strictObject({ type: z.literal('letControlGo'), id: SessionId }),
  z.strictObject({ type: z.literal('input'), id: SessionId, inputs: z.array(PageInput).min(1).max(64) }),
  z.strictObject({ type: z.literal('copy'), id: SessionId }),
  z.strictObject({ type: z.literal('ping') }),
]);
export type StreamRequest = z.infer<typeof StreamRequest>;

/** A session in a list. */
export interface SessionRow {
  readonly record: SessionRecord;
  /** Its activity, as a line of script or the name of a flow; null before the first, and when it has ended. */
  readonly doing: string | null;
}

/** How many browsers run and may run, and how many jobs are queued. */
export interface Capacity {
  readonly max: number;
  readonly running: number;
  readonly queued: number;
}

/**
 * Messages of the service: MessagePack, one value per message. Events come in order and without gap. After a reconnect
 * an
 * event may be repeated, which its number shows.
 */
export type StreamMessage =
  | {
      readonly type: 'hello';
      readonly version: string;
      readonly driver: string;
      readonly capacity: Capacity;
      /** The page's token; null if none is required, or if it used a link. */
      readonly token: { readonly name: string; readonly role: Role } | null;
      /** The page used a link: it sees one session, and cannot act. */
      readonly viewOnly?: boolean;
      /** The sessions that a link of a handoff lets the page control, until the handoff ends. */
      readonly handoffs?: readonly string[];
    }
  /** How many sessions have each status, and how many failed since the requested instant. */
  | {
      readonly type: 'counts';
      readonly of: { readonly [Status in SessionStatus]: number };
      readonly failed: number;
    }
  /** The rows that changed since the last such message: one per session, at most four messages per second. */
  | { readonly type: 'rows'; readonly rows: readonly SessionRow[]; readonly capacity: Capacity }
  | { readonly type: 'events'; readonly id: SessionId; readonly events: readonly JournalEvent[] }
  /** A JPEG, and the page's size in CSS pixels. A slow reader gets fewer. */
  | {
      readonly type: 'frame';
      readonly id: SessionId;
      readonly jpeg: Uint8Array;
      readonly width: number;
      readonly height: number;
    }
  /** The page's selection, at most 65,536 characters. */
  | { readonly type: 'copied'; readonly id: SessionId; readonly text: string }
  | { readonly type: 'pong' }
  /** The session has ended, and all of its events were sent. */
  | { readonly type: 'over'; readonly id: SessionId }
  /** A request that was rejected. `id` is the session that it named. */
  | { readonly type: 'refused'; readonly id: SessionId | null; readonly error: ErrorBody };
