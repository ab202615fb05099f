import { encodeError, TroupeError } from '../../protocol/errors.js';
import { authAt, type CollectionAuth, pathsUp } from '../collection/auth.js';
import { authorize, withHeader } from '../collection/authorize.js';
import type { Collection, CollectionNode } from '../collection/collection.js';
import { folderScopes } from '../collection/folder-variables.js';
import { listOf, member, textOf } from '../collection/json-access.js';
import { readRequest } from '../collection/read-request.js';
import { VariableResolver } from '../collection/variables.js';
import { type OAuthSettings, readOAuthSettings } from '../oauth/oauth-settings.js';
import type { TokenStore } from '../oauth/token-store.js';
import type { RequestDraft } from '../request.js';
import type { HttpResponse } from '../run/response.js';
import { HttpSender, type ReachBounds, type SendBounds } from '../run/send-request.js';
import type { RequestResult } from './result.js';
import { type Scopes, Scripts, type ScriptTurn, scopesInOrder, scopesOf } from './scripts.js';

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
  readonly #scripts: Scripts;
  #next: string | null | undefined;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#sender = new HttpSender(options.reach);
    this.#scopes = options.scopes ?? scopesOf(options.collection, options.environment);
    this.#scripts = new Scripts({
      scopes: this.#scopes,
      send: (request, signal) => this.#sender.send(request, this.#bounds(signal)),
      timeoutMs: options.scriptTimeoutMs ?? SCRIPT_TIMEOUT_MS,
    });
  }

  /**
   * Runs all requests below `nodes` in their order, or as `setNextRequest` demands. `heard` receives each result,
   * disposes of its response, and may end the run.
   */
  async runAll(nodes: readonly CollectionNode[], onResult: ResultListener, signal?: AbortSignal): Promise<void> {
    const requests = nodes.flatMap((node) => requestsBelow(node));
    let at = 0;
    for (let sent = 0; at < requests.length; sent += 1) {
      signal?.throwIfAborted();
      const node = requests[at];
      if (node === undefined) return;
      if (sent === MAX_REQUESTS)
        throw new TroupeError(
          'REQUEST_FAILED',
          `The run seems to loop: ${MAX_REQUESTS} requests were sent; check setNextRequest`,
        );
      this.#next = undefined;
      if ((await onResult(await this.run(node, signal), node)) === 'stop') return;
      const next = this.#nextIndex(requests);
      if (next === null) return;
      at = next ?? at + 1;
    }
  }

  /**
   * Runs one request. Throws only for the signal: other failures are in the result. The caller disposes of the
   * response.
   */
  async run(node: CollectionNode, signal?: AbortSignal): Promise<RequestResult> {
    const startedAt = performance.now();
    const folders = folderScopes(this.#options.collection, node.path);
    const resolver = new VariableResolver(scopesInOrder(this.#scopes, folders));
    const turn: ScriptTurn = {
      request: readRequest(node.value),
      response: null,
      folders,
      tests: [],
      console: [],
      next: undefined,
    };
    let response: HttpResponse | null = null;
    let error: RequestResult['error'] = null;
    try {
      await this.#runScripts(node, 'prerequest', turn, signal);
      const resolved = resolver.request(turn.request);
      turn.request = resolved;
      response = await this.#send(resolved, authAt(this.#options.collection, node.path), resolver, signal);
      await this.#runScripts(node, 'test', { ...turn, response }, signal, turn);
    } catch (thrown) {
      if (signal?.aborted === true) {
        await response?.dispose();
        throw thrown;
      }
      error = encodeError(thrown);
    }
    if (turn.next !== undefined) this.#next = turn.next;
    return {
      path: this.#namesOf(node),
      request: turn.request,
      response,
      error,
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

  #bounds(signal: AbortSignal | undefined): SendBounds {
    const { folder, filesWithin, requestTimeoutMs, maxBodyBytes } = this.#options;
    const timeoutMs = requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
    return { folder, filesWithin, timeoutMs, maxBodyBytes, ...(signal === undefined ? {} : { signal }) };
  }

  async #runScripts(
    node: CollectionNode,
    listen: 'prerequest' | 'test',
    turn: ScriptTurn,
    signal: AbortSignal | undefined,
    reported: ScriptTurn = turn,
  ): Promise<void> {
    const { collection } = this.#options;
    for (const path of pathsUp(node.path).reverse()) {
      const where = path.length === 0 ? 'collection' : collection.nameAt(path);
      for (const event of listOf(member(collection.at(path), 'event'))) {
        const script = member(event, 'script');
        if (member(event, 'listen') !== listen || member(event, 'disabled') === true) continue;
        const exec = member(script, 'exec');
        const source =
          typeof exec === 'string'
            ? exec
            : listOf(exec)
                .map((line) => textOf(line) ?? '')
                .join('\n');
        if (source.trim() === '') continue;
        await this.#scripts.run(source, `${listen === 'test' ? 'After' : 'Before'} of ${where}`, turn, signal);
        reported.next = turn.next;
      }
    }
  }

  /** With OAuth 2.0, a rejected token is replaced once, if that needs no browser. */
  async #send(
    request: RequestDraft,
    auth: CollectionAuth,
    resolver: VariableResolver,
    signal: AbortSignal | undefined,
  ): Promise<HttpResponse> {
    const text = (value: string): string => resolver.text(value);
    if (auth.kind !== 'oauth2') {
      return this.#sender.send(authorize(request, auth, text), this.#bounds(signal));
    }
    const settings = readOAuthSettings(auth.settings, text);
    const first = await this.#sendWithToken(request, settings, signal);
    if (first.response.status !== 401 || !this.#options.tokens.refused(settings, first.token)) return first.response;
    await first.response.dispose();
    return (await this.#sendWithToken(request, settings, signal)).response;
  }

  async #sendWithToken(
    request: RequestDraft,
    settings: OAuthSettings,
    signal: AbortSignal | undefined,
  ): Promise<{ token: string; response: HttpResponse }> {
    const token = await this.#options.tokens.token(settings, signal);
    const authorized = withHeader(request, 'Authorization', `Bearer ${token}`);
    return { token, response: await this.#sender.send(authorized, this.#bounds(signal)) };
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
