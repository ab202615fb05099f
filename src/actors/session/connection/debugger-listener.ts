import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { assertNever } from '../../../base/assert-never.js';
import { TroupeError } from '../../../protocol/errors.js';
import { DevToolsFilter, writeRefusal } from '../filter/devtools-filter.js';
import type { SessionFolders } from '../filter/devtools-params.js';
import { type DevToolsChannel, type DevToolsLink, withoutSession } from './devtools-channel.js';
import { comesFrom } from './peer-process.js';

/** As much as the DevTools endpoint of a session takes. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** A chromedriver that leaves this much unread is disconnected. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
/** A browser that leaves more bytes than this unread is considered dead. */
const MAX_UNSENT_BYTES = 128 * 1024 * 1024;
/** chromedriver has one, and another one for a moment. */
const MAX_CLIENTS = 8;
const CONNECT_MS = 5_000;
const BROWSER_PATH = '/devtools/browser/session';

export interface DebuggerOptions {
  /** The only process that may connect. */
  readonly pid: number;
  /** `Chromium 156.0.8078.73` */
  readonly product: string;
  readonly folders: SessionFolders;
}

/**
 * The DevTools address of a session's browser for one chromedriver: HTTP and a WebSocket on a port of 127.0.0.1, behind
 * the filter for DevTools clients. It is on the thread of the session, since a click of chromedriver is fifty commands
 * that wait for one another. Other processes than the chromedriver are refused.
 */
export class DebuggerListener {
  readonly port: number;
  readonly #options: DebuggerOptions;
  readonly #channel: DevToolsChannel;
  readonly #http: Server;
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
  #closed = false;

  private constructor(channel: DevToolsChannel, options: DebuggerOptions, http: Server, port: number) {
    this.#channel = channel;
    this.#options = options;
    this.#http = http;
    this.port = port;
    http.on('request', (request, response) => {
      void this.#isDriver(request).then((isDriver) => {
        const body = isDriver ? this.#answer(request.url ?? '') : null;
        response.writeHead(body === null ? 404 : 200, { 'content-type': 'application/json' });
        response.end(body === null ? '{}' : JSON.stringify(body));
      });
    });
    http.on('upgrade', (request, socket, head) => {
      socket.on('error', () => undefined);
      void this.#isDriver(request).then((isDriver) => {
        const isFull = this.#sockets.clients.size >= MAX_CLIENTS;
        if (isDriver && !isFull && !this.#closed && request.url === BROWSER_PATH) this.#upgrade(request, socket, head);
        else socket.destroy();
      });
    });
  }

  static async listen(channel: DevToolsChannel, options: DebuggerOptions): Promise<DebuggerListener> {
    const http = createServer();
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const address = http.address();
    if (address === null || typeof address === 'string') throw new TroupeError('INTERNAL', 'The listener has no port');
    return new DebuggerListener(channel, options, http, address.port);
  }

  /** Cuts every connection. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#http.closeAllConnections();
    if (this.#http.listening) {
      this.#http.close();
      await once(this.#http, 'close');
    }
  }

  async #isDriver({ headers, socket }: IncomingMessage): Promise<boolean> {
    // chromedriver sends no Origin, and pages always do for a WebSocket.
    if (headers.origin !== undefined || socket.remotePort === undefined) return false;
    if (!/^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(headers.host ?? '')) return false;
    return comesFrom(this.#options.pid, socket.remotePort, this.port);
  }

  #answer(path: string): unknown {
    const url = `ws://127.0.0.1:${this.port}${BROWSER_PATH}`;
    if (/^\/json\/version\/?$/.test(path)) {
      return {
        Browser: `Chrome/${/[\d.]+$/.exec(this.#options.product)?.[0] ?? ''}`,
        'Protocol-Version': '1.3',
        'WebKit-Version': '537.36 (@0000000000000000000000000000000000000000)',
        webSocketDebuggerUrl: url,
      };
    }
    // chromedriver waits until there is a page, and then asks the browser itself for its pages.
    if (/^\/json(?:\/list)?\/?$/.test(path)) {
      return [{ id: 'page', type: 'page', title: '', url: 'about:blank', webSocketDebuggerUrl: url }];
    }
    return null;
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#sockets.handleUpgrade(request, socket, head, (client) => void this.#connected(client));
  }

  async #connected(client: WebSocket): Promise<void> {
    const left = new AbortController();
    let link: DevToolsLink | null = null;
    // chromedriver waits for answers, so that few are queued.
    const early: { readonly message: Buffer; readonly isText: boolean }[] = [];
    const filter = new DevToolsFilter(this.#options.folders);
    client.on('error', () => undefined);
    client.on('close', () => {
      left.abort(new TroupeError('SESSION_ENDED', 'The client has disconnected'));
      link?.close();
    });
    client.on('message', (data, isBinary) => {
      const message = bytesOf(data);
      if (link === null) early.push({ message, isText: !isBinary });
      else this.#pass(filter, message, !isBinary, client, link);
    });
    const user = {
      message: (text: string) => send(client, text),
      closed: (reason: string) => client.close(1000, reason.slice(0, 100)),
    };
    try {
      const joined = await this.#channel.join(user, { signal: left.signal, deadlineMs: CONNECT_MS });
      if (left.signal.aborted) {
        joined.close();
        return;
      }
      link = joined;
      for (const { message, isText } of early) this.#pass(filter, message, isText, client, joined);
    } catch {
      client.terminate();
    }
  }

  #pass(filter: DevToolsFilter, message: Buffer, isText: boolean, client: WebSocket, link: DevToolsLink): void {
    const verdict = filter.judge(message, isText);
    switch (verdict.kind) {
      case 'forward':
        if (this.#channel.unsentBytes > MAX_UNSENT_BYTES) client.terminate();
        else if (!link.send(verdict.text, verdict.sessionId)) send(client, withoutSession(verdict.text));
        return;
      case 'answer':
        send(client, verdict.text);
        return;
      case 'close':
        send(client, writeRefusal(verdict.command, 'The browser closes with its session: DELETE the session'));
        return;
      default:
        assertNever(verdict);
    }
  }
}

function send(client: WebSocket, text: string): void {
  client.send(text);
  if (client.bufferedAmount > MAX_UNREAD_BYTES) client.terminate();
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
