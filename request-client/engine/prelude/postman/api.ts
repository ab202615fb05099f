import type { Host } from '#troupe/script/prelude/engine.js';
import { postmanHeaders, type ResponseState } from '../response-view.js';
import { makeCookieAccess } from './cookie-access.js';
import type { Execution, Scope, Sdk, SdkRequest } from './libraries.js';
import { makeSendRequest } from './send-request.js';
import { type PostmanState, SCOPE_NAMES, type ScopeName } from './state.js';
import { makeTest, type TestFunction } from './test-function.js';
import type { Timers } from './timers.js';

/** `pm` of one script, and what must be done when the script has ended. */
export interface ScriptApi {
  readonly pm: object;
  readonly execution: Execution;
  /** Sends the variables that the script changed, so that host calls see them. */
  flush(): void;
  /** The last thing of a script. */
  finish(): void;
}

export interface ApiTools {
  readonly host: Host;
  readonly load: (name: string) => unknown;
  readonly timers: Timers;
  readonly require: (name: string) => unknown;
}

/** Thrown to leave the script. */
export const SKIPPED = new Error('The request is skipped');

const PLACES: readonly (readonly [
  scope: ScopeName,
  member: 'environment' | 'globals' | 'collectionVariables' | '_variables',
  shown: string,
])[] = [
  ['environment', 'environment', 'pm.environment'],
  ['globals', 'globals', 'pm.globals'],
  ['collection', 'collectionVariables', 'pm.collectionVariables'],
  ['local', '_variables', 'pm.variables'],
];

/** Builds Postman's own `pm` for a script, on the variables, the request and the answer of this client. */
export function makeApi(state: PostmanState, { host, load, timers, require }: ApiTools): ScriptApi {
  const sdk = load('postman-collection') as Sdk;
  const execution = new (load('./execution') as Sdk['Execution'])(
    state.info.id,
    { listen: state.target },
    {
      data: state.data,
      cookies: state.cookies,
      environment: { name: state.environmentName, values: valuesOf(state.scopes.environment) },
      globals: { values: valuesOf(state.scopes.globals) },
      collectionVariables: { values: valuesOf(state.scopes.collection) },
      _variables: { values: valuesOf(state.scopes.local) },
      request: state.request,
      ...(state.response === null ? {} : { response: responseOptions(state.response, state.cookies) }),
    },
    {
      cursor: { iteration: state.info.iteration, cycles: state.info.iterations },
      legacy: {
        _itemId: state.info.id,
        _itemName: state.info.name,
        _itemPath: [...state.info.path],
        _eventItemName: state.info.current,
      },
    },
  );
  const sent = new Map(SCOPE_NAMES.map((name) => [name, textOf(state.scopes[name])]));
  const flush = (): void => {
    for (const [name, member] of PLACES) {
      const entries = entriesOf(execution[member]);
      const text = textOf(entries);
      if (sent.get(name) === text) continue;
      sent.set(name, text);
      host('variables', name, entries);
    }
  };
  const warned = new Set<string>();
  const warn = (text: string): void => {
    if (warned.has(text)) return;
    warned.add(text);
    console.warn(text);
  };
  const test: TestFunction = makeTest(host, () => pm);
  const skip = (): never => {
    if (state.target !== 'prerequest') throw new TypeError('pm.execution.skipRequest is not a function');
    host('skipRequest');
    throw SKIPPED;
  };
  const jar = makeCookieAccess(
    host,
    timers.later,
    (cookie) => new sdk.Cookie(cookie),
    (cookies) => new sdk.CookieList(null, cookies),
  );
  const data = new sdk.VariableScope();
  data.syncVariablesFrom(state.data);
  const folders = state.folders.map((entries) => new sdk.VariableScope({ values: valuesOf(entries) }).values);
  const { environment, collectionVariables, globals } = execution;
  for (const layer of [data.values, environment.values, ...folders, collectionVariables.values, globals.values]) {
    execution._variables.addLayer(layer);
  }
  if (execution.cookies !== undefined) Object.assign(execution.cookies, { jar: () => jar });
  if (execution.response !== undefined && state.response !== null) {
    Object.assign(execution.response, { responseSize: state.response.bytes });
  }
  if (state.response?.text === null) refuseLargeBody(execution.response, state.response);
  const request = execution.request;
  const before = state.target === 'prerequest' || request === undefined ? null : requestJson(request, state.request);
  const scopes = Object.fromEntries(
    PLACES.map(([, member, shown]) => [
      member === '_variables' ? 'variables' : member,
      warning(execution[member], shown, warn),
    ]),
  );
  const { expect } = load('chai') as { expect: (...args: unknown[]) => { readonly to: unknown } };
  for (const subject of [request, execution.response]) {
    if (subject !== undefined) Object.defineProperty(subject, 'to', { get: () => expect(subject).to });
  }
  const { id, name, path, current, iteration, iterations } = state.info;
  const pm: object = {};
  const values: Record<string, unknown> = {
    ...scopes,
    info: { eventName: state.target, iteration, iterationCount: iterations, requestName: name, requestId: id },
    iterationData: data,
    cookies: execution.cookies,
    request,
    response: execution.response,
    expect,
    test,
    sendRequest: makeSendRequest(sdk, timers, (wanted) => {
      flush();
      return host('send', wanted);
    }),
    execution: {
      setNextRequest: (next: unknown): void => {
        execution.return.nextRequest = next;
      },
      skipRequest: skip,
      location: Object.assign([...path], { current }),
    },
    // What a script draws is shown nowhere.
    visualizer: { set: () => undefined, clear: () => undefined },
    require,
    ...notSupported(),
  };
  for (const [member, value] of Object.entries(values)) {
    Object.defineProperty(pm, member, {
      get: () => value,
      set: () => warn(`pm.${member} = ... has no effect; change its members instead`),
      enumerable: true,
    });
  }
  const finish = (): void => {
    test.finish();
    flush();
    if (execution.return.nextRequest !== undefined) {
      const next = execution.return.nextRequest;
      host('next', next === null ? null : String(next));
    }
    if (request === undefined) return;
    const after = requestJson(request, state.request);
    if (before === null) {
      if (after !== requestJson(new sdk.Request(state.request), state.request)) host('request', JSON.parse(after));
    } else if (after !== before) {
      warn('pm.request was changed after the request had been sent, which has no effect; change it in a Before script');
    }
  };
  return { pm, execution, flush, finish };
}

