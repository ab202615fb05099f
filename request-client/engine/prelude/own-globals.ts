import type { Host } from '#troupe/script/prelude/engine.js';
import { plainResponse, type ResponseState } from './response-view.js';

interface RequestState {
  readonly id: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly method: string;
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body: string | null;
  /** Postman's `request.data`. */
  readonly data: unknown;
}

export interface OwnState {
  readonly request: RequestState;
  readonly response: ResponseState | null;
}

/** Defines the globals `request` and `response`. @returns what reads the current state */
export function installOwnGlobals(host: Host): () => OwnState {
  let seen: { epoch: unknown; state: OwnState; plain: object | null } | null = null;
  const current = (): NonNullable<typeof seen> => {
    const epoch = host('epoch');
    if (seen === null || seen.epoch !== epoch) {
      const state = host('state') as OwnState;
      const { response } = state;
      seen = { epoch, state, plain: response === null ? null : plainResponse(response) };
    }
    return seen;
  };
  const change = (member: string, value: unknown): void => {
    host('change', member, value);
    seen = null;
  };
  const header = (name: unknown): string | undefined =>
    current().state.request.headers.find((one) => one.name.toLowerCase() === String(name).toLowerCase())?.value;
  const setHeader = (name: unknown, value: unknown): void => change('header', [String(name), String(value)]);

  dynamicGlobal('response', () => current().plain);
  const request = {
    get id() {
      return current().state.request.id;
    },
    get name() {
      return current().state.request.name;
    },
    get description() {
      return current().state.request.description;
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
    get data() {
      return current().state.request.data;
    },
    /** By lower-case name when they are listed; read in any case. */
    get headers() {
      const plain = Object.fromEntries(
        current().state.request.headers.map(({ name, value }) => [name.toLowerCase(), value]),
      );
      return new Proxy(plain, {
        get: (target, name) => Reflect.get(target, typeof name === 'string' ? name.toLowerCase() : name),
        set: (_, name, value) => {
          setHeader(name, value);
          return true;
        },
      });
    },
    header,
    setHeader,
    removeHeader: (name: unknown): void => change('withoutHeader', String(name)),
  };
  Reflect.set(globalThis, 'request', request);
  return () => current().state;
}

/** A global that changes from script to script. Sealing reads it once, before the host can answer. */
function dynamicGlobal(name: string, get: () => unknown): void {
  let sealed = false;
  const getter = (): unknown => {
    if (sealed) return get();
    sealed = true;
    return undefined;
  };
  Object.defineProperty(globalThis, name, { get: Object.freeze(getter), enumerable: true, configurable: false });
}
