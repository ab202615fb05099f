import type { Host } from '#troupe/script/prelude/engine.js';
import type { ResponseState } from '../response-view.js';
import { type ApiTools, makeApi, type ScriptApi, SKIPPED } from './api.js';
import { legacyValues } from './legacy.js';
import { moduleLoader } from './modules.js';
import type { PostmanState } from './state.js';
import { messageOf } from './test-function.js';
import { makeTimers } from './timers.js';

type Body = (...values: unknown[]) => unknown;

interface Running {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly finish: () => void;
  /** How the script's own code ended; null while it runs. */
  end: { readonly ok: boolean; readonly value: unknown } | null;
}

export interface ScriptRunner {
  /** Runs a script whose parameters have the given names; settles when its timers have run, too. */
  run(names: readonly string[], body: Body): Promise<unknown>;
  idle(): boolean;
}

/** Names under which scripts require modules, besides those of Postman itself. */
const ALIASES: Readonly<Record<string, string>> = { 'csv-parse': 'csv-parse/lib/sync' };

/** As in Postman, a text may begin with a byte order mark. */
const lenientJson = Object.create(JSON, {
  parse: {
    value: (text: unknown, ...rest: []): unknown =>
      JSON.parse(typeof text === 'string' && text.startsWith('\uFEFF') ? text.slice(1) : String(text), ...rest),
  },
});

/** Functions of a module that is loaded with the first call. */
function lazyMembers(real: () => unknown, names: readonly string[]): object {
  return Object.fromEntries(
    names.map((name) => [
      name,
      (...args: unknown[]): unknown => (real() as Record<string, (...values: unknown[]) => unknown>)[name]?.(...args),
    ]),
  );
}

export function makeScripts(host: Host, response: () => ResponseState | null): ScriptRunner {
  let running: Running | null = null;
  const failed = (error: unknown): void => {
    if (error !== SKIPPED) host('scriptError', messageOf(error));
  };
  const timers = makeTimers(host, failed);
  let exposed: readonly string[] | null = null;
  const load = moduleLoader(host, {
    // A large table, of which most scripts use nothing.
    'mime-types': (real) => lazyMembers(real, ['charset', 'contentType', 'extension', 'lookup']),
    './dynamic-variables': () =>
      Object.fromEntries(
        (host('dynamicNames') as string[]).map((name) => [name, { generator: () => host('dynamic', name) }]),
      ),
  });
  let assertions = false;
  /** chai knows Postman's own assertions once `pm` exists; its schemas are loaded when one is used. */
  const prepareChai = (): void => {
    if (assertions) return;
    assertions = true;
    const chai = load('chai') as { use(plugin: unknown): void };
    const plugin = load('chai-postman') as (...libraries: unknown[]) => unknown;
    const lazyAjv = new Proxy(class {}, {
      construct: (_, args) => new (load('ajv') as new (...values: unknown[]) => object)(...args),
    });
    chai.use(plugin(load('postman-collection'), load('lodash'), lazyAjv));
  };
  const require = (wanted: unknown): unknown => {
    const name = ALIASES[String(wanted)] ?? String(wanted);
    exposed ??= host('moduleNames') as string[];
    if (exposed.includes(name)) return load(name);
    throw new Error(`Cannot find module '${name}'. Scripts can require: ${exposed.join(', ')}`);
  };
  const begin = (names: readonly string[]): { values: unknown[]; finish: () => void } => {
    const tools: ApiTools = { host, load, timers, require };
    const plain: Record<string, unknown> = { ...timers.globals, require, JSON: lenientJson };
    if (names.every((name) => Object.hasOwn(plain, name))) {
      return { values: names.map((name) => plain[name]), finish: () => undefined };
    }
    prepareChai();
    const state = { ...(host('postman') as PostmanState), response: response() };
    const api: ScriptApi = makeApi(state, tools);
    const legacy = legacyValues(state, api, load);
    return {
      values: names.map((name) => (name === 'pm' ? api.pm : (plain[name] ?? legacy.value(name)))),
      finish: () => {
        legacy.finish((name, failure) => host('test', name, failure));
        api.finish();
      },
    };
  };
  return {
    run(names, body) {
      timers.clear();
      const { values, finish } = begin(names);
      return new Promise((resolve, reject) => {
        const own: Running = { resolve, reject, finish, end: null };
        running = own;
        const ended = (ok: boolean, value: unknown): void => {
          own.end = { ok, value };
        };
        try {
          Promise.resolve(body(...values)).then(
            (value) => ended(true, value),
            (error: unknown) => ended(false, error),
          );
        } catch (error) {
          ended(false, error);
        }
      });
    },
    idle() {
      if (timers.next()) return true;
      if (running?.end === null || running === null) return false;
      const { end, finish, resolve, reject } = running;
      running = null;
      try {
        finish();
      } catch (error) {
        failed(error);
      }
      if (end.ok || end.value === SKIPPED) resolve(undefined);
      else reject(end.value);
      return true;
    },
  };
}