function valuesOf(entries: readonly (readonly [string, unknown])[]): object[] {
  return entries.map(([key, value]) => ({ key, value, type: 'any' }));
}

function entriesOf(scope: Scope): [string, unknown][] {
  const entries: [string, unknown][] = [];
  scope.values.each((variable) => {
    if (variable.disabled !== true && typeof variable.key === 'string') entries.push([variable.key, variable.value]);
  });
  return entries;
}

function textOf(entries: readonly (readonly [string, unknown])[]): string {
  return JSON.stringify(entries) ?? '';
}

/** A scope whose plain members cannot be assigned unnoticed: they would not become variables. */
function warning(scope: Scope, shown: string, warn: (text: string) => void): object {
  return new Proxy(scope, {
    set(target, name, value) {
      if (typeof name === 'string' && !(name in target)) {
        warn(`${shown}.${name} = ... does not set a variable; use ${shown}.set('${name}', ...)`);
      }
      return Reflect.set(target, name, value);
    },
  });
}

function responseOptions(response: ResponseState, cookies: readonly object[]): object {
  return {
    code: response.status,
    status: response.statusText,
    header: postmanHeaders(response),
    body: response.text ?? '',
    responseTime: Math.round(response.durationMs),
    responseSize: response.bytes,
    cookie: cookies,
  };
}

function refuseLargeBody(response: object | undefined, { bytes }: ResponseState): void {
  if (response === undefined) return;
  const refuse = (): never => {
    throw new Error(`The body of ${bytes} bytes is too large for a script`);
  };
  for (const name of ['text', 'json', 'jsonp', 'dataURI']) Object.defineProperty(response, name, { value: refuse });
}

/** The request as JSON of a collection, whatever a script assigned to its members. */
function requestJson(request: SdkRequest, original: object): string {
  const plain = (value: unknown): unknown => {
    const toJson: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'toJSON') : undefined;
    return typeof toJson === 'function' ? toJson.call(value) : value;
  };
  const { method, url, headers, body, auth } = request;
  const bodyJson = typeof body === 'string' ? { mode: 'raw', raw: body } : plain(body);
  return JSON.stringify({
    ...original,
    method,
    url: plain(url),
    header: plain(headers),
    body: bodyJson,
    auth: plain(auth) ?? Reflect.get(original, 'auth'),
  });
}

/** Parts of Postman's cloud: they are named when they are used. */
function notSupported(): Record<string, unknown> {
  const remedies: Record<string, string> = {
    vault: 'keep secrets in an environment, as variables of the type secret',
    datasets: 'use a data file of the run',
    message: 'only HTTP requests are sent here',
    mock: 'only HTTP requests are sent here',
  };
  return Object.fromEntries(
    Object.entries(remedies).map(([name, remedy]) => [
      name,
      new Proxy(
        {},
        {
          get: (_, member) => {
            throw new Error(`pm.${name}.${String(member)} is not supported: ${remedy}`);
          },
        },
      ),
    ]),
  );
}
