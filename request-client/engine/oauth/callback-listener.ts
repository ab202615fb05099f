import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { assertNever } from '#troupe/base/assert-never.js';
import { plainLine } from '#troupe/base/plain-text.js';
import { escapeMarkup } from '#troupe/report/escape.js';
import { CALLBACK_PORTS } from '../../protocol/request-window.js';
import { loginFailed } from './login-failed.js';

/** The provider's answer to the callback. */
export type CallbackAnswer =
  | { readonly kind: 'code'; readonly code: string }
  /** The provider's reason, in one printable line. */
  | { readonly kind: 'error'; readonly error: string; readonly description: string }
  /** The browser came back with what is not the answer to this login; why, as a sentence without its end. */
  | { readonly kind: 'refused'; readonly reason: string };

export interface CallbackExpectation {
  readonly state: string;
  /** Accepted values of `iss` (RFC 9207). */
  readonly issuers: readonly string[];
}

const PROBE_MS = 500;
const TAKEN = new Set(['EADDRINUSE', 'EACCES']);

/** Of a form that is posted. */
const MAX_BODY_BYTES = 64 * 1024;
/** An answer has one of them. */
const ANSWERS = ['state', 'code', 'error'];
const MAX_STATES = 1000;
/** Of the logins of this process, to know their tabs again. */
const states = new Set<string>();

/**
 * The local end of a login: `http://127.0.0.1:<port>/callback`, on the first free port, for one answer. It comes as a query, as
 * a form (`response_mode=form_post`), or behind `#` (`fragment`), which a script of the page sends back as a query.
 *
 * An answer with the wrong `state` or `iss` is refused, and ends the login, too: nothing else will come. Any page in the
 * browser can do that, but it gains nothing by it. The wait continues after what is no answer: other paths, requests without
 * parameters, what a page loads or prefetches, and tabs of earlier logins. The owner closes it.
 */
export class CallbackListener {
  readonly redirectUri: string;
  /** Settles with the first answer, once the browser has its page. */
  readonly answer: Promise<CallbackAnswer>;
  readonly #server: Server;

  private constructor(server: Server, port: number, expected: CallbackExpectation) {
    this.#server = server;
    this.redirectUri = `http://127.0.0.1:${port}/callback`;
    this.answer = new Promise((resolve) => {
      server.on('request', (request: IncomingMessage, response: ServerResponse) => {
        void receive(request, response, expected).then(
          (answer) => answer !== null && resolve(answer),
          () => response.destroy(),
        );
      });
    });
    states.add(expected.state);
    for (const state of states) if (states.size > MAX_STATES) states.delete(state);
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
}

/** Answers the request. @returns what the login ends with; null if it is no answer */
async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  expected: CallbackExpectation,
): Promise<CallbackAnswer | null> {
  const [path, query = ''] = (request.url ?? '').split('?');
  const { method, headers } = request;
  if (path !== '/callback') return await ignore(response, 404, 'Not found.');
  if (method !== 'GET' && method !== 'POST') return await ignore(response, 405, 'Only GET and POST are supported.');
  const loaded = headers['sec-fetch-dest'] ?? 'document';
  if (loaded !== 'document' || headers['sec-purpose'] !== undefined) {
    return await ignore(response, 400, 'Only the login page leads here.');
  }
  const parameters = method === 'GET' ? new URLSearchParams(query) : await formOf(request);
  if (parameters === null) return await ignore(response, 415, 'This is not a form.');
  if (!ANSWERS.some((name) => parameters.has(name))) {
    return await ignore(response, 400, 'The login continues in the page of the provider.', 'fragment');
  }
  const state = parameters.get('state');
  if (state !== null && state !== expected.state && states.has(state)) {
    return await ignore(response, 400, 'This login has ended. Go back to the client and run the request again.');
  }
  const answer = answerIn(parameters, expected);
  switch (answer.kind) {
    case 'code':
      await page(response, 200, 'Logged in', 'The request continues. You can close this page.', 'close');
      break;
    case 'error':
      await page(response, 200, 'Not logged in', withDescription(answer));
      break;
    case 'refused':
      await page(response, 400, 'Not logged in', `${answer.reason}. Go back to the client and run the request again.`);
      break;
    default:
      assertNever(answer);
  }
  return answer;
}

/** What the provider says of its error. */
export function withDescription({ error, description }: CallbackAnswer & { readonly kind: 'error' }): string {
  return description === '' ? error : `${error}: ${description}`;
}

function answerIn(parameters: URLSearchParams, expected: CallbackExpectation): CallbackAnswer {
  const refused = (reason: string): CallbackAnswer => ({ kind: 'refused', reason });
  // RFC 6749, section 3.1: none is there twice.
  const twice = [...ANSWERS, 'iss'].find((name) => parameters.getAll(name).length > 1);
  if (twice !== undefined) return refused(`The provider's answer has the parameter '${twice}' twice`);
  const [state, issuer] = [parameters.get('state'), parameters.get('iss')];
  const [error, code] = [parameters.get('error') ?? '', parameters.get('code') ?? ''];
  if (state !== null && state !== expected.state) {
    return refused('The answer has a wrong state: it is that of another login, or the provider changes the state');
  }
  if (issuer !== null && !(URL.canParse(issuer) && expected.issuers.includes(new URL(issuer).origin))) {
    return refused(
      `The answer comes from the provider '${plainLine(issuer)}', which is neither that of the Authorization URL nor of the Access Token URL`,
    );
  }
  if (error !== '') {
    // Some providers leave the state out of their errors.
    return {
      kind: 'error',
      error: plainLine(error),
      description: plainLine(parameters.get('error_description') ?? ''),
    };
  }
  if (state === null) return refused("The provider's answer has no state");
  return code === '' ? refused("The provider's answer contains no code") : { kind: 'code', code };
}

/** The fields of a posted form; null if it is none. @throws if the connection breaks */
async function formOf(request: IncomingMessage): Promise<URLSearchParams | null> {
  const isForm = /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(request.headers['content-type'] ?? '');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return isForm ? new URLSearchParams(Buffer.concat(chunks).toString()) : null;
}

async function ignore(response: ServerResponse, status: number, text: string, script?: 'fragment'): Promise<null> {
  await page(response, status, 'Not accepted', text, script);
  return null;
}

const SCRIPTS = {
  close: 'window.close()',
  // The hash is gone after that.
  fragment: 'if (location.hash.length > 1) location.replace("/callback?" + location.hash.slice(1))',
};

/**
 * Settles when the page is written, or nobody takes it. Texts of the provider are escaped, and the page may run only its own
 * script.
 */
async function page(
  response: ServerResponse,
  status: number,
  title: string,
  text: string,
  script?: keyof typeof SCRIPTS,
): Promise<void> {
  const own = script === undefined ? '' : `<script nonce="own">${SCRIPTS[script]}</script>`;
  const written = new Promise<void>((resolve) => {
    response.once('finish', resolve);
    response.once('close', resolve);
  });
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy':
      "default-src 'none'; script-src 'nonce-own'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  });
  response.end(`<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeMarkup(title)}</title>
<body style="font: 1rem/1.5 system-ui, sans-serif; margin: 4rem auto; max-width: 32rem">
<h1>${escapeMarkup(title)}</h1><p>${escapeMarkup(text)}</p>${own}</body></html>`);
  await written;
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
