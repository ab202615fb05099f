import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { BuiltPage } from '#troupe/pages/built-page.js';
import { ERROR_TABLE, type ErrorCode, encodeError, TroupeError } from '#troupe/protocol/errors.js';
import { EnterWindow, type ProgressLine } from '../protocol/request-window.js';
import { checked } from './checked.js';
import { sendBody } from './send-body.js';
import { WINDOW_ROUTES } from './window-routes.js';
import type { Workspace } from './workspace.js';

export interface WindowServerOptions {
  readonly workspace: Workspace;
  /** The initial folder of the file dialogs. */
  readonly folder: string;
  /** 0 chooses a free port. */
  readonly port: number;
}

const MAX_BODY_BYTES = 64 * 1024 * 1024;
const RESPONSE_BODY = /^\/api\/history\/(s\d+)\/body$/;

/**
 * Serves the window on 127.0.0.1. The page itself is public on this machine and contains nothing; every other request
 * needs the secret of this start. The page gets the secret for the key after the `#` of its URL: that part is never
 * sent over the network, and other origins cannot read it. {@link quit} settles when the page asks to quit.
 */
export class WindowServer {
  /** The URL for people, with a key that is valid until the end. */
  readonly url: string;
  readonly quit: Promise<void>;
  readonly #server: Server;
  readonly #options: WindowServerOptions;
  readonly #origins: readonly string[];
  readonly #secret = randomBytes(32).toString('base64url');
  readonly #key = randomBytes(32).toString('base64url');
  /** Each key opens the window once. */
  readonly #onceKeys = new Set<string>();
  readonly #page = new BuiltPage(fileURLToPath(new URL('../../web/request-client', import.meta.url)));
  #onQuit: () => void = () => undefined;

  private constructor(server: Server, options: WindowServerOptions) {
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    this.#server = server;
    this.#options = options;
    this.#origins = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
    this.url = `${this.#origins[0]}/#${this.#key}`;
    this.quit = new Promise((resolve) => {
      this.#onQuit = resolve;
    });
    server.on('request', (request, response) => void this.#serve(request, response));
  }

  /** @throws UNAVAILABLE if the port is in use */
  static async start(options: WindowServerOptions): Promise<WindowServer> {
    const server = createServer({ requestTimeout: 60_000 });
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => {
        reject(
          new TroupeError(
            'UNAVAILABLE',
            `The port ${options.port} cannot be used: ${error.message}; choose another one`,
          ),
        );
      });
      server.listen({ port: options.port, host: '127.0.0.1', exclusive: true }, resolve);
    });
    return new WindowServer(server, options);
  }

  /** A URL that works once: command lines of programs are visible to all users of this machine. */
  openingUrl(): string {
    const key = randomBytes(32).toString('base64url');
    this.#onceKeys.add(key);
    return `${this.#origins[0]}/#${key}`;
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Referrer-Policy', 'no-referrer');
    try {
      this.#checkOrigin(request);
      const [path = '/'] = (request.url ?? '/').split('?');
      if (path.startsWith('/api/')) await this.#serveCall(path, request, response);
      else this.#servePage(path, request, response);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else fail(response, error);
    }
  }

  /** Rejects pages of another origin, and foreign names that resolve to this machine. */
  #checkOrigin({ headers: { host, origin } }: IncomingMessage): void {
    if (!this.#origins.includes(`http://${host}`) || (origin !== undefined && !this.#origins.includes(origin))) {
      throw new TroupeError('FORBIDDEN_ORIGIN', 'Only the page of this request client may send requests here');
    }
  }

  #servePage(path: string, request: IncomingMessage, response: ServerResponse): void {
    if (request.method !== 'GET' && request.method !== 'HEAD') throw refusedMethod();
    const file = this.#page.find(path === '/' ? 'index.html' : path.slice(1));
    if (file === undefined) throw new TroupeError('NOT_FOUND', `There is no ${path}`);
    // The editor creates its style sheets at run time.
    const nonce = randomBytes(16).toString('base64url');
    response.setHeader('Content-Type', file.contentType);
    response.setHeader('Content-Security-Policy', policy(nonce));
    response.setHeader('Cache-Control', file.immutable ? 'public, max-age=31536000, immutable' : 'no-store');
    const body = path === '/' ? file.plain.toString('utf8').replace('style-nonce-of-this-start', nonce) : file.plain;
    response.end(request.method === 'HEAD' ? undefined : body);
  }

  async #serveCall(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (path === '/api/enter' && request.method === 'POST') {
      const { key } = checked(EnterWindow, await bodyOf(request));
      if (!isSame(key, this.#key) && !this.#onceKeys.delete(key)) throw unknown();
      return json(response, { secret: this.#secret });
    }
    if (!isSame(/^Bearer (.+)$/s.exec(request.headers.authorization ?? '')?.[1] ?? '', this.#secret)) throw unknown();
    if (path === '/api/quit' && request.method === 'POST') {
      this.#options.workspace.discardDraft();
      response.once('finish', () => this.#onQuit());
      return json(response, {});
    }
    const { workspace, folder } = this.#options;
    const [, sentId] = RESPONSE_BODY.exec(path) ?? [];
    if (sentId !== undefined) return await sendBody(workspace.history.answers.response(sentId), response);
    const routes = WINDOW_ROUTES.filter((route) => route.path.test(path));
    const route = routes.find(({ method }) => method === request.method);
    if (route === undefined)
      throw routes.length > 0 ? refusedMethod() : new TroupeError('NOT_FOUND', `There is no ${path}`);
    const [, ...params] = route.path.exec(path) ?? [];
    const call = { workspace, folder, params, body: await bodyOf(request) };
    if ('answer' in route) return json(response, await route.answer(call));
    const left = new AbortController();
    response.once('close', () =>
      left.abort(new TroupeError('UNAVAILABLE', 'The window no longer waits for the response')),
    );
    const report = (line: ProgressLine): void => {
      if (!response.headersSent) response.setHeader('Content-Type', 'application/x-ndjson');
      response.write(`${JSON.stringify(line)}\n`);
    };
    await route.follow(call, report, left.signal);
    response.end();
  }
}

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function unknown(): TroupeError {
  return new TroupeError('UNAUTHORIZED', 'Open the window with the URL in the terminal');
}

function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new TroupeError('BODY_TOO_LARGE', `More than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new TroupeError('INVALID_JSON', 'The body is not valid JSON');
  }
}

function json(response: ServerResponse, value: unknown): void {
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Cache-Control', 'no-store');
  response.end(JSON.stringify(value));
}

function fail(response: ServerResponse, error: unknown): void {
  const body = encodeError(error);
  const code: ErrorCode = body.code;
  response.statusCode = ERROR_TABLE[code].status;
  json(response, body);
}

function refusedMethod(): TroupeError {
  return new TroupeError('METHOD_NOT_ALLOWED', 'The route does not support this method');
}
