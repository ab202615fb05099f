import { setMaxListeners } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { transfer } from 'comlink';
import { boundedWait } from '../../base/deadline.js';
import { decodeError, TroupeError } from '../../protocol/errors.js';
import type { Outcome } from '../thread/playwright.thread.js';
import type { Reply, ThreadCall, ThreadExpect } from '../wire.js';
import { type Command, PausedRequests } from './paused-requests.js';
import { playwrightThread, type RunningThread, replaceIfStuck } from './playwright-thread.js';

/** Connecting takes 40 ms, and 0.5 s for the first session. */
const CONNECT_MS = 15_000;
const NO_SESSION = { code: -32_001, message: 'Session with given id not found.' };

/** A user's place on the session's DevTools connection. */
export interface DevToolsPlace {
  /** Returns false if the DevTools session is not this user's. */
  send(text: string, sessionId: string | undefined): boolean;
  close(): void;
}

/** Joins the session's DevTools connection with a browser session of its own. */
export type JoinDevTools = (
  user: { message(text: string): void; closed(reason: string): void },
  bounds: { readonly signal: AbortSignal; readonly deadlineMs: number },
) => Promise<DevToolsPlace>;

export interface CallBounds {
  readonly signal: AbortSignal;
  readonly ms: number;
}

/** What a session decides about its connection to Playwright. */
export interface LinkOwner {
  readonly join: JoinDevTools;
  /** Passes on what the browser says about downloads. */
  listen(event: (text: string) => void): () => void;
  /**
   * The connection is over. While this returns true, its rules of `route` stay in the browser, until
   * {@link PlaywrightLink.release}.
   */
  lingers(): boolean;
}

/**
 * A session's connection to Playwright. Over when {@link isOpen} is false; the session makes another one then. Rules of
 * `route` go with it when it is released.
 */
export class PlaywrightLink {
  readonly #thread: RunningThread;
  readonly #connection: number;
  readonly #over: AbortController;
  readonly #place: DevToolsPlace;
  readonly #paused: PausedRequests;
  readonly #release: () => void;

  static async open(owner: LinkOwner, signal: AbortSignal): Promise<PlaywrightLink> {
    const thread = playwrightThread();
    const { port1, port2 } = new MessageChannel();
    const over = new AbortController();
    setMaxListeners(0, over.signal);
    const end = (why?: unknown) =>
      over.abort(
        why instanceof TroupeError
          ? why
          : new TroupeError('SESSION_RESTARTED', 'Playwright was disconnected; try again'),
      );
    const threadEnded = () => end(thread.ended.reason);
    thread.ended.addEventListener('abort', threadEnded);
    const paused = new PausedRequests();
    const message = (text: string): void => {
      if (!paused.observe(text)) port1.postMessage(text);
    };
    const place = await owner.join({ message, closed: () => end() }, { signal, deadlineMs: CONNECT_MS });
    const stopListening = owner.listen((text) => port1.postMessage(text));
    port1.on('message', (text: string) => {
      const command: { id: number; sessionId?: string; method: string; params?: object } = JSON.parse(text);
      const { id, sessionId } = command;
      paused.answered(command);
      if (place.send(text, sessionId)) return;
      port1.postMessage(JSON.stringify({ id, sessionId, error: NO_SESSION }));
    });
    const release = () => {
      stopListening();
      port1.close();
      place.close();
    };
    over.signal.addEventListener('abort', () => {
      thread.ended.removeEventListener('abort', threadEnded);
      if (!owner.lingers()) release();
    });
    try {
      const connection = await settled(thread.calls.open(transfer(port2, [port2])), {
        signals: [signal, over.signal],
        ms: CONNECT_MS,
        late: () => new TroupeError('UNAVAILABLE', `Playwright did not connect within ${CONNECT_MS} ms`),
      });
      return new PlaywrightLink({ thread, connection, over, place, paused, release });
    } catch (error) {
      end();
      release();
      void replaceIfStuck(thread);
      throw error;
    }
  }

  private constructor(parts: {
    readonly thread: RunningThread;
    readonly connection: number;
    readonly over: AbortController;
    readonly place: DevToolsPlace;
    readonly paused: PausedRequests;
    readonly release: () => void;
  }) {
    this.#thread = parts.thread;
    this.#connection = parts.connection;
    this.#over = parts.over;
    this.#place = parts.place;
    this.#paused = parts.paused;
    this.#release = parts.release;
  }

  /** Aborted when the connection is over. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  get isOpen(): boolean {
    return !this.#over.signal.aborted;
  }

  call(call: ThreadCall, bounds: CallBounds): Promise<Reply> {
    return this.#ask(this.#thread.calls.call(this.#connection, call), bounds);
  }

  settle(ticket: number, bounds: CallBounds): Promise<Reply> {
    return this.#ask(this.#thread.calls.settle(this.#connection, ticket), bounds);
  }

  expect(call: ThreadExpect, bounds: CallBounds): Promise<void> {
    return this.#ask(this.#thread.calls.expect(this.#connection, call), bounds);
  }

  fresh(how: Pick<ThreadCall, 'targetId' | 'defaultMs'>, bounds: CallBounds): Promise<void> {
    return this.#ask(this.#thread.calls.fresh(this.#connection, how), bounds);
  }

  isSecret(call: ThreadCall, bounds: CallBounds): Promise<boolean> {
    return this.#ask(this.#thread.calls.isSecret(this.#connection, call), bounds);
  }

  /** Ends the connection, and releases it unless it lingers. Idempotent. */
  close(): void {
    this.#over.abort(new TroupeError('SESSION_RESTARTED', 'Playwright was disconnected; try again'));
  }

  /**
   * Disconnects: what Playwright still does for the session ends, and its settings in the browser. Requests that nobody
   * answers any more fail if `isRouted`, rather than reach what they should not; the others go on. Idempotent.
   */
  async release(isRouted?: (url: string) => Promise<boolean>): Promise<void> {
    this.close();
    const send = (command: Command) => this.#place.send(JSON.stringify(command), command.sessionId);
    await (isRouted === undefined ? this.#paused.continueAll(send) : this.#paused.answerAll(send, isRouted));
    this.#release();
    void this.#thread.calls.close(this.#connection);
  }

  isRouted(url: string, bounds: CallBounds): Promise<boolean> {
    return this.#ask(this.#thread.calls.isRouted(this.#connection, url), bounds);
  }

  /** A call that is cut off would go on in the page, so Playwright is disconnected then. */
  async #ask<T>(asked: Promise<Outcome<T>>, { signal, ms }: CallBounds): Promise<T> {
    let ended = false;
    const outcome = asked.then((value) => {
      ended = true;
      return value;
    });
    try {
      return await settled(outcome, {
        signals: [signal, this.#over.signal],
        ms,
        late: () => new TroupeError('WAIT_TIMEOUT', 'The page did not answer Playwright in time'),
      });
    } finally {
      if (!ended && this.isOpen) {
        this.close();
        void replaceIfStuck(this.#thread);
      }
    }
  }
}

/** The value of an outcome, or its error. */
async function settled<T>(
  asked: Promise<Outcome<T>>,
  { signals, ms, late }: { readonly signals: readonly AbortSignal[]; readonly ms: number; readonly late: () => Error },
): Promise<T> {
  asked.catch(() => undefined);
  const outcome = await boundedWait<Outcome<T>>(
    { signal: AbortSignal.any([...signals]), ms, late },
    (resolve, reject) => {
      asked.then(resolve, reject);
      return undefined;
    },
  );
  if (outcome.ok) return outcome.value;
  throw decodeError(outcome.error);
}
