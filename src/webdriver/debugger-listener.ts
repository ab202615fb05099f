import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import type { ClosedPorts } from '../net-policy/closed-ports.js';
import { TroupeError } from '../protocol/errors.js';
import { comesFrom } from './peer-process.js';

/** As much as the DevTools endpoint of a session takes. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** A chromedriver that leaves this much unread is disconnected. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
const BROWSER_PATH = '/devtools/browser/session';

/** The client's end of a connection to a session's browser. */
export interface DevToolsNear {
  send(message: Uint8Array, isText: boolean): void;
  end(code: number, reason: string): void;
}

/** The browser's end, behind the filter for DevTools clients. */
export interface DevToolsFar {
  start(near: DevToolsNear): Promise<void>;
  receive(message: Buffer, isText: boolean): void;
  close(): void;
}

export interface DebuggerOptions {
  /** The only process that may connect. */
  readonly pid: () => number | null;
  /** `Chromium 156.0.8078.73` */
  readonly product: string;
  readonly closedPorts: ClosedPorts;
  /** Makes the browser's end of a connection. */
  connect(): DevToolsFar;
}

/**
 * The DevTools address of a session's browser for one chromedriver: HTTP and a WebSocket on a port of 127.0.0.1.
 * Pages, scripts and webhooks cannot reach the port, and other processes are refused.
 */
export class DebuggerListener {
  readonly port: number;
  readonly #options: DebuggerOptions;
  readonly #http: Server;
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });

  private constructor(options: DebuggerOptions, http: Server, port: number) {
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
        if (isDriver && request.url === BROWSER_PATH) this.#upgrade(request, socket, head);
        else socket.destroy();
      });
    });
  }

  static async listen(options: DebuggerOptions): Promise<DebuggerListener> {
    const http = createServer();
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const address = http.address();
    if (address === null || typeof address === 'string') throw new TroupeError('INTERNAL', 'The listener has no port');
    // Until then nobody knows the port, and who connects is not the driver.
    options.closedPorts.add(address.port);
    return new DebuggerListener(options, http, address.port);
  }

  /** Cuts every connection. Idempotent. */
  async close(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#http.closeAllConnections();
    if (this.#http.listening) {
      this.#http.close();
      await once(this.#http, 'close');
      this.#options.closedPorts.delete(this.port);
    }
  }

  async #isDriver({ headers, socket }: IncomingMessage): Promise<boolean> {
    const pid = this.#options.pid();
    // chromedriver sends no Origin, and pages always do for a WebSocket.
    if (pid === null || headers.origin !== undefined || socket.remotePort === undefined) return false;
    if (!/^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(headers.host ?? '')) return false;
    return comesFrom(pid, socket.remotePort, this.port);
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
    this.#sockets.handleUpgrade(request, socket, head, (client) => this.#connected(client));
  }

  #connected(client: WebSocket): void {
    const far = this.#options.connect();
    let queued: { readonly message: Buffer; readonly isText: boolean }[] | null = [];
    const near: DevToolsNear = {
      send: (message, isText) => {
        client.send(message, { binary: !isText });
        if (client.bufferedAmount > MAX_UNREAD_BYTES) client.terminate();
      },
      end: (code, reason) => client.close(code, reason),
    };
    client.on('error', () => undefined);
    client.on('close', () => far.close());
    client.on('message', (data, isBinary) => {
      const message = bytesOf(data);
      if (queued === null) far.receive(message, !isBinary);
      // chromedriver waits for answers, so that few are queued.
      else queued.push({ message, isText: !isBinary });
    });
    far.start(near).then(
      () => {
        const early = queued ?? [];
        queued = null;
        for (const { message, isText } of early) far.receive(message, isText);
      },
      () => client.terminate(),
    );
  }
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
