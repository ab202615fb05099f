import { TroupeError } from '../../protocol/errors.js';
import type { SendMessage } from '../../protocol/requests/live-streams.js';
import type { ProgressLine } from '../../protocol/requests/request-window.js';
import type { LiveStream, LiveWatcher } from './live-watcher.js';

/** Waits, where there is a promise, until the window takes more. */
type ReportStream = (line: ProgressLine) => Promise<void> | undefined;

/** Details of the error of a request that {@link LiveStreams.stop} cancelled. */
export const CANCELLED = { cause: 'CANCELLED' } as const;

/** Requests of the window that are being sent, by the ids of their items, with what they hold open. */
export class LiveStreams {
  readonly #open = new Map<string, LiveStream>();
  readonly #sending = new Map<string, AbortController>();

  /** Reports the streams of one request while `work` sends it. `work` gets `signal`, extended by {@link stop}. */
  async while<T>(
    id: string,
    report: ReportStream,
    signal: AbortSignal,
    work: (watcher: LiveWatcher, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    let own: LiveStream | null = null;
    const sending = new AbortController();
    this.#sending.set(id, sending);
    const watcher: LiveWatcher = {
      opened: (stream) => {
        own = stream;
        this.#open.set(id, stream);
        void report({ kind: 'opened', head: stream.head });
      },
      messages: (messages) => report({ kind: 'messages', messages }),
    };
    try {
      return await work(watcher, AbortSignal.any([signal, sending.signal]));
    } finally {
      if (this.#sending.get(id) === sending) this.#sending.delete(id);
      if (this.#open.get(id) === own) this.#open.delete(id);
    }
  }

  /**
   * Ends a stream; what came so far is the answer. A request without an open stream is cancelled.
   *
   * @returns whether there was anything to stop
   */
  stop(id: string): boolean {
    const stream = this.#open.get(id);
    const sending = this.#sending.get(id);
    if (stream !== undefined) stream.stop();
    else sending?.abort(new TroupeError('REQUEST_FAILED', 'Cancelled', CANCELLED));
    return stream !== undefined || sending !== undefined;
  }

  /** @throws INVALID_REQUEST if there is no open WebSocket; REQUEST_FAILED if it has just ended */
  async send(id: string, { type, data }: SendMessage): Promise<void> {
    const send = this.#open.get(id)?.send;
    if (send == null) throw new TroupeError('INVALID_REQUEST', 'The WebSocket is not open; connect first');
    await send(type === 'text' ? data : Buffer.from(data, 'base64'));
  }
}
