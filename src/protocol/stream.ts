import { z } from 'zod';
import type { Role } from './access.js';
import { ControlKey, PageInput } from './control.js';
import type { ErrorBody } from './errors.js';
import type { JournalEvent } from './events.js';
import { SessionId, type SessionRecord, type SessionStatus } from './session.js';

/**
 * What a page may ask of the WebSocket `/api/stream`: JSON text, at most 256 KiB a message.
 *
 * - `watchSessions`: the sessions that run, then every one that changes, as rows; those that have ended come from
 *   `/api/sessions`. First come the numbers of all, those that failed since an instant (the last 24 hours) among them.
 * - `watchSession`: the session's events after a sequence number (0: all), then those that come. A page that connects
 *   again names the last one it saw.
 * - `watchScreen`: pictures of what the session's page shows, when it changes: up to 15 a second (`live`), or one
 *   (`slow`). Of many screens on a busy machine there are fewer. `width`: how many pixels across are of use; a picture may
 *   have more.
 * - `holdControl`: the page works with the control that was taken under that key. Control comes back by itself 10 s after
 *   the last page that holds it has gone, or said `letControlGo`.
 * - `input`: what is done to the page that is on the screen, in its order. `copy`: what is selected there, please. Both
 *   for a session whose control this page holds.
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
]);
export type StreamRequest = z.infer<typeof StreamRequest>;

/** A session as lists show it. */
export interface SessionRow {
  readonly record: SessionRecord;
  /** What it does, as a line of script or the name of a flow; null before its first, and when it has ended. */
  readonly doing: string | null;
}

/** How many browsers there are and may be, and how many jobs wait. */
export interface Capacity {
  readonly max: number;
  readonly running: number;
  readonly queued: number;
}

/**
 * What the service sends: MessagePack, one value a message. Events come in order and without gap; after a reconnect one
 * may come twice, which its number tells.
 */
export type StreamMessage =
  | {
      readonly type: 'hello';
      readonly version: string;
      readonly driver: string;
      readonly capacity: Capacity;
      /** Whose token let the page in; null where none is wanted, or a link did. */
      readonly token: { readonly name: string; readonly role: Role } | null;
      /** A link let the page in: it sees one session, and acts on nothing. */
      readonly viewOnly?: boolean;
    }
  /** How many sessions there are in each status, and how many have failed since the instant that was asked for. */
  | {
      readonly type: 'counts';
      readonly of: { readonly [Status in SessionStatus]: number };
      readonly failed: number;
    }
  /** The rows that changed since the last such message, at most one for a session, at most four messages a second. */
  | { readonly type: 'rows'; readonly rows: readonly SessionRow[]; readonly capacity: Capacity }
  | { readonly type: 'events'; readonly id: SessionId; readonly events: readonly JournalEvent[] }
  /** A JPEG, and the page's size in its own pixels. A reader that is slow gets fewer. */
  | {
      readonly type: 'frame';
      readonly id: SessionId;
      readonly jpeg: Uint8Array;
      readonly width: number;
      readonly height: number;
    }
  /** What was selected on the page, at most 65,536 characters. */
  | { readonly type: 'copied'; readonly id: SessionId; readonly text: string }
  /** The session has ended, and all its events were sent. */
  | { readonly type: 'over'; readonly id: SessionId }
  /** A request that was not carried out. `id` is the session that it named. */
  | { readonly type: 'refused'; readonly id: SessionId | null; readonly error: ErrorBody };
