import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import type { DocumentView, PairRow, ProgressLine, TokenView } from '../../protocol/request-window.js';
import { authAt } from '../collection/auth.js';
import { environmentOf } from '../collection/environment.js';
import { VariableResolver } from '../collection/variables.js';
import { CollectionRunner } from '../collection-run/collection-runner.js';
import { type Scopes, scopesInOrder, scopesOf } from '../collection-run/scripts.js';
import { type OAuthSettings, readOAuthSettings } from '../oauth/oauth-settings.js';
import { TokenStore } from '../oauth/token-store.js';
import { OpenDocument } from './open-document.js';
import { SentHistory } from './sent-history.js';

export interface WorkspaceOptions {
  /** Shows a login page to the user. */
  openBrowser(url: string): Promise<void>;
  readonly callbackPorts?: readonly number[];
  readonly loginTimeoutMs?: number;
  /** Milliseconds since 1970; for tests. */
  readonly now?: () => number;
}

/** Hears lines while something is under way. */
export type Tell = (line: ProgressLine) => void;

/** What one window works on: a document, an environment, variables, tokens and what was sent. Nothing of it is written but by saving. */
export class Workspace {
  readonly history = new SentHistory();
  readonly #tokens: TokenStore;
  readonly #now: () => number;
  /** Everybody who waits for something that may need a login. */
  readonly #waiting = new Set<Tell>();
  #document = OpenDocument.create();
  #environment: { readonly path: string; readonly values: ReadonlyMap<string, string> } | null = null;
  #scopes: Scopes;

  constructor({ openBrowser, callbackPorts, loginTimeoutMs, now = Date.now }: WorkspaceOptions) {
    this.#now = now;
    this.#scopes = scopesOf(this.#document.collection, new Map());
    const tell = (url: string | null): void => {
      for (const one of this.#waiting) one({ kind: 'login', url });
    };
    this.#tokens = new TokenStore({
      async openBrowser(url) {
        tell(url);
        await openBrowser(url);
      },
      loginOver: () => tell(null),
      now,
      ...(callbackPorts === undefined ? {} : { callbackPorts }),
      ...(loginTimeoutMs === undefined ? {} : { timeoutMs: loginTimeoutMs }),
    });
  }

  get document(): OpenDocument {
    return this.#document;
  }

  get view(): DocumentView {
    const environment = this.#environment;
    return {
      ...this.#document.view,
      environment: environment === null ? null : { path: environment.path, name: basename(environment.path) },
      values: this.#values(),
    };
  }

  /** An empty document in the place of the open one. Tokens stay. */
  begin(): void {
    this.#take(OpenDocument.create());
  }

  /** @throws what {@link OpenDocument.open} does; the open document stays then */
  async open(path: string): Promise<void> {
    this.#take(await OpenDocument.open(resolve(path)));
  }

  async save(path: string | null, overwrite: boolean): Promise<void> {
    await this.#document.save(path === null ? null : resolve(path), overwrite);
  }

  /** @param path of an environment file; null closes the one that is open */
  async useEnvironment(path: string | null): Promise<void> {
    const own = path === null ? null : resolve(path);
    const text = own === null ? '' : await readFile(own, 'utf8').catch(() => null);
    if (text === null) throw new TroupeError('NOT_FOUND', `There is no file ${own}`);
    this.#environment = own === null ? null : { path: own, values: environmentOf(text) };
    this.#scopes = scopesOf(this.#document.collection, this.#environment?.values ?? new Map());
  }

  /** Variables of the collection. */
  setVariables(rows: readonly PairRow[]): void {
    this.edit((document) => document.setVariables(rows));
  }

  /** An edit that may change variables: those that it changes have its value now, others what scripts made of them. */
  edit<T>(work: (document: OpenDocument) => T): T {
    const before = scopesOf(this.#document.collection, new Map()).collection;
    const result = work(this.#document);
    const after = scopesOf(this.#document.collection, new Map()).collection;
    const { collection } = this.#scopes;
    for (const [name, value] of after) if (before.get(name) !== value) collection.set(name, value);
    for (const name of before.keys()) if (!after.has(name)) collection.delete(name);
    return result;
  }

  /** Sends one request with its scripts. What goes wrong is in the last line; only the signal's reason is thrown. */
  async send(id: string, tell: Tell, signal: AbortSignal): Promise<void> {
    const { collection, path } = this.#document;
    const node = this.#document.node(id);
    if (node.kind !== 'request') throw new TroupeError('INVALID_REQUEST', 'A folder cannot be sent');
    const runner = new CollectionRunner({
      collection,
      environment: new Map(),
      scopes: this.#scopes,
      folder: path === null ? process.cwd() : dirname(path),
      tokens: this.#tokens,
    });
    try {
      const at = this.#now();
      const result = await this.#whileWaiting(tell, () => runner.run(node, signal));
      const sent = await this.history.add(result, id, at, (text) => this.#tokens.mask(text));
      tell({ kind: 'sent', sent, values: this.#values() });
    } finally {
      await runner.close();
    }
  }

  /** A token in the place of the one that there is. */
  async newToken(id: string, tell: Tell, signal: AbortSignal): Promise<void> {
    try {
      const settings = this.#settingsOf(id);
      this.#tokens.forget(settings);
      await this.#whileWaiting(tell, () => this.#tokens.token(settings, signal));
      tell({ kind: 'token', token: this.#tokens.state(settings) });
    } catch (error) {
      tell({ kind: 'failed', error: encodeError(error) });
    }
  }

  forgetToken(id: string): TokenView {
    const settings = this.#settingsOf(id);
    this.#tokens.forget(settings);
    return this.#tokens.state(settings);
  }

  /** `none` where the settings are not complete. */
  token(id: string): TokenView {
    try {
      return this.#tokens.state(this.#settingsOf(id));
    } catch {
      return { state: 'none' };
    }
  }

  /** Idempotent. */
  async close(): Promise<void> {
    await this.history.clear();
  }

  #take(document: OpenDocument): void {
    this.#document = document;
    this.#scopes = scopesOf(document.collection, this.#environment?.values ?? new Map());
  }

  async #whileWaiting<T>(tell: Tell, work: () => Promise<T>): Promise<T> {
    this.#waiting.add(tell);
    try {
      return await work();
    } finally {
      this.#waiting.delete(tell);
    }
  }

  #settingsOf(id: string): OAuthSettings {
    const auth = authAt(this.#document.collection, this.#document.node(id).path);
    if (auth.kind !== 'oauth2') throw new TroupeError('INVALID_REQUEST', 'The request has no OAuth 2.0 settings');
    const resolver = new VariableResolver(scopesInOrder(this.#scopes));
    return readOAuthSettings(auth.settings, (text) => resolver.text(text));
  }

  #values(): Record<string, string> {
    return Object.assign(
      {},
      ...scopesInOrder(this.#scopes)
        .reverse()
        .map((scope) => Object.fromEntries(scope)),
    );
  }
}
