import type { LiveHead, LiveMessage } from '../../protocol/requests/live-streams.js';

/** An answer that goes on: an event stream or a WebSocket. */
export interface LiveStream {
  readonly head: LiveHead;
  /** Ends it; what came so far is the answer. Idempotent. */
  stop(): void;
  /**
   * Sends a message; null if nothing can be sent. It settles when the message is written.
   * @throws REQUEST_FAILED if the connection has ended
   */
  readonly send: ((message: string | Buffer) => Promise<void>) | null;
}

/** Follows an answer while it comes. */
export interface LiveWatcher {
  opened(stream: LiveStream): void;
  /** In their order. The stream waits while the watcher takes no more. */
  messages(messages: readonly LiveMessage[]): Promise<void> | undefined;
}
