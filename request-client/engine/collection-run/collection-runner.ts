import { type ErrorBody, encodeError, TroupeError } from '#troupe/protocol/errors.js';
import { authAt, type CollectionAuth, pathsUp, readAuth } from '../collection/auth.js';
import { behaviourAt } from '../collection/behaviour.js';
import type { Collection, CollectionNode } from '../collection/collection.js';
import { folderScopes } from '../collection/folder-variables.js';
import { asObject, type JsonObject, listOf, member, textOf } from '../collection/json-access.js';
import { notesOnTheWay } from '../collection/members.js';
import { readRequest } from '../collection/read-request.js';
import { VariableResolver } from '../collection/variables.js';
import type { Routes } from '../connection/routes.js';
import type { TokenStore } from '../oauth/token-store.js';
import { CookieJar } from '../run/cookie-jar.js';
import type { ReachBounds } from '../run/reach-bounds.js';
import { HttpSender, type SendBounds } from '../run/send-request.js';
import { AuthorizedSender } from './authorized-sender.js';
import type { RequestResult } from './result.js';
import { resolvedItem } from './script-state.js';
import type { Iteration, ScriptTurn } from './script-turn.js';
import { type Scopes, Scripts, scopesInOrder, scopesOf, scriptText } from './scripts.js';

export interface RunnerOptions {
  readonly collection: Collection;
  /** Variables of the environment; scripts may change them. */
  readonly environment: ReadonlyMap<string, string>;
  /** Variables that outlive this runner, instead of those of environment and collection. */
  readonly scopes?: Scopes;
  /** The base folder for relative paths of file bodies. */
  readonly folder: string;
  /** The folder that body files must be in; by default they may be anywhere. */
  readonly filesWithin?: string;
  readonly tokens: TokenStore;
  /** Cookies that outlive this runner; by default those of one run. */
  readonly cookies?: CookieJar;
  /** Proxies and certificates; none by default. */
  readonly routes?: Routes;
  /** False sends none of them, and keeps none of answers. */
  readonly sendCookies?: boolean;
  /** Which hosts requests may reach; all by default. */
  readonly reach?: ReachBounds;
  readonly requestTimeoutMs?: number;
  /** The largest response body, in bytes. */
  readonly maxBodyBytes?: number;
  readonly scriptTimeoutMs?: number;
}

/** Receives one result of a run. */
export type ResultListener = (result: RequestResult, node: CollectionNode) => Promise<'stop' | undefined>;

const REQUEST_TIMEOUT_MS = 60_000;
const SCRIPT_TIMEOUT_MS = 30_000;
const ONCE: Iteration = { index: 0, count: 1, data: {} };
/** With `setNextRequest` a run could loop for ever. */
const MAX_REQUESTS = 10_000;

/**
 * Runs requests of one collection: replaces variables, then runs Before scripts, authorization, the request, and After
 * scripts, each of collection, folders and request from the outside in. Variables and connections are kept from one
 * request to the next.
 */
