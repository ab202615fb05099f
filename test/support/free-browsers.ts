import { EventEmitter, once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import type { BrowserLease, Driver, LeaseOptions, StartBounds } from '#troupe/containers/driver.js';

const Command = z.looseObject({ id: z.number(), method: z.string(), sessionId: z.string().optional() });

/** The least that is an answer; `{}` to every other command. */
const ANSWERS: { readonly [method: string]: object } = {
  'Browser.getVersion': { product: 'Free/1', userAgent: 'Free/1' },
  'Page.getFrameTree': { frameTree: { frame: { id: 'F', loaderId: 'L', url: 'about:blank' } } },
  'Page.createIsolatedWorld': { executionContextId: 1 },
  'Page.addScriptToEvaluateOnNewDocument': { identifier: '1' },
  'Runtime.evaluate': { result: { type: 'number', value: 1 } },
  'Target.attachToBrowserTarget': { sessionId: 'B' },
  'Target.createTarget': { targetId: 'T' },
};
const PAGE = { targetId: 'T', type: 'page', title: '', url: 'about:blank', attached: true };

/**
 * Browsers that cost nothing, for tests of what stands around them: a DevTools endpoint on a real WebSocket that has one
 * page and answers every command with the least that is an answer. Supervisor, journal, actors and scripts are the real
 * ones. A test can hold starts back, and end a browser.
 */
export class FreeBrowsers {
  /** What every browser's desktop is, where a test has one. */
  desktopSocket: string | undefined;
  /** A browser that starts crashes before anybody connects to it. */
  stillborn = false;
  /** Browsers that were asked for. */
  started = 0;
  /** Starts that were given up by who wanted them. */
  abandoned = 0;
  readonly driver: Driver = {
    name: 'process',
    browser: { product: 'Chromium 147.0.7727.56', form: 'headless' },
    offers: new Set(),
    lease: (options, bounds) => this.#lease(options, bounds),
    adopt: async () => null,
    sweep: async () => [],
  };
  readonly #server: WebSocketServer;
  readonly #living = new Map<string, { readonly sockets: Set<WebSocket>; end(reason: string): void }>();
  readonly #gate = new EventEmitter().setMaxListeners(0);
  #heldStarts: Promise<void> | null = null;

  static async open(t: { teardown(work: () => unknown): unknown }): Promise<FreeBrowsers> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
    await once(server, 'listening');
    const browsers = new FreeBrowsers(server);
    t.teardown(async () => {
      for (const socket of server.clients) socket.terminate();
      await new Promise((resolve) => server.close(resolve));
    });
    return browsers;
  }

  private constructor(server: WebSocketServer) {
    this.#server = server;
    server.on('connection', (socket, request) => this.#connected(socket, request.url ?? ''));
  }

  /** From now on no browser starts, until what is answered is called. */
  holdStarts(): () => void {
    const { promise, resolve } = withResolvers();
    this.#heldStarts = promise;
    return () => {
      this.#heldStarts = null;
      resolve();
    };
  }

  /** Settles when a start that is held back was asked for. */
  async startHeld(signal: AbortSignal): Promise<void> {
    await once(this.#gate, 'start', { signal });
  }

  /** Ends a session's browser, as if it had crashed. */
  lose(leaseId: string): void {
    this.#living.get(leaseId)?.end('it was killed');
  }

  async #lease({ leaseId }: LeaseOptions, { signal }: StartBounds): Promise<BrowserLease> {
    this.started += 1;
    if (this.#heldStarts !== null) await this.#startAllowed(this.#heldStarts, signal);
    const { port } = this.#server.address() as AddressInfo; // A server that listens on a port has an address of this kind.
    const { promise: exited, resolve } = withResolvers<{ readonly reason: string }>();
    const sockets = new Set<WebSocket>();
    const folder = mkdtempSync(join(tmpdir(), 'free-'));
    const folderOf = (name: string) => {
      mkdirSync(join(folder, name));
      return join(folder, name);
    };
    const end = (reason: string) => {
      this.#living.delete(leaseId);
      for (const socket of sockets) socket.terminate();
      rmSync(folder, { recursive: true, force: true });
      resolve({ reason });
    };
    this.#living.set(leaseId, { sockets, end });
    if (this.stillborn) queueMicrotask(() => end('it crashed'));
    return {
      identity: { driver: 'process', leaseId },
      endpoint: {
        product: 'Free/1',
        downloadsDir: folderOf('downloads'),
        uploadsDir: folderOf('uploads'),
        desktopSocket: this.desktopSocket,
      },
      exited,
      devTools: () => ({ kind: 'socket', url: `ws://127.0.0.1:${port}/devtools/browser/${leaseId}` }),
      permit: () => undefined,
      release: async () => end('it was released'),
    };
  }

  async #startAllowed(allowed: Promise<void>, signal: AbortSignal): Promise<void> {
    const given = once(signal, 'abort').then(() => {
      this.abandoned += 1;
      throw signal.reason;
    });
    given.catch(() => undefined);
    this.#gate.emit('start');
    signal.throwIfAborted();
    await Promise.race([allowed, given]);
  }

  #connected(socket: WebSocket, path: string): void {
    const browser = this.#living.get(path.split('/').at(-1) ?? '');
    if (browser === undefined) {
      socket.terminate();
      return;
    }
    browser.sockets.add(socket);
    // The page of each browser changes as often as its picture is taken.
    let pictures = 0;
    let drawing = false;
    const draw = () => {
      if (!drawing) return;
      pictures += 1;
      const jpeg = Buffer.alloc(4);
      jpeg.writeUInt32BE(pictures);
      const params = {
        data: jpeg.toString('base64'),
        metadata: { deviceWidth: 4, deviceHeight: 3 },
        sessionId: pictures,
      };
      send({ method: 'Page.screencastFrame', params, sessionId: 'S' });
    };
    const send = (message: object) => socket.send(JSON.stringify(message), () => undefined);
    socket.on('message', (data) => {
      const { id, method, sessionId } = Command.parse(JSON.parse(String(data)));
      if (method === 'Target.setAutoAttach' && sessionId === 'B') {
        const params = { sessionId: 'S', targetInfo: PAGE, waitingForDebugger: false };
        send({ method: 'Target.attachedToTarget', params, sessionId });
      }
      if (/^Page\.(startScreencast|stopScreencast|screencastFrameAck)$/.test(method)) {
        if (method !== 'Page.screencastFrameAck') drawing = method === 'Page.startScreencast';
        draw();
      }
      send({ id, result: ANSWERS[method] ?? {}, ...(sessionId === undefined ? {} : { sessionId }) });
    });
  }
}

function withResolvers<T = void>(): { readonly promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
