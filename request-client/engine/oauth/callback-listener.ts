import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { escapeMarkup } from '#troupe/report/escape.js';
import { CALLBACK_PORTS } from '../../protocol/request-window.js';
import { loginFailed } from './login-failed.js';

/** The provider's answer to the callback. */
export type CallbackAnswer =
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'error'; readonly error: string; readonly description: string };

export interface CallbackExpectation {
  readonly state: string;
  /** Accepted values of `iss` (RFC 9207). */
  readonly issuers: readonly string[];
}

const PROBE_MS = 500;
const TAKEN = new Set(['EADDRINUSE', 'EACCES']);

/**
 * The local end of a login: `http://127.0.0.1:<port>/callback`, on the first free port, for one answer. A request
 * without the right `state` is rejected, and the wait continues: any page in the browser can call this URL. The owner
 * closes it.
 */
export class CallbackListener {
  readonly redirectUri: string;
  /** Settles with the first answer with the right state. */
  readonly answer: Promise<CallbackAnswer>;
  readonly #server: Server;

  private constructor(server: Server, port: number, expected: CallbackExpectation) {
    this.#server = server;
    this.redirectUri = `http://127.0.0.1:${port}/callback`;
    this.answer = new Promise((resolve) => {
      server.on('request', (request: IncomingMessage, response: ServerResponse) => {
        const answer = this.#read(request, response, expected);
        if (answer !== null) resolve(answer);
      });
    });
  }

  /** @throws LOGIN_FAILED with PORTS_TAKEN */
  static async open(
    expected: CallbackExpectation,
    ports: readonly number[] = CALLBACK_PORTS,
  ): Promise<CallbackListener> {
    for (const port of ports) {
      // On some systems 127.0.0.1 can be bound beside a server on 0.0.0.0, which a browser would then reach instead.
      if (await answers(port)) continue;
      const server = await listen(port);
      if (server !== null) return new CallbackListener(server, port, expected);
    }
    throw loginFailed(
      'PORTS_TAKEN',
      `all four callback ports are in use (${ports.join(', ')}); free one of them, or restart the client`,
    );
  }

  /** Idempotent. */
  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #read(request: IncomingMessage, response: ServerResponse, expected: CallbackExpectation): CallbackAnswer | null {
    const [path, query = ''] = (request.url ?? '').split('?');
    if (path !== '/callback') return refuse(response, 404, 'Not found');
    if (request.method !== 'GET') return refuse(response, 405, 'Only GET is supported');
    const parameters = new URLSearchParams(query);
    if (parameters.get('state') !== expected.state) {
      return refuse(
        response,
        400,
        'This login was not started here, or has ended. Go back to the client and run the request again.',
      );
    }
    const issuer = parameters.get('iss');
    if (issuer !== null && !(URL.canParse(issuer) && expected.issuers.includes(new URL(issuer).origin))) {
      return refuse(
        response,
        400,
        'The answer comes from a different provider than the login. Check the settings and run the request again.',
      );
    }
    const error = parameters.get('error');
    if (error !== null) {
      const description = parameters.get('error_description') ?? '';
      page(response, 200, 'Not logged in', `${error}${description === '' ? '' : `: ${description}`}`);
      return { kind: 'error', error, description };
    }
    const code = parameters.get('code');
    if (code === null || code === '')
      return refuse(response, 400, 'The answer contains no code. Run the request again.');
    page(response, 200, 'Logged in', 'The request continues. You can close this page.');
    return { kind: 'code', code };
  }
}

function refuse(response: ServerResponse, status: number, text: string): null {
  page(response, status, 'Not accepted', text);
  return null;
}

/** Texts of the provider are escaped, and the page may run only its own script. */
function page(response: ServerResponse, status: number, title: string, text: string): void {
  const close = status === 200 && title === 'Logged in' ? '<script nonce="close">window.close()</script>' : '';
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy':
      "default-src 'none'; script-src 'nonce-close'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  });
  response.end(`<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeMarkup(title)}</title>
<body style="font: 1rem/1.5 system-ui, sans-serif; margin: 4rem auto; max-width: 32rem">
<h1>${escapeMarkup(title)}</h1><p>${escapeMarkup(text)}</p>${close}</body></html>`);
}

function listen(port: number): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer({ maxHeaderSize: 16 * 1024, requestTimeout: 10_000 });
    server.once('error', (error) => {
      if (TAKEN.has(String(Reflect.get(error, 'code')))) resolve(null);
      else reject(error);
    });
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server));
  });
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: PROBE_MS });
    const end = (taken: boolean) => () => {
      socket.destroy();
      resolve(taken);
    };
    socket.once('connect', end(true));
    socket.once('timeout', end(true));
    socket.once('error', end(false));
  });
}