export class CollectionRunner {
  readonly #options: RunnerOptions;
  readonly #scopes: Scopes;
  readonly #sender: HttpSender;
  readonly #authorized: AuthorizedSender;
  readonly #cookies: CookieJar;
  readonly #scripts: Scripts;
  /** Warnings that were given, each of them once. */
  readonly #warned = new Set<string>();
  /** The requests that were looked through for settings without effect. */
  readonly #examined = new Set<string>();
  #next: string | null | undefined;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#sender = new HttpSender(options.reach, options.routes);
    this.#authorized = new AuthorizedSender(this.#sender, options.tokens);
    this.#cookies = options.cookies ?? new CookieJar();
    this.#scopes = options.scopes ?? scopesOf(options.collection, options.environment);
    this.#scripts = new Scripts({
      name: options.collection.name,
      scopes: this.#scopes,
      cookies: this.#cookies,
      send: (request, auth, resolver, signal) =>
        this.#authorized.send(request, auth, resolver, this.#bounds(signal), () => undefined),
      timeoutMs: options.scriptTimeoutMs ?? SCRIPT_TIMEOUT_MS,
    });
  }

  /**
   * Runs all requests below `nodes` in their order, or as `setNextRequest` demands. `heard` receives each result,
   * disposes of its response, and may end the run.
   */
  async runAll(
    nodes: readonly CollectionNode[],
    onResult: ResultListener,
    signal?: AbortSignal,
    iteration: Iteration = ONCE,
  ): Promise<void> {
    const requests = nodes.flatMap((node) => requestsBelow(node));
    let at = 0;
    for (let sent = 0; at < requests.length; sent += 1) {
      signal?.throwIfAborted();
      const node = requests[at];
      if (node === undefined) return;
      if (sent === MAX_REQUESTS)
        throw new TroupeError(
          'REQUEST_FAILED',
          `The run seems to loop after ${MAX_REQUESTS} requests; check setNextRequest`,
        );
      this.#next = undefined;
      if ((await onResult(await this.run(node, signal, iteration), node)) === 'stop') return;
      const next = this.#nextIndex(requests);
      if (next === null) return;
      at = next ?? at + 1;
    }
  }

  /**
   * Runs one request. Throws only for the signal: other failures are in the result. A script that fails does not keep
   * the request from being sent, nor other scripts from running. The caller disposes of the response.
   */
  async run(node: CollectionNode, signal?: AbortSignal, iteration: Iteration = ONCE): Promise<RequestResult> {
    const startedAt = performance.now();
    const { collection } = this.#options;
    const folders = folderScopes(collection, node.path);
    const data = new Map(Object.entries(iteration.data).map(([key, value]) => [key, String(value)]));
    const resolver = new VariableResolver(scopesInOrder(this.#scopes, folders, data));
    const turn: ScriptTurn = {
      id: textOf(member(node.value, 'id')) ?? node.path.join('-'),
      path: this.#namesOf(node),
      item: node.value,
      response: null,
      folders,
      iteration,
      tests: [],
      console: [],
      errors: [],
      next: undefined,
      skipped: false,
    };
    const behaviour = behaviourAt(collection, node.path);
    this.#warnOfSettings(node, turn);
    let request = readRequest(node.value, behaviour);
    let error = await this.#runScripts(node, 'prerequest', turn, signal);
    if (!turn.skipped) {
      try {
        turn.item = resolvedItem(turn.item, resolver);
        request = readRequest(turn.item, behaviour);
        const auth = this.#authOf(node, turn.item);
        const warn = (text: string): void => void turn.console.push(`warning: ${text}`);
        turn.response = await this.#authorized.send(request, auth, resolver, this.#bounds(signal, behaviour), warn);
      } catch (thrown) {
        if (signal?.aborted === true) throw thrown;
        error = encodeError(thrown);
      }
      const failed = await this.#runScripts(node, 'test', turn, signal);
      // One failure is the request's; the others are not lost.
      if (error !== null && failed !== null) turn.console.push(`error: ${failed.error}`);
      error ??= failed;
    }
    if (turn.next !== undefined) this.#next = turn.next;
    return {
      path: turn.path,
      request,
      response: turn.response,
      error,
      skipped: turn.skipped,
      tests: turn.tests,
      unresolved: [...resolver.missing],
      console: turn.console,
      durationMs: performance.now() - startedAt,
    };
  }

  /** Closes connections and the sandbox. Idempotent. */
  async close(): Promise<void> {
    this.#sender.close();
    await this.#scripts.close();
  }

  #warnOfSettings({ path }: CollectionNode, turn: ScriptTurn): void {
    const place = path.join('/');
    if (this.#examined.has(place)) return;
    this.#examined.add(place);
    for (const { message } of notesOnTheWay(this.#options.collection, path)) {
      if (this.#warned.has(message)) continue;
      this.#warned.add(message);
      turn.console.push(`warning: ${message}`);
    }
  }

  #bounds(signal: AbortSignal | undefined, behaviour: JsonObject = {}): SendBounds {
    const { folder, filesWithin, requestTimeoutMs, maxBodyBytes, sendCookies = true } = this.#options;
    const timeoutMs = requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
    const off = !sendCookies || behaviour.disableCookies === true;
    const cookies = off ? {} : { cookies: this.#cookies };
    return { folder, filesWithin, timeoutMs, maxBodyBytes, ...cookies, ...(signal === undefined ? {} : { signal }) };
  }

  /** @returns the first failure, so that all other scripts run */
  async #runScripts(
    node: CollectionNode,
    target: 'prerequest' | 'test',
    turn: ScriptTurn,
    signal: AbortSignal | undefined,
  ): Promise<ErrorBody | null> {
    const { collection } = this.#options;
    let first: ErrorBody | null = null;
    for (const path of pathsUp(node.path).reverse()) {
      const current = path.length === 0 ? 'collection' : collection.nameAt(path);
      for (const event of listOf(member(collection.at(path), 'event'))) {
        const source = member(event, 'listen') === target ? scriptText(event) : '';
        if (source.trim() === '') continue;
        try {
          await this.#scripts.run(source, { target, current }, turn, signal);
        } catch (thrown) {
          if (signal?.aborted === true) {
            await turn.response?.dispose();
            throw thrown;
          }
          first ??= encodeError(thrown);
        }
        if (turn.skipped) return first;
      }
    }
    const [later] = turn.errors.splice(0);
    return first ?? (later === undefined ? null : { error: later, code: 'SCRIPT_ERROR' });
  }

  /** A script may have given the request an authorization of its own. */
  #authOf(node: CollectionNode, item: unknown): CollectionAuth {
    const own = member(member(item, 'request'), 'auth');
    return asObject(own) === undefined ? authAt(this.#options.collection, node.path) : readAuth(own);
  }

  #namesOf(node: CollectionNode): string[] {
    const { collection } = this.#options;
    return pathsUp(node.path)
      .reverse()
      .slice(1)
      .map((path) => collection.nameAt(path));
  }

  #nextIndex(requests: readonly CollectionNode[]): number | null | undefined {
    const wanted = this.#next;
    if (wanted === undefined || wanted === null) return wanted;
    const index = requests.findIndex(({ name, value }) => name === wanted || member(value, 'id') === wanted);
    return index === -1 ? null : index;
  }
}

/** The node itself, or the requests of a folder in their order. */
export function requestsBelow(node: CollectionNode): CollectionNode[] {
  return node.kind === 'request' ? [node] : node.children.flatMap((child) => requestsBelow(child));
}
