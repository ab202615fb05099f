import { z } from 'zod';

/** The messages of event streams and WebSockets in the request client's window. */

/** Characters of a message that the window gets; the saved body has all. */
export const MAX_SHOWN_CHARS = 256 * 1024;

/** The beginning of an answer that goes on. */
export interface LiveHead {
  readonly what: 'events' | 'websocket';
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}

/** A message of an event stream or a WebSocket. */
export interface LiveMessage {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly from: 'server' | 'client';
  /** Of an event, its type (`message` if it has none); of a WebSocket `text`, `binary` or `close`. */
  readonly type: string;
  /** Its text, in Base64 if it is binary; at most {@link MAX_SHOWN_CHARS}. For `close`, the code and the reason. */
  readonly data: string;
  /** Bytes of the whole message. */
  readonly bytes: number;
  /** Of an event; empty if it has none. */
  readonly id: string;
}

/** A message to send over an open WebSocket. */
export const SendMessage = z.strictObject({
  type: z.enum(['text', 'binary']),
  /** In Base64 if it is binary. */
  data: z.string().max(16 * 1024 * 1024),
});
export type SendMessage = z.infer<typeof SendMessage>;
