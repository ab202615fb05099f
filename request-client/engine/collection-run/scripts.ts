import { encodeError, TroupeError } from '#troupe/protocol/errors.js';
import type { SessionEvent } from '#troupe/protocol/events.js';
import { readBundle } from '#troupe/script/bundle.js';
import type { HostCall, HostModule } from '#troupe/script/host-module.js';
import { Sandbox } from '#troupe/script/sandbox.js';
import { type CollectionAuth, readAuth } from '../collection/auth.js';
import type { Collection } from '../collection/collection.js';
import { enabledPairs, listOf, member, textOf } from '../collection/json-access.js';
import { readRequest } from '../collection/read-request.js';
import { VariableResolver, type VariableScope } from '../collection/variables.js';
import type { RequestDraft } from '../request.js';
import type { CookieAccess } from '../run/cookie-access.js';
import type { HttpResponse } from '../run/response.js';
import { dynamicNames, dynamicVariables, exposedModules, postmanModule } from './postman-modules.js';
import { postmanNames } from './postman-names.js';
import type { TestResult } from './result.js';
import { scriptError } from './script-error.js';
import { changedItem, requestOf, requestState, resolvedItem, responseState } from './script-state.js';
import type { ScriptTurn } from './script-turn.js';
import { setTyped, typedEntries } from './typed-values.js';

/** The variables of a run; scripts change them. The first scope with a name takes precedence. */
export interface Scopes {
  readonly local: Map<string, string>;
  readonly environment: Map<string, string>;
  readonly collection: Map<string, string>;
  readonly globals: Map<string, string>;
}

/** The initial variables of a run. */
export function scopesOf(collection: Collection, environment: ReadonlyMap<string, string>): Scopes {
  return {
    local: new Map(),
    environment: new Map(environment),
    collection: new Map(enabledPairs(member(collection.root, 'variable')).map(({ key, value }) => [key, value])),
    globals: new Map(),
  };
}

/** In the order for a request; `folders` are the variables of its folders, see {@link folderScopes}. */
export function scopesInOrder(
  { local, environment, collection, globals }: Scopes,
  folders: readonly VariableScope[],
  data: VariableScope = new Map(),
): VariableScope[] {
  return [local, data, environment, ...folders, collection, globals];
}

export interface ScriptsOptions {
  /** Of the collection. */
  readonly name: string;
  readonly scopes: Scopes;
  readonly cookies: CookieAccess;
  /** Sends the request of `pm.sendRequest`. */
  send(
    request: RequestDraft,
    auth: CollectionAuth,
    resolver: VariableResolver,
    signal: AbortSignal,
  ): Promise<HttpResponse>;
  readonly timeoutMs: number;
}

/** Which script is run. */
export interface ScriptPlace {
  readonly target: 'prerequest' | 'test';
  /** The name of the collection, folder or request that has the script. */
  readonly current: string;
}

const MAX_TESTS = 10_000;
/** The scripts of one collection should not keep a run for longer than that by timers alone. */
const MAX_SLEEP_MS = 60_000;
const NAMES = ['local', 'environment', 'collection', 'globals'] as const;

/** The Before and After scripts of one run, in one sandbox with `request`, `response`, `match` and Postman's globals. */
export class Scripts {
  readonly #options: ScriptsOptions;
  #sandbox: Promise<Sandbox> | null = null;
  #turn: ScriptTurn | null = null;
  #place: ScriptPlace = { target: 'prerequest', current: '' };
  #epoch = 0;

  constructor(options: ScriptsOptions) {
    this.#options = options;
  }

