import { type CommandRef, writeAnswer } from '../../actors/session/filter/devtools-command.js';
import { DevToolsFilter, writeRefusal } from '../../actors/session/filter/devtools-filter.js';
import { assertNever } from '../../base/assert-never.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import type { DevTools, DevToolsClient } from '../../supervisor/ports/connections.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import type { FarEnd, NearEnd, TunnelKind } from './tunnel-server.js';

/** An uploaded file comes in one message. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** Code of RFC 6455, section 7.4.1. */
const NORMAL = 1000;

/**
 * The browser of a session over Chrome's DevTools protocol, for Playwright (`connectOverCDP`), Puppeteer (`connect`) or
 * any other client. It uses the session's own connection, so it ends when the session's actor restarts. For a job it
 * takes control (`?control=KEY`). Closing the browser ends a live session as DELETE does. {@link DevToolsFilter}
 * decides what a client may do.
 */
export const DEVTOOLS: TunnelKind = {
  path: '/sessions/:id/cdp',
  role: 'run',
  shared: false,
  maxMessageBytes: MAX_MESSAGE_BYTES,
  open({ id, query }, sessions) {
    return new DevToolsTunnel(id, sessions.connections.devTools(id, query.get('control') ?? undefined), sessions);
  },
};

/** The far end of a DevTools connection to a live session. @throws SESSION_ENDED */
export function devToolsOf(id: string, sessions: Sessions): FarEnd {
  return new DevToolsTunnel(id, sessions.connections.devTools(id, undefined), sessions);
}

class DevToolsTunnel implements FarEnd {
  readonly #id: string;
  readonly #devTools: DevTools;
  readonly #sessions: Sessions;
  readonly #filter: DevToolsFilter;
  #client: DevToolsClient | null = null;
  #near: NearEnd | null = null;
  readonly #closed = new AbortController();
  /** Settles when the client takes more messages. */
  #clientReady: Promise<void> = Promise.resolve();
  #resume: () => void = () => undefined;
  /** The client closes the browser: it gets the answer before the connection ends. */
  #isClosing = false;

  constructor(id: string, devTools: DevTools, sessions: Sessions) {
    this.#id = id;
    this.#devTools = devTools;
    this.#sessions = sessions;
    this.#filter = new DevToolsFilter({ id, downloadsDir: devTools.downloadsDir, uploadsDir: devTools.uploadsDir });
  }

  async start(near: NearEnd): Promise<void> {
    this.#near = near;
    this.#client = await this.#devTools.connect();
    if (this.#closed.signal.aborted) this.#client.close();
    else void this.#forward(this.#client, near);
  }

  receive(message: Buffer, isText: boolean): void {
    this.#sessions.connections.touch(this.#id);
    const verdict = this.#filter.judge(message, isText);
    switch (verdict.kind) {
      case 'forward':
        this.#client?.send(verdict.text, verdict.sessionId);
        return;
      case 'answer':
        this.#answer(verdict.text);
        return;
      case 'close':
        void this.#closeBrowser(verdict.command);
        return;
      default:
        assertNever(verdict);
    }
  }

  pause(): void {
    this.#clientReady = new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  resume(): void {
    this.#resume();
  }

  close(): void {
    this.#closed.abort(new TroupeError('SESSION_ENDED', 'The client has disconnected'));
    this.#resume();
    this.#client?.close();
  }

  /**
   * Messages that a client does not take are queued at the session, which closes the connection if there are too many.
   */
  async #forward(client: DevToolsClient, near: NearEnd): Promise<void> {
    let over: string | null = null;
    try {
      while (over === null && !this.#closed.signal.aborted) {
        const batch = await client.next(this.#closed.signal);
        for (const message of batch.messages) {
          await this.#clientReady;
          near.send(Buffer.from(message), true);
        }
        over = batch.endReason;
      }
    } catch (error) {
      over = encodeError(error).error;
    }
    if (!this.#isClosing) near.end(NORMAL, (over ?? '').slice(0, 100));
  }

  /** Ends a live session, in the session's own order. A job must not be ended by its client. */
  async #closeBrowser(command: CommandRef): Promise<void> {
    try {
      const { mode } = await this.#sessions.get(this.#id);
      if (mode === 'auto') {
        this.#answer(writeRefusal(command, 'The session belongs to a job; DELETE the job to stop it'));
        return;
      }
      this.#isClosing = true;
      await this.#sessions.remove(this.#id, false);
      this.#answer(writeAnswer(command, { result: {} }));
      this.#near?.end(NORMAL, 'The session has ended');
    } catch (error) {
      this.#answer(writeRefusal(command, encodeError(error).error));
      this.#isClosing = false;
    }
  }

  #answer(text: string): void {
    this.#near?.send(Buffer.from(text), true);
  }
}
