import { expectation } from './expect.js';

/** The host's description of an answer. */
export interface ResponseState {
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  /** Null if the body is too large for a script. */
  readonly text: string | null;
  readonly bytes: number;
  readonly durationMs: number;
}

function textOf({ text, bytes }: ResponseState): string {
  if (text === null) throw new Error(`The body of ${bytes} bytes is too large for a script`);
  return text;
}

function jsonOf(state: ResponseState): unknown {
  const text = textOf(state);
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw new Error(`The answer (${state.status}) is not JSON: ${text.slice(0, 100)}`);
  }
}

function headerOf({ headers }: ResponseState, name: unknown): string | undefined {
  const lower = String(name).toLowerCase();
  const values = headers.filter((header) => header.name.toLowerCase() === lower).map(({ value }) => value);
  return values.length === 0 ? undefined : values.join(', ');
}

/** The global `response`: status, headers by lower-case name, and the body, parsed if it is JSON. */
export function plainResponse(state: ResponseState): object {
  const headers: Record<string, string> = {};
  for (const { name } of state.headers) headers[name.toLowerCase()] = headerOf(state, name) ?? '';
  let body: unknown = state.text;
  if (/\bjson\b/i.test(headers['content-type'] ?? '') && state.text !== null) {
    try {
      body = JSON.parse(state.text);
    } catch {
      // The body stays text.
    }
  }
  const { status, statusText, url, text, bytes, durationMs } = state;
  return { status, statusText, url, headers, body, text, bytes, durationMs, json: () => jsonOf(state) };
}

/** `pm.response`. */
export function postmanResponse(state: ResponseState): object {
  const headers = {
    get: (name: unknown) => headerOf(state, name),
    has: (name: unknown) => headerOf(state, name) !== undefined,
    all: () => state.headers.map(({ name, value }) => ({ key: name, value })),
    each: (visit: (header: object) => void): void => {
      for (const { name, value } of state.headers) visit({ key: name, value });
    },
    toObject: () => Object.fromEntries(state.headers.map(({ name, value }) => [name, value])),
  };
  const response = {
    code: state.status,
    status: state.statusText,
    headers,
    responseTime: Math.round(state.durationMs),
    responseSize: state.bytes,
    text: () => textOf(state),
    json: () => jsonOf(state),
    reason: () => state.statusText,
  };
  const chain = (): object =>
    expectation(response, undefined, (check, _subject, link) => {
      const read = (look: () => void): PropertyDescriptor => ({
        get: () => {
          look();
          return link;
        },
      });
      const between = (low: number, high: number, word: string): PropertyDescriptor =>
        read(() => check(state.status >= low && state.status <= high, `be ${word}, but its status is ${state.status}`));
      const method = (value: (...args: unknown[]) => void): PropertyDescriptor => ({
        value: (...args: unknown[]) => {
          value(...args);
          return link;
        },
      });
      return {
        status: method((wanted) => {
          const own = typeof wanted === 'number' ? state.status : state.statusText;
          check(own === wanted, `have status ${String(wanted)}, but it is ${String(own)}`);
        }),
        header: method((name, ...wanted) => {
          const value = headerOf(state, name);
          const same = wanted.length === 0 || value === String(wanted[0]);
          check(
            value !== undefined && same,
            `have header ${String(name)}${wanted.length === 0 ? '' : ` of ${String(wanted[0])}`}, but it is ${String(value)}`,
          );
        }),
        body: method((...wanted) => {
          const text = textOf(state);
          const [first] = wanted;
          const same =
            first instanceof RegExp ? first.test(text) : wanted.length === 0 ? text !== '' : text === String(first);
          check(same, `have body ${String(first)}`);
        }),
        jsonBody: method((...wanted) => {
          const json = jsonOf(state);
          check(wanted.length === 0 || JSON.stringify(json) === JSON.stringify(wanted[0]), 'have that JSON body');
        }),
        ok: between(200, 200, 'ok'),
        success: between(200, 299, 'a success'),
        redirection: between(300, 399, 'a redirection'),
        clientError: between(400, 499, 'a client error'),
        serverError: between(500, 599, 'a server error'),
        error: between(400, 599, 'an error'),
        accepted: between(202, 202, 'accepted'),
        badRequest: between(400, 400, 'a bad request'),
        unauthorized: between(401, 401, 'unauthorized'),
        forbidden: between(403, 403, 'forbidden'),
        notFound: between(404, 404, 'not found'),
        rateLimited: between(429, 429, 'rate limited'),
        json: read(() => void jsonOf(state)),
        withBody: read(() => check(state.bytes > 0, 'have a body')),
      };
    });
  Object.defineProperty(response, 'to', { get: chain, enumerable: false });
  return response;
}
