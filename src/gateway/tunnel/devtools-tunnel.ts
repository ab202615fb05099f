import { once } from 'node:events';
import WebSocket, { type RawData } from 'ws';
import { assertNever } from '../../protocol/assert-never.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import type { DevTools } from '../../supervisor/doors.js';
import type { Sessions } from '../../supervisor/sessions.js';
import { type CommandRef, writeAnswer } from './devtools-command.js';
import { DevToolsFilter, writeRefusal } from './devtools-filter.js';
import type { FarEnd, NearEnd, TunnelKind } from './tunnel-server.js';

const CONNECT_MS = 5_000;
/** Files that a test uploads come in one message. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const MAX_ANSWER_BYTES = 128 * 1024 * 1024;
/** A browser that leaves so much of a client's words unread does not live any more. */
const MAX_UNREAD_BYTES = 2 * MAX_MESSAGE_BYTES;
/** Codes of RFC 6455, section 7.4.1. */
const NORMAL = 1000;
const FAILED = 1011;

/**
 * The browser of a session as Chrome's DevTools protocol, for Playwright (`connectOverCDP`), Puppeteer (`connect`) or any
 * other client, beside the service's own connection. In a job it takes control (`?control=KEY`). Closing the browser ends
 * a live session as DELETE does. What a client may have the browser do is decided by {@link DevToolsFilter}.
 */
export const DEVTOOLS: TunnelKind = {
  path: '/sessions/:id/cdp',
  role: 'run',
  shared: false,
  maxMessageBytes: MAX_MESSAGE_BYTES,
  open({ id, query }, sessions) {
    return new DevToolsTunnel(id, sessions.doors.devTools(id, query.get('control') ?? undefined), sessions);
  },
};

class DevToolsTunnel implements FarEnd {
  readonly #id: string;
  readonly #devTools: DevTools;
  readonly #sessions: Sessions;
  readonly #filter: DevToolsFilter;
  #socket: WebSocket | null = null;
  #near: NearEnd | null = null;
  /** The client has the browser closed: it is told so before its own end comes. */
  #isClosing = false;

  constructor(id: string, devTools: DevTools, sessions: Sessions) {
    this.#id = id;
    this.#devTools = devTools;
    this.#sessions = sessions;
    this.#filter = new DevToolsFilter({ id, downloadsDir: devTools.downloadsDir, uploadsDir: devTools.uploadsDir });
  }

  async start(near: NearEnd): Promise<void> {
    this.#near = near;
    const socket = new WebSocket(this.#devTools.url, {
      perMessageDeflate: false,
      maxPayload: MAX_ANSWER_BYTES,
      handshakeTimeout: CONNECT_MS,
    });
    this.#socket = socket;
    // What comes after it, `close`, says the same.
    socket.on('error', () => undefined);
    try {
      await once(socket, 'open');
    } catch (cause) {
      socket.terminate();
      throw new TroupeError('WORKER_LOST', 'The browser of the session does not answer', undefined, { cause });
    }
    socket.on('message', (data: RawData, isBinary) => {
      if (Buffer.isBuffer(data)) near.send(data, !isBinary);
    });
    socket.on('close', () => this.#endWithBrowser());
    this.#endWithBrowser();
  }

  receive(message: Buffer, isText: boolean): void {
    this.#sessions.doors.touch(this.#id);
    const verdict = this.#filter.judge(message, isText);
    switch (verdict.kind) {
      case 'forward':
        this.#send(verdict.text);
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
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  close(): void {
    this.#socket?.terminate();
  }

  #send(message: string): void {
    this.#socket?.send(message);
    if ((this.#socket?.bufferedAmount ?? 0) > MAX_UNREAD_BYTES) this.#near?.end(FAILED, 'The browser does not answer');
  }

  #endWithBrowser(): void {
    if (this.#isClosing || this.#socket?.readyState === WebSocket.OPEN) return;
    this.#near?.end(NORMAL, 'The browser is gone');
  }

  /** A client that is done ends its session, in the session's own order; a job is not its to end. */
  async #closeBrowser(command: CommandRef): Promise<void> {
    try {
      const { mode } = await this.#sessions.get(this.#id);
      if (mode === 'auto') {
        this.#answer(writeRefusal(command, 'The session works for a job; DELETE it to stop it'));
        return;
      }
      this.#isClosing = true;
      await this.#sessions.remove(this.#id);
      this.#answer(writeAnswer(command, { result: {} }));
      this.#near?.end(NORMAL, 'The session has ended');
    } catch (error) {
      this.#answer(writeRefusal(command, encodeError(error).error));
      this.#isClosing = false;
      this.#endWithBrowser();
    }
  }

  #answer(text: string): void {
    this.#near?.send(Buffer.from(text), true);
  }
}
