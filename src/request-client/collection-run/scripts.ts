import { readFile } from 'node:fs/promises';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import type { SessionEvent } from '../../protocol/events.js';
import { readBundle } from '../../script/bundle.js';
import type { HostModule } from '../../script/host-module.js';
import { Sandbox } from '../../script/sandbox.js';
import type { Collection } from '../collection/collection.js';
import { enabledPairs, member } from '../collection/json-access.js';
import { readRequest } from '../collection/read-request.js';
import { VariableResolver, type VariableScope } from '../collection/variables.js';
import type { RequestDraft } from '../request.js';
import type { HttpResponse } from '../run/response.js';
import type { TestResult } from './result.js';

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
): VariableScope[] {
  return [local, environment, ...folders, collection, globals];
}

export interface ScriptsOptions {
  readonly scopes: Scopes;
  /** Sends the request of `pm.sendRequest`. */
  send(request: RequestDraft, signal: AbortSignal): Promise<HttpResponse>;
  readonly timeoutMs: number;
}

/** The input and output of one script. */
export interface ScriptTurn {
  request: RequestDraft;
  readonly response: HttpResponse | null;
  /** Variables of the request's folders. */
  readonly folders: readonly VariableScope[];
  readonly tests: TestResult[];
  readonly console: string[];
  /** Set by `setNextRequest`: a request's name, or null for the end; undefined if it was not called. */
  next: string | null | undefined;
}

/** Larger bodies are not given to scripts, which get an error instead. */
const MAX_BODY_BYTES = 2 * 1024 * 1024;
const MAX_TESTS = 10_000;
const NAMES = ['local', 'environment', 'collection', 'globals'] as const;

/** The Before and After scripts of one run, in one sandbox with `request`, `response`, `match` and `pm`. */
export class Scripts {
  readonly #options: ScriptsOptions;
  #sandbox: Promise<Sandbox> | null = null;
  #turn: ScriptTurn | null = null;
  #epoch = 0;

  constructor(options: ScriptsOptions) {
    this.#options = options;
  }

  /**
   * Runs one script. The first one starts the sandbox.
   * @throws what {@link Sandbox.run} throws; the turn has the results until then
   */
  async run(source: string, name: string, turn: ScriptTurn, signal: AbortSignal | undefined): Promise<void> {
    this.#sandbox ??= Sandbox.start({ modules: [this.#module()], emit: (event) => this.#heard(event) });
    const sandbox = await this.#sandbox;
    this.#turn = turn;
    this.#epoch += 1;
    try {
      // Wrapped in a function, so that declarations of one script are not visible to the next.
      await sandbox.run({
        source: `(() => { ${source}\n})();`,
        name,
        kind: 'script',
        timeoutMs: this.#options.timeoutMs,
        ...(signal === undefined ? {} : { signal }),
      });
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
        epoch: async () => this.#epoch,
        state: async () => this.#state(),
        change: async ([member, value]) => this.#change(String(member), value),
        get: async ([scope, key]) => this.#get(String(scope), String(key)),
        set: async ([scope, key, value]) => void this.#scope(scope).set(String(key), String(value)),
        unset: async ([scope, key]) => void this.#scope(scope).delete(String(key)),
        clear: async ([scope]) => this.#scope(scope).clear(),
        all: async ([scope]) => Object.fromEntries(this.#scope(scope)),
        replace: async ([text]) => this.#resolver().text(String(text)),
        test: async ([name, failure]) => this.#tested(String(name), failure),
        skip: async ([name]) => this.#addTest({ name: String(name), status: 'skipped', message: '' }),
        next: async ([name]) => {
          if (this.#turn !== null) this.#turn.next = name === null ? null : String(name);
        },
        send: async ([wanted], { signal }) => this.#send(wanted, signal),
      },
    };
  }

  #scope(name: unknown): Map<string, string> {
    const known = NAMES.find((one) => one === name);
    if (known === undefined) throw new TroupeError('SCRIPT_ERROR', `There is no variable scope ${String(name)}`);
    return this.#options.scopes[known];
  }

  /** `pm.variables` reads all scopes, each of the other objects its own. */
  #get(scope: string, key: string): string | null {
    const places = scope === 'local' ? this.#inOrder() : [this.#scope(scope)];
    return places.find((place) => place.has(key))?.get(key) ?? null;
  }

  #inOrder(): VariableScope[] {
    return scopesInOrder(this.#options.scopes, this.#turn?.folders ?? []);
  }

  #resolver(): VariableResolver {
    return new VariableResolver(this.#inOrder());
  }

  #tested(name: string, failure: unknown): void {
    const message = typeof failure === 'string' ? failure : '';
    this.#addTest({ name, status: typeof failure === 'string' ? 'failed' : 'passed', message });
  }

  #addTest(result: TestResult): void {
    const tests = this.#turn?.tests;
    if (tests !== undefined && tests.length < MAX_TESTS) tests.push(result);
  }

  async #state(): Promise<unknown> {
    const turn = this.#turn;
    if (turn === null) return null;
    const { request, response } = turn;
    return {
      iteration: 0,
      request: {
        name: request.name,
        method: request.method,
        url: this.#resolver().text(request.url),
        headers: request.headers,
        body: request.body.kind === 'text' ? request.body.text : null,
      },
      response: response === null ? null : await responseState(response),
    };
  }

  #change(member: string, value: unknown): void {
    const turn = this.#turn;
    if (turn === null) return;
    const { request } = turn;
    const [name, text] = Array.isArray(value) ? value.map(String) : [String(value), ''];
    if (name === undefined) return;
    const others = request.headers.filter((header) => header.name.toLowerCase() !== name.toLowerCase());
    if (member === 'method' || member === 'url') turn.request = { ...request, [member]: name };
    else if (member === 'body') turn.request = { ...request, body: { kind: 'text', text: name } };
    else if (member === 'header') turn.request = { ...request, headers: [...others, { name, value: text ?? '' }] };
    else if (member === 'withoutHeader') turn.request = { ...request, headers: others };
  }

  async #send(wanted: unknown, signal: AbortSignal): Promise<unknown> {
    try {
      const response = await this.#options.send(this.#resolver().request(draftOf(wanted)), signal);
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

async function responseState(response: HttpResponse): Promise<unknown> {
  const { status, statusText, url, headers, body, bodyBytes, durationMs } = response;
  const fits = bodyBytes <= MAX_BODY_BYTES;
  const text = !fits ? null : body.kind === 'memory' ? body.bytes.toString('utf8') : await readFile(body.path, 'utf8');
  return { status, statusText, url, headers, text, bytes: bodyBytes, durationMs };
}

/** The argument of `pm.sendRequest`: a URL, or Postman's object. */
function draftOf(wanted: unknown): RequestDraft {
  const item = typeof wanted === 'string' ? { request: { method: 'GET', url: wanted } } : { request: wanted };
  return readRequest(item);
}
