import type { ScriptApi } from './api.js';
import type { PostmanState } from './state.js';

/** What Postman's scripts used before `pm`, and still use. */
export interface Legacy {
  value(name: string): unknown;
  /** Reports the members of `tests`. */
  finish(report: (name: string, failure: string | null) => void): void;
}

/** The modules behind Postman's global libraries. */
const LIBRARIES: Readonly<Record<string, string>> = {
  _: 'lodash3',
  CryptoJS: 'crypto-js',
  atob: 'atob',
  btoa: 'btoa',
  tv4: 'tv4',
  xml2Json: './xml2Json',
  Backbone: 'backbone',
  cheerio: 'cheerio',
};

export function legacyValues(state: PostmanState, api: ScriptApi, load: (name: string) => unknown): Legacy {
  const { execution } = api;
  const tests: Record<string, unknown> = {};
  const environment = execution.environment.syncVariablesTo();
  const globals = execution.globals.syncVariablesTo();
  const { response } = state;
  const text = (): string => {
    if (response?.text === null) throw new Error(`The body of ${response.bytes} bytes is too large for a script`);
    return response?.text ?? '';
  };
  const headers = (): Record<string, string> =>
    Object.fromEntries((response?.headers ?? []).map(({ name, value }) => [name, value]));
  const makers: Record<string, () => unknown> = {
    tests: () => tests,
    environment: () => environment,
    globals: () => globals,
    data: () => execution.data,
    iteration: () => state.info.iteration,
    postman: () => postmanObject(api, environment, globals, headers()),
    Buffer: () => (load('buffer') as { Buffer: unknown }).Buffer,
    ...(response === null
      ? {}
      : {
          responseBody: text,
          responseCode: () => codeOf(execution.response),
          responseTime: () => Math.round(response.durationMs),
          responseHeaders: headers,
          responseCookies: () => execution.cookies ?? [],
        }),
  };
  return {
    value: (name) => {
      const library = LIBRARIES[name];
      if (library !== undefined) return library === 'lodash3' ? legacyLodash(load) : load(library);
      return makers[name]?.();
    },
    finish(report) {
      for (const [name, value] of Object.entries(tests)) {
        report(name, value ? null : `AssertionError: expected ${String(value)} to be truthy`);
      }
    },
  };
}

function legacyLodash(load: (name: string) => unknown): unknown {
  return (load('lodash3') as { noConflict(): unknown }).noConflict();
}

function codeOf(response: object | undefined): unknown {
  const details: unknown = response === undefined ? undefined : Reflect.get(response, 'details');
  return typeof details === 'function' ? { ...details.call(response) } : { code: Number.NaN, name: '', detail: '' };
}

type Values = Record<string, unknown>;

function postmanObject({ execution }: ScriptApi, environment: Values, globals: Values, headers: Values): object {
  const asText = (value: unknown): unknown => (value === false || value ? String(value) : value);
  const access = (scope: ScriptApi['execution']['environment'], shown: Values) => ({
    set: (key: unknown, value: unknown): void => {
      const name = String(key);
      shown[name] = asText(value);
      scope.set(name, asText(value));
    },
    get: (key: unknown): unknown => scope.get(String(key)),
    unset: (key: unknown): void => {
      delete shown[String(key)];
      scope.unset(String(key));
    },
    clear: (): void => {
      for (const name of Object.keys(shown)) delete shown[name];
      scope.clear();
    },
  });
  const own = access(execution.environment, environment);
  const all = access(execution.globals, globals);
  const find = (name: unknown): unknown => {
    const lower = String(name).toLowerCase();
    return Object.entries(headers).find(([key]) => key.toLowerCase() === lower)?.[1];
  };
  return {
    setEnvironmentVariable: own.set,
    getEnvironmentVariable: own.get,
    clearEnvironmentVariable: own.unset,
    clearEnvironmentVariables: own.clear,
    setGlobalVariable: all.set,
    getGlobalVariable: all.get,
    clearGlobalVariable: all.unset,
    clearGlobalVariables: all.clear,
    setNextRequest: (name: unknown): void => {
      execution.return.nextRequest = name;
    },
    getResponseHeader: find,
    getResponseCookie: (name: unknown): unknown => {
      const one: unknown = execution.cookies === undefined ? undefined : Reflect.get(execution.cookies, 'one');
      return typeof one === 'function' ? one.call(execution.cookies, String(name)) : undefined;
    },
  };
}
