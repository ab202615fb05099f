import type { Host } from '../../script/prelude/engine.js';
import { expectation } from './expect.js';
import { plainResponse, postmanResponse, type ResponseState } from './response-view.js';

interface RequestState {
  readonly name: string;
  readonly method: string;
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body: string | null;
}

interface State {
  readonly request: RequestState;
  readonly response: ResponseState | null;
  readonly iteration: number;
}

/**
 * Defines `request`, `response` and `pm`. Their values are requested from the host, since one sandbox serves many
 * requests.
 */
export function install(host: Host): void {
  let seen: { epoch: unknown; state: State; plain: object | null; postman: object | null } | null = null;
  const current = (): NonNullable<typeof seen> => {
    const epoch = host('epoch');
    if (seen === null || seen.epoch !== epoch) {
      const state = host('state') as State;
      const { response } = state;
      seen = {
        epoch,
        state,
        plain: response === null ? null : plainResponse(response),
        postman: response === null ? null : postmanResponse(response),
      };
    }
    return seen;
  };

  /** Globals that change from script to script. Sealing reads them once, before the host can answer. */
  const dynamicGlobal = (name: string, get: () => unknown): void => {
    let sealed = false;
    const getter = (): unknown => {
      if (sealed) return get();
      sealed = true;
      return undefined;
    };
    Object.defineProperty(globalThis, name, { get: Object.freeze(getter), enumerable: true, configurable: false });
  };
  const change = (member: string, value: unknown): void => {
    host('change', member, value);
    seen = null;
  };
  const header = (name: unknown): string | undefined =>
    current().state.request.headers.find((one) => one.name.toLowerCase() === String(name).toLowerCase())?.value;
  const setHeader = (name: unknown, value: unknown): void => change('header', [String(name), String(value)]);
  const removeHeader = (name: unknown): void => change('withoutHeader', String(name));

  dynamicGlobal('response', () => current().plain);
  const request = {
    get name() {
      return current().state.request.name;
    },
    get method() {
      return current().state.request.method;
    },
    set method(value: unknown) {
      change('method', String(value));
    },
    get url() {
      return current().state.request.url;
    },
    set url(value: unknown) {
      change('url', String(value));
    },
    get body() {
      return current().state.request.body;
    },
    set body(value: unknown) {
      change('body', typeof value === 'string' ? value : JSON.stringify(value));
    },
    get headers() {
      return Object.fromEntries(current().state.request.headers.map(({ name, value }) => [name.toLowerCase(), value]));
    },
    header,
    setHeader,
    removeHeader,
  };
  Reflect.set(globalThis, 'request', request);

  const scope = (name: string): object => ({
    get: (key: unknown) => host('get', name, String(key)) ?? undefined,
    has: (key: unknown) => host('get', name, String(key)) !== null,
    set: (key: unknown, value: unknown) => void host('set', name, String(key), asText(value)),
    unset: (key: unknown) => void host('unset', name, String(key)),
    clear: () => void host('clear', name),
    toObject: () => host('all', name),
    replaceIn: (text: unknown) => host('replace', String(text)),
  });

  const test = Object.assign(
    (name: unknown, body: unknown): object => {
      const failure = failureOf(body);
      host('test', String(name), failure);
      return pm;
    },
    { skip: (name: unknown) => void host('skip', String(name)) },
  );
  const pm = {
    test,
    expect: Object.assign(
      (subject: unknown, message?: unknown) =>
        expectation(subject, message === undefined ? undefined : String(message)),
      {
        fail: (message: unknown) => {
          throw new Error(message === undefined ? 'pm.expect.fail()' : String(message));
        },
      },
    ),
    get response() {
      return current().postman ?? undefined;
    },
    request: {
      get method() {
        return current().state.request.method;
      },
      get url() {
        const { url } = current().state.request;
        return {
          toString: () => url,
          toJSON: () => url,
          getPath: () => /^[a-z]+:\/\/[^/]*([^?#]*)/i.exec(url)?.[1] ?? '',
        };
      },
      get body() {
        return { raw: current().state.request.body };
      },
      headers: {
        get: header,
        has: (name: unknown) => header(name) !== undefined,
        add: (entry: { key: unknown; value: unknown }) => setHeader(entry.key, entry.value),
        upsert: (entry: { key: unknown; value: unknown }) => setHeader(entry.key, entry.value),
        remove: removeHeader,
      },
    },
    environment: scope('environment'),
    collectionVariables: scope('collection'),
    globals: scope('globals'),
    variables: scope('local'),
    info: {
      get requestName() {
        return current().state.request.name;
      },
      get iteration() {
        return current().state.iteration;
      },
    },
    /** In this client every call is complete when it returns; the callback is called before that. */
    sendRequest: (wanted: unknown, done?: (error: unknown, response: unknown) => void): unknown => {
      const answer = host('send', wanted) as { error?: string; response?: ResponseState };
      const response = answer.response === undefined ? undefined : postmanResponse(answer.response);
      const error = answer.error === undefined ? null : new Error(answer.error);
      if (done !== undefined) return void done(error, response);
      if (error !== null) throw error;
      return response;
    },
    execution: { setNextRequest: (name: unknown) => void host('next', name === null ? null : String(name)) },
  };
  Reflect.set(globalThis, 'pm', pm);
  Reflect.set(globalThis, 'postman', {
    setNextRequest: pm.execution.setNextRequest,
    setEnvironmentVariable: (key: unknown, value: unknown) =>
      void host('set', 'environment', String(key), asText(value)),
    getEnvironmentVariable: (key: unknown) => host('get', 'environment', String(key)) ?? undefined,
  });
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

/** Null if the test passed. A test with a `done` parameter must call it. */
function failureOf(body: unknown): string | null {
  if (typeof body !== 'function') return 'pm.test needs a function';
  try {
    let called = body.length === 0;
    let failure: string | null = null;
    body((error: unknown) => {
      called = true;
      if (error !== undefined && error !== null) failure = messageOf(error);
    });
    return called ? failure : 'done was not called';
  } catch (error) {
    return messageOf(error);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error
    ? error.name === 'Error'
      ? error.message
      : `${error.name}: ${error.message}`
    : String(error);
}
