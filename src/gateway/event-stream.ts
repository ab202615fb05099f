import { setImmediate as nextTurn } from 'node:timers/promises';
import { TroupeError } from '../protocol/errors.js';
import type { EventPage } from '../protocol/event-row.js';
import { framesOf } from './event-frames.js';
import type { Reply } from './http/reply.js';
import type { ReplyHead } from './http/reply-head.js';

const HEAD: ReplyHead = {
  status: 200,
  headers: [
    ['Content-Type', 'text/event-stream; charset=utf-8'],
    // Without it, proxies such as nginx would buffer events.
    ['X-Accel-Buffering', 'no'],
  ],
};

const KEEP_ALIVE_MS = 15_000;

/** How long a browser waits before it reconnects. */
const RETRY_MS = 2_000;

const COMMENT = ':\n\n';

/** Limits of open streams, in total and per caller; a stream beyond either is refused. */
const MAX_STREAMS = 1_000;
const MAX_STREAMS_EACH = 250;
const RETRY_SECONDS = 5;

/** Written to a connection at once. A slow client leaves at most one copy of this size in memory. */
const SLICE_BYTES = 64 * 1024;
/** Streams that get a keep-alive comment in one turn of the event loop. */
const COMMENTS_AT_ONCE = 32;

/** A source of events, read as the client takes them. */
export interface EventSource {
  readonly open: (signal: AbortSignal) => AsyncIterable<EventPage>;
  /** See `Answer`: if no event is left the answer is 204, at which browsers stop reconnecting. */
  readonly finite: boolean;
  /** The caller; see `RouteRequest`. */
  readonly caller: string;
}

/**
 * The open server-sent event streams. Each reads its next page only after its client has taken the previous one, so a
 * slow client holds one page in memory, which other readers may share; the rest stays in the journal.
 */
export class EventStreams {
  readonly #open = new Set<EventStream>();
  readonly #openOf = new Map<string, number>();
  readonly #keepAliveMs: number;
  #timer: NodeJS.Timeout | null = null;

  constructor(keepAliveMs = KEEP_ALIVE_MS) {
    this.#keepAliveMs = keepAliveMs;
  }

  /**
   * Answers with a stream of events until they end, the client disconnects, or {@link close}.
   * @throws CAPACITY if 1,000 streams are open, or 250 of this caller
   */
  async serve(reply: Reply, { open, finite, caller }: EventSource): Promise<void> {
    if (reply.head) {
      reply.endHead(HEAD, undefined);
      return;
    }
    this.#assertRoom(caller);
    const stream = new EventStream(reply);
    this.#open.add(stream);
    this.#openOf.set(caller, (this.#openOf.get(caller) ?? 0) + 1);
    this.#timer ??= setTimeout(() => void this.#keepAlive(), this.#keepAliveMs);
    try {
      await stream.run(open, finite);
    } finally {
      this.#leave(stream, caller);
    }
  }

  /** Ends every stream in an orderly way. Clients reconnect and continue after their last event. */
  close(): void {
    for (const stream of this.#open) stream.stop();
  }

  #assertRoom(caller: string): void {
    const own = this.#openOf.get(caller) ?? 0;
    if (own < MAX_STREAMS_EACH && this.#open.size < MAX_STREAMS) return;
    const message =
      own < MAX_STREAMS_EACH
        ? `${MAX_STREAMS} event streams are already open; try again later`
        : `This caller has ${own} event streams open; close some, or follow all sessions with one stream (/api/events)`;
    throw new TroupeError('CAPACITY', message, { retryAfterSeconds: RETRY_SECONDS });
  }

  #leave(stream: EventStream, caller: string): void {
    this.#open.delete(stream);
    const left = (this.#openOf.get(caller) ?? 1) - 1;
    if (left > 0) this.#openOf.set(caller, left);
    else this.#openOf.delete(caller);
    if (this.#open.size > 0 || this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Never rejects. */
  async #keepAlive(): Promise<void> {
    let written = 0;
    // Iterating a Set skips streams that leave meanwhile.
    for (const stream of this.#open) {
      stream.keepAlive();
      written += 1;
      if (written % COMMENTS_AT_ONCE === 0) await nextTurn();
    }
    this.#timer = this.#open.size > 0 ? setTimeout(() => void this.#keepAlive(), this.#keepAliveMs) : null;
  }
}

class EventStream {
  readonly #reply: Reply;
  readonly #stopped = new AbortController();
  /** Settles when the connection takes more; null while it does. */
  #blocked: Promise<void> | null = null;

  constructor(reply: Reply) {
    this.#reply = reply;
    reply.onGone(() => this.stop());
  }

  async run(pages: EventSource['open'], finite: boolean): Promise<void> {
    const reply = this.#reply;
    if (!finite) this.#begin();
    try {
      for await (const page of pages(this.#stopped.signal)) {
        if (this.#stopped.signal.aborted) break;
        if (reply.untouched) this.#begin();
        await this.#sendPage(framesOf(page));
        if (!reply.open) break;
      }
    } catch (error) {
      // Cut, so that the client sees a failure, reconnects and resumes.
      if (!this.#stopped.signal.aborted && !reply.untouched) reply.cut();
      if (!this.#stopped.signal.aborted) throw error;
    }
    if (!reply.untouched) reply.finish();
    else if (this.#stopped.signal.aborted) throw new TroupeError('UNAVAILABLE', 'The service is stopping');
    else reply.end({ status: 204, headers: [] }, '');
  }

  keepAlive(): void {
    if (!this.#blocked && !this.#reply.untouched) this.#send(COMMENT);
  }

  stop(): void {
    this.#stopped.abort();
  }

  #begin(): void {
    this.#reply.begin(HEAD);
    this.#send(`retry: ${RETRY_MS}\n\n`);
  }

  /** Settles when the client has taken all of it, or has disconnected. */
  async #sendPage(frames: Uint8Array): Promise<void> {
    for (let at = 0; at < frames.byteLength && this.#reply.open; at += SLICE_BYTES) {
      // The head or a keep-alive comment may still be waiting; only one write may wait at a time.
      await this.#taken();
      this.#send(frames.subarray(at, at + SLICE_BYTES));
    }
    await this.#taken();
  }

  async #taken(): Promise<void> {
    while (this.#blocked) await this.#blocked;
  }

  /** Must not be called while {@link EventStream.#blocked}. */
  #send(chunk: string | Uint8Array): void {
    if (this.#reply.write(chunk) || !this.#reply.open) return;
    this.#blocked = this.#reply.writable().then((open) => {
      this.#blocked = null;
      // Bytes that the connection did not take are sent with the next write only.
      if (open) this.#send(COMMENT);
    });
  }
}
