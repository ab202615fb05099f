import { once } from 'node:events';
import WebSocket, { type RawData } from 'ws';
import { z } from 'zod';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import type { DevTools } from '../../supervisor/doors.js';
import type { Sessions } from '../../supervisor/sessions.js';
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
/** What is in a protocol message that is not only passed on; most have neither. */
const TELLING = ['"Browser.', 'Page.setDownloadBehavior'].map((text) => Buffer.from(text));

const BrowserCommand = z.looseObject({
  id: z.number(),
  method: z.string(),
  params: z.looseObject({}).optional(),
  sessionId: z.string().optional(),
});
type BrowserCommand = z.infer<typeof BrowserCommand>;

/**
 * The browser of a session as Chrome's DevTools protocol, for Playwright (`connectOverCDP`), Puppeteer (`connect`) or any
 * other client, beside the service's own connection. In a job it takes control (`?control=KEY`). Closing the browser ends
 * a live session as DELETE does; downloads stay where the session has them.
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
  #socket: WebSocket | null = null;
  #near: NearEnd | null = null;
  /** The client has the browser closed: it is told so before its own end comes. */
  #isClosing = false;

  constructor(id: string, devTools: DevTools, sessions: Sessions) {
    this.#id = id;
    this.#devTools = devTools;
    this.#sessions = sessions;
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
    const command = isText ? browserCommand(message) : null;
    switch (command?.method) {
      case 'Browser.close':
        void this.#closeBrowser(command);
        return;
      case 'Browser.crash':
      case 'Browser.crashGpuProcess':
        this.#refuse(command, 'The browser of a session is not crashed on purpose');
        return;
      case 'Browser.setDownloadBehavior':
      case 'Page.setDownloadBehavior':
        this.#send(JSON.stringify(this.#withOwnDownloads(command)));
        return;
      default:
        this.#send(isText ? message.toString('utf8') : message);
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

  #send(message: string | Buffer): void {
    this.#socket?.send(message);
    if ((this.#socket?.bufferedAmount ?? 0) > MAX_UNREAD_BYTES) this.#near?.end(FAILED, 'The browser does not answer');
  }

  #endWithBrowser(): void {
    if (this.#isClosing || this.#socket?.readyState === WebSocket.OPEN) return;
    this.#near?.end(NORMAL, 'The browser is gone');
  }

  /** A client that is done ends its session, in the session's own order; a job is not its to end. */
  async #closeBrowser(command: BrowserCommand): Promise<void> {
    try {
      const { mode } = await this.#sessions.get(this.#id);
      if (mode === 'auto') {
        this.#refuse(command, 'The session works for a job; DELETE it to stop it');
        return;
      }
      this.#isClosing = true;
      await this.#sessions.remove(this.#id, false);
      this.#answer(command, { result: {} });
      this.#near?.end(NORMAL, 'The session has ended');
    } catch (error) {
      this.#refuse(command, encodeError(error).error);
      this.#isClosing = false;
      this.#endWithBrowser();
    }
  }

  /** The session's files are listed and kept from its own folder; under names of their own none replaces another. */
  #withOwnDownloads(command: BrowserCommand): BrowserCommand {
    const { browserContextId, eventsEnabled } = command.params ?? {};
    const params = { behavior: 'allowAndName', downloadPath: this.#devTools.downloadsDir, eventsEnabled };
    if (command.method === 'Page.setDownloadBehavior')
      return { ...command, method: 'Browser.setDownloadBehavior', params, sessionId: undefined };
    return { ...command, params: browserContextId === undefined ? params : { ...params, browserContextId } };
  }

  #refuse(command: BrowserCommand, message: string): void {
    // The code of a server's own errors in JSON-RPC, as Chromium uses it.
    this.#answer(command, { error: { code: -32_000, message } });
  }

  #answer({ id, sessionId }: BrowserCommand, outcome: object): void {
    const answer = { id, ...(sessionId === undefined ? {} : { sessionId }), ...outcome };
    this.#near?.send(Buffer.from(JSON.stringify(answer)), true);
  }
}

/** Null for every other message, and for what the browser itself will refuse. */
function browserCommand(message: Buffer): BrowserCommand | null {
  if (!TELLING.some((text) => message.includes(text))) return null;
  try {
    return BrowserCommand.parse(JSON.parse(message.toString('utf8')));
  } catch {
    return null;
  }
}