  /**
   * Runs one script, until its timers have run, too. The first one starts the sandbox.
   * @throws what {@link Sandbox.run} throws; the turn has the results until then
   */
  async run(source: string, place: ScriptPlace, turn: ScriptTurn, signal: AbortSignal | undefined): Promise<void> {
    this.#sandbox ??= Sandbox.start({ modules: [this.#module()], emit: (event) => this.#heard(event) });
    const sandbox = await this.#sandbox;
    this.#turn = turn;
    this.#place = place;
    this.#epoch += 1;
    const names = postmanNames(source);
    // A block in a function, so that the script's declarations end with it and may have the names of parameters.
    const opening = `$script(${JSON.stringify(names)}, async (${names.join(', ')}) => {{ `;
    const name = `${place.target === 'test' ? 'After' : 'Before'} of ${place.current}`;
    try {
      await sandbox.run({
        source: `${opening}${source}\n}});`,
        name,
        kind: 'script',
        timeoutMs: this.#options.timeoutMs,
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      throw scriptError(error, { name, source, opening });
    } finally {
      this.#turn = null;
    }
  }

  async close(): Promise<void> {
    const sandbox = await this.#sandbox?.catch(() => null);
    await sandbox?.close();
  }

  #heard(event: SessionEvent): void {
    if (event.type === 'ConsoleWritten') this.#turn?.console.push(event.data.text);
  }

  #module(): HostModule {
    return {
      name: 'pm',
      prelude: readBundle(import.meta.url, '../prelude/pm'),
      calls: {
        ...this.#libraryCalls(),
        epoch: async () => this.#epoch,
        state: async () => this.#ownState(),
        postman: async () => this.#postmanState(),
        change: async ([change, value]) => this.#change(String(change), value),
        request: async ([request]) => this.#change('all', request),
        variables: async ([scope, entries]) => this.#takeVariables(scope, entries),
        test: async ([name, failure]) => this.#tested(String(name), failure),
        skip: async ([name]) => this.#addTest({ name: String(name), status: 'skipped', message: '' }),
        scriptError: async ([message]) => {
          const errors = this.#turn?.errors;
          if (errors !== undefined && errors.length < MAX_TESTS) errors.push(String(message));
        },
        next: async ([name]) => {
          if (this.#turn !== null) this.#turn.next = name === null || name === undefined ? null : String(name);
        },
        skipRequest: async () => {
          if (this.#turn !== null) this.#turn.skipped = true;
        },
        send: async ([wanted], { signal }) => this.#send(wanted, signal),
        cookies: async ([action, url, value]) => this.#cookies(String(action), String(url), value),
      },
    };
  }

  /** What needs no turn. */
  #libraryCalls(): { readonly [method: string]: HostCall } {
    return {
      module: async ([id]) => postmanModule(String(id)),
      moduleNames: async () => exposedModules(),
      dynamicNames: async () => dynamicNames(),
      dynamic: async ([name]) => dynamicVariables().get(String(name))?.(),
      sleep: async ([ms], { signal }) =>
        new Promise<void>((resolve, reject) => {
          const timer = setTimeout(resolve, Math.min(Number(ms), MAX_SLEEP_MS));
          signal.addEventListener('abort', () => {
            clearTimeout(timer);
            reject(signal.reason);
          });
        }),
    };
  }

  #resolver(): VariableResolver {
    const { scopes } = this.#options;
    const data = new Map(Object.entries(this.#turn?.iteration.data ?? {}).map(([key, value]) => [key, String(value)]));
    return new VariableResolver(scopesInOrder(scopes, this.#turn?.folders ?? [], data));
  }

  #takeVariables(name: unknown, entries: unknown): void {
    const known = NAMES.find((one) => one === name);
    if (known === undefined) throw new TroupeError('SCRIPT_ERROR', `There is no variable scope ${String(name)}`);
    const scope = this.#options.scopes[known];
    const given = new Map(
      listOf(entries).flatMap((entry) =>
        Array.isArray(entry) ? [[String(entry[0]), entry[1] as unknown] as const] : [],
      ),
    );
    for (const key of [...scope.keys()]) if (!given.has(key)) scope.delete(key);
    for (const [key, value] of given) setTyped(scope, key, value);
  }

  #tested(name: string, failure: unknown): void {
    const message = typeof failure === 'string' ? failure : '';
    this.#addTest({ name, status: typeof failure === 'string' ? 'failed' : 'passed', message });
  }

  #addTest(result: TestResult): void {
    const tests = this.#turn?.tests;
    if (tests !== undefined && tests.length < MAX_TESTS) tests.push(result);
  }

  async #ownState(): Promise<unknown> {
    const turn = this.#turn;
    if (turn === null) return null;
    return { request: requestState(turn, this.#resolver()), response: await responseState(turn.response) };
  }

  async #postmanState(): Promise<unknown> {
    const turn = this.#turn;
    if (turn === null) return null;
    const { scopes, cookies } = this.#options;
    const { id, path, iteration, folders } = turn;
    const url = this.#resolver().text(readRequest(turn.item).url);
    return {
      target: this.#place.target,
      info: {
        id,
        name: path.at(-1) ?? '',
        path: [this.#options.name, ...path],
        current: this.#place.current,
        iteration: iteration.index,
        iterations: iteration.count,
      },
      scopes: Object.fromEntries(NAMES.map((name) => [name, typedEntries(scopes[name])])),
      folders: folders.map((folder) => typedEntries(folder)),
      data: iteration.data,
      request: requestOf(turn.item),
      cookies: await cookies.all(turn.response?.url ?? url),
      environmentName: '',
    };
  }

  #change(change: string, value: unknown): void {
    const turn = this.#turn;
    if (turn !== null && this.#place.target === 'prerequest') turn.item = changedItem(turn.item, change, value);
  }

  async #cookies(action: string, url: string, value: unknown): Promise<unknown> {
    const { cookies } = this.#options;
    const resolved = this.#resolver().text(url);
    if (action === 'all') return await cookies.all(resolved);
    if (action === 'set') return await cookies.set(resolved, value);
    if (action === 'unset') return await cookies.remove(resolved, String(value));
    return await cookies.clear(resolved);
  }

  async #send(wanted: unknown, signal: AbortSignal): Promise<unknown> {
    try {
      const resolver = this.#resolver();
      const item = resolvedItem({ request: wanted }, resolver);
      const auth = readAuth(member(member(item, 'request'), 'auth'));
      const request = readRequest(item, SCRIPT_BEHAVIOUR);
      const response = await this.#options.send(request, auth, resolver, signal);
      try {
        return { response: await responseState(response) };
      } finally {
        await response.dispose();
      }
    } catch (error) {
      return { error: encodeError(error).error };
    }
  }
}

/** A body that a script gives is sent whatever the method is. */
const SCRIPT_BEHAVIOUR = { disableBodyPruning: true };

/** The text of a script of a collection; empty for one that is disabled. */
export function scriptText(event: unknown): string {
  if (member(event, 'disabled') === true) return '';
  const exec = member(member(event, 'script'), 'exec');
  if (typeof exec === 'string') return exec;
  return listOf(exec)
    .map((line) => textOf(line) ?? '')
    .join('\n');
}
