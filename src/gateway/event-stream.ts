import { TroupeError } from '../protocol/errors.js';
import type { JournalEvent } from '../protocol/events.js';
import type { Reply, ReplyHead } from './uws/reply.js';

const HEAD: ReplyHead = {
  status: 200,
  headers: [
    ['Content-Type', 'text/event-stream; charset=utf-8'],
    // Proxies of the nginx kind would hold events back.
    ['X-Accel-Buffering', 'no'],
  ],
};

const KEEP_ALIVE_MS = 15_000;

/** How long a browser waits before it connects again. */
const RETRY_MS = 2_000;

const COMMENT = ':\n\n';

/**
 * The open server-sent event streams. Each pulls its next event only when its client has taken the one before, so that
 * a slow client holds one event here and the rest stays in the journal.
 */
export class EventStreams {
  readonly #open = new Set<EventStream>();
  readonly #keepAliveMs: number;
  #timer: NodeJS.Timeout | null = null;

  constructor(keepAliveMs = KEEP_ALIVE_MS) {
    this.#keepAliveMs = keepAliveMs;
  }

  /**
   * Answers with a stream of events, until they end, the client goes, or {@link close}.
   * @param finite see {@link Answer}: with nothing left the answer is 204, at which browsers stop connecting again
   */
  async serve(
    reply: Reply,
    events: (signal: AbortSignal) => AsyncIterable<JournalEvent>,
    finite: boolean,
  ): Promise<void> {
    if (reply.head) {
      reply.endHead(HEAD, undefined);
      return;
    }
    const stream = new EventStream(reply);
    this.#open.add(stream);
    this.#timer ??= setInterval(() => {
      for (const each of this.#open) each.keepAlive();
    }, this.#keepAliveMs);
    try {
      await stream.run(events, finite);
    } finally {
      this.#open.delete(stream);
      if (this.#open.size === 0 && this.#timer) {
        clearInterval(this.#timer);
        this.#timer = null;
      }
    }
  }

  /** Ends every stream in an orderly way. Clients connect again and go on after their last event. */
  close(): void {
    for (const stream of this.#open) stream.stop();
  }
}

class EventStream {
  readonly #reply: Reply;
  readonly #stopped = new AbortController();
  /** Settles when the client takes more; null while it does. */
  #blocked: Promise<void> | null = null;

  constructor(reply: Reply) {
    this.#reply = reply;
    reply.onGone(() => this.stop());
  }

  async run(events: (signal: AbortSignal) => AsyncIterable<JournalEvent>, finite: boolean): Promise<void> {
    const reply = this.#reply;
    if (!finite) this.#begin();
    try {
      for await (const event of events(this.#stopped.signal)) {
        if (this.#stopped.signal.aborted) break;
        if (reply.untouched) this.#begin();
        // The head, or a comment that keeps the stream alive, may not have been taken yet: one thing waits at a time.
        await this.#taken();
        this.#send(frame(event));
        await this.#taken();
        if (!reply.open) break;
      }
    } catch (error) {
      // The client connects again and resumes; an orderly end would tell it the same.
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

  async #taken(): Promise<void> {
    while (this.#blocked) await this.#blocked;
  }

  /** Not while {@link EventStream.#blocked}. */
  #send(text: string): void {
    if (this.#reply.write(text) || !this.#reply.open) return;
    this.#blocked = this.#reply.writable().then((open) => {
      this.#blocked = null;
      // What the connection did not take goes out with the next write only.
      if (open) this.#send(COMMENT);
    });
  }
}

function frame(event: JournalEvent): string {
  return `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
