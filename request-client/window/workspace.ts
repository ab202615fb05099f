import { dirname, resolve } from 'node:path';
import type { ConnectionSettings } from '#troupe/config/connection-settings.js';
import { counted } from '#troupe/protocol/counted.js';
import { encodeError, TroupeError } from '#troupe/protocol/errors.js';
import { exportCurl } from '../curl/export/export-curl.js';
import { writtenRequest } from '../curl/export/written-request.js';
import { authAt } from '../engine/collection/auth.js';
import type { CollectionNode } from '../engine/collection/collection.js';
import { folderScopes } from '../engine/collection/folder-variables.js';
import { VariableResolver, type VariableScope } from '../engine/collection/variables.js';
import { CollectionRunner, requestsBelow } from '../engine/collection-run/collection-runner.js';
import { type DataRow, readDataRows } from '../engine/collection-run/data-rows.js';
import { passed, type RequestResult } from '../engine/collection-run/result.js';
import { type Scopes, scopesInOrder, scopesOf } from '../engine/collection-run/scripts.js';
import { Routes } from '../engine/connection/routes.js';
import { type OAuthSettings, readOAuthSettings } from '../engine/oauth/oauth-settings.js';
import { TokenStore } from '../engine/oauth/token-store.js';
import type { RequestDraft } from '../engine/request.js';
import { CookieJar } from '../engine/run/cookie-jar.js';
import { exportCode } from '../formats/exports/export-code.js';
import type { CodeOptions } from '../protocol/request-exports.js';
import type { ClientSettings } from '../protocol/request-settings.js';
import {
  COLLECTION_ID,
  type CurlOptions,
  type CurlView,
  type DocumentView,
  type EnvironmentRow,
  type GroupEdit,
  type ProgressLine,
  type RunOptions,
  type ScopeValues,
  type TokenView,
} from '../protocol/request-window.js';
import { Drafts } from './drafts.js';
import { Environments } from './environments.js';
import { History } from './history.js';
import { HistoryFile } from './history-file.js';
import { OpenDocument } from './open-document.js';
import { runLine } from './run-line.js';
import { SettingsFile } from './settings-file.js';
import { WindowState } from './window-state.js';

export interface WorkspaceOptions {
  /** Shows a login page to the user. */
  openBrowser(url: string): Promise<void>;
  /** Where sent requests are stored; by default only in memory. */
  readonly history?: HistoryFile;
  /** The defaults, not saved, if it is missing. */
  readonly settings?: SettingsFile;
  /** What the command line changes in the settings. */
  readonly adapt?: (saved: ConnectionSettings) => ConnectionSettings;
  /** Where unsaved changes are kept; by default nowhere. */
  readonly drafts?: Drafts;
  /** What is kept from start to start; by default only in memory. */
  readonly state?: WindowState;
  readonly callbackPorts?: readonly number[];
  readonly loginTimeoutMs?: number;
  /** Milliseconds since 1970; for tests. */
  readonly now?: () => number;
}

/** Receives lines of progress. */
export type ReportProgress = (line: ProgressLine) => void;

/** Rows of a data file for one run; the results of more would not be kept. */
const MAX_ROWS = 10_000;
/** Shorter values occur in too many other texts. */
const MIN_SECRET_LENGTH = 4;

/**
 * The state of one window: a document, environments, variables, tokens and the history. Only saving, the history, and
 * drafts write to disk.
 */
export class Workspace {
  readonly environments: Environments;
  readonly history: History;
  readonly state: WindowState;
  readonly #drafts: Drafts;
  readonly #tokens: TokenStore;
  readonly #now: () => number;
  /** Operations that may need a login. */
  readonly #waiting = new Set<ReportProgress>();
  #document = OpenDocument.create();
  #revision = 0;
  #scopes: Scopes;
  readonly #settings: SettingsFile;
  readonly #adapt: (saved: ConnectionSettings) => ConnectionSettings;
  #routes: Routes;
  /** Until the window closes. */
  readonly cookies = new CookieJar();

  constructor(options: WorkspaceOptions) {
    const { openBrowser, history, callbackPorts, loginTimeoutMs, now = Date.now } = options;
    this.#now = now;
    this.#drafts = options.drafts ?? new Drafts(null);
    this.state = options.state ?? new WindowState(null);
    this.environments = new Environments(this.#drafts);
    this.#watch();
    this.#settings = options.settings ?? new SettingsFile(null);
    this.#adapt = options.adapt ?? ((saved) => saved);
    this.#routes = new Routes(this.#adapt(this.#settings.connection));
    this.history = new History(history ?? new HistoryFile(null));
    this.#scopes = scopesOf(this.#document.collection, new Map());
    const report = (url: string | null): void => {
      for (const one of this.#waiting) one({ kind: 'login', url });
    };
    this.#tokens = new TokenStore({
      async openBrowser(url) {
        report(url);
        await openBrowser(url);
      },
      loginOver: () => report(null),
      routes: () => this.#routes,
      now,
      ...(callbackPorts === undefined ? {} : { callbackPorts }),
      ...(loginTimeoutMs === undefined ? {} : { timeoutMs: loginTimeoutMs }),
    });
  }

  get document(): OpenDocument {
    return this.#document;
  }

  get view(): DocumentView {
    const { lines, active } = this.environments;
    return { ...this.#document.view, environments: lines, environment: active, values: this.#values() };
  }

  get settings(): ClientSettings {
    return this.#settings.settings;
  }

  /** For requests from now on. @throws INVALID_REQUEST naming what cannot be used */
  async changeSettings(settings: ClientSettings): Promise<void> {
    await this.#settings.save(settings);
    this.#routes = new Routes(this.#adapt(this.#settings.connection));
  }

  /** Replaces the open document by an empty one; its draft is removed. Environments and tokens are kept. */
  begin(): void {
    this.discardDraft();
    this.#take(OpenDocument.create());
  }

  /** Restores the new document of a process that was killed, if there is one. */
  async restoreNew(): Promise<void> {
    const draft = await this.#drafts.adopt();
    if (draft !== null) this.edit((document) => document.restore(draft));
  }

  /** Forgets the unsaved changes of the document, which the user does not want. */
  discardDraft(): void {
    this.#drafts.keep(this.#document.path, null);
  }

  /**
   * Opens a collection with its draft, and the environments beside it. The draft of the document that was open is
   * removed. @throws what {@link OpenDocument.open} throws; the open document is kept then
   */
  async open(path: string): Promise<void> {
    const own = resolve(path);
    const document = await OpenDocument.open(own);
    const draft = own === this.#document.path ? null : await this.#drafts.find(own);
    this.discardDraft();
    if (draft !== null) document.restore(draft);
    this.#take(document);
    await this.state.opened(own);
    await this.environments.openBeside(dirname(own));
  }

  async save(path: string | null, overwrite: boolean): Promise<void> {
    const before = this.#document.path;
    await this.#document.save(path === null ? null : resolve(path), overwrite);
    if (before !== this.#document.path) this.#drafts.keep(before, null);
    if (this.#document.path !== null) await this.state.opened(this.#document.path);
  }

  /** Changes the environments; values that scripts set are dropped. */
  async changeEnvironment(change: (environments: Environments) => Promise<void>): Promise<void> {
    await change(this.environments);
    this.#scopes = scopesOf(this.#document.collection, this.environments.values);
  }

  editEnvironment(id: string, rows: readonly EnvironmentRow[]): void {
    const before = this.environments.values;
    this.environments.edit(id, rows);
    carryOver(this.#scopes.environment, before, this.environments.values);
  }

  editGroup(id: string, edit: GroupEdit): void {
    this.edit((document) => document.editGroup(id, edit));
  }

  /** An edit that may change variables: changed ones get their new value, others keep what scripts assigned. */
  edit<T>(work: (document: OpenDocument) => T): T {
    const before = scopesOf(this.#document.collection, new Map()).collection;
    const result = work(this.#document);
    const after = scopesOf(this.#document.collection, new Map()).collection;
    carryOver(this.#scopes.collection, before, after);
    return result;
  }

  /** Sends one request with its scripts. A failure is in the last line; only the signal's reason is thrown. */
  async send(id: string, report: ReportProgress, signal: AbortSignal): Promise<void> {
    const node = this.#document.node(id);
    if (node.kind !== 'request') throw new TroupeError('INVALID_REQUEST', 'A folder is run, not sent');
    await this.#withRunner(report, async (runner) => {
      const at = this.#now();
      const result = await runner.run(node, signal);
      const sent = await this.history.add({ result, node, itemId: id, at }, (text) => this.#hidden(text));
      report({ kind: 'sent', sent, values: this.#values() });
    });
  }

  /** Runs a folder or the complete collection and reports each result. Only the signal's reason is thrown. */
  async run(id: string, options: RunOptions, report: ReportProgress, signal: AbortSignal): Promise<void> {
    const nodes = id === COLLECTION_ID ? this.#document.collection.items : [this.#document.node(id)];
    const ids = new Map(
      nodes.flatMap(requestsBelow).map((node) => [node, this.#document.idOf(node.path) ?? ''] as const),
    );
    const { data, iterations } = options;
    const rows: readonly DataRow[] =
      data === undefined ? Array.from({ length: iterations }, () => ({})) : readDataRows(data.text, data.name);
    if (rows.length > MAX_ROWS)
      throw new TroupeError(
        'INVALID_REQUEST',
        `${data?.name} has ${counted(rows.length, 'row')}; a run takes at most ${MAX_ROWS}`,
      );
    let ended = false;
    await this.#withRunner(report, async (runner) => {
      for (const [index, row] of rows.entries()) {
        if (ended) break;
        const iteration = index + 1;
        const heard = async (result: RequestResult, node: CollectionNode): Promise<'stop' | undefined> => {
          const sent = await this.history.add({ result, node, itemId: ids.get(node) ?? '', at: this.#now() }, (text) =>
            this.#hidden(text),
          );
          report({ kind: 'result', result: runLine(result, sent, iteration) });
          ended = options.stopAtFailure && !passed(result);
          return ended ? 'stop' : undefined;
        };
        try {
          await runner.runAll(nodes, heard, signal, { index, count: rows.length, data: row });
        } catch (error) {
          signal.throwIfAborted();
          report({ kind: 'failed', error: encodeError(error) });
          ended = true;
        }
      }
      report({ kind: 'ran', values: this.#values() });
    });
  }

  /** A request as a curl command, with its authorization unless that needs a token. */
  curlOf(id: string, { shell, values }: CurlOptions): CurlView {
    return this.#written(id, values, (request) => exportCurl(request, shell));
  }

  /** A request as code, with its authorization unless that needs a token. */
  codeOf(id: string, { language, values }: CodeOptions): CurlView {
    return this.#written(id, values, (request) => exportCode(request, language));
  }

  /** Adds a request of the history at the end of a folder. @returns its id @throws NOT_FOUND */
  takeFromHistory(id: string, parent: string | null): string {
    return this.#document.addItem(parent, this.history.item(id));
  }

  /** Replaces the token by a new one. */
  async newToken(id: string, report: ReportProgress, signal: AbortSignal): Promise<void> {
    try {
      const settings = this.#settingsOf(id);
      this.#tokens.forget(settings);
      await this.#whileWaiting(report, () => this.#tokens.token(settings, signal));
      report({ kind: 'token', token: this.#tokens.state(settings) });
    } catch (error) {
      report({ kind: 'failed', error: encodeError(error) });
    }
  }

  forgetToken(id: string): TokenView {
    const settings = this.#settingsOf(id);
    this.#tokens.forget(settings);
    return this.#tokens.state(settings);
  }

  /** `none` if the settings are incomplete. */
  token(id: string): TokenView {
    try {
      return this.#tokens.state(this.#settingsOf(id));
    } catch {
      return { state: 'none' };
    }
  }

  /** Idempotent. */
  async close(): Promise<void> {
    await this.#drafts.flush();
    await this.history.close();
  }

  #watch(): void {
    const document = this.#document;
    document.watch(() => this.#drafts.keep(document.path, document.draft));
  }

  #written(id: string, values: boolean, write: (request: RequestDraft) => CurlView): CurlView {
    const { collection } = this.#document;
    const node = this.#document.node(id);
    const { request, warnings } = writtenRequest(collection, node);
    const resolver = new VariableResolver(scopesInOrder(this.#scopes, folderScopes(collection, node.path)));
    const made = write(values ? resolver.request(request) : request);
    const missing = [...resolver.missing].map((name) => `No value for {{${name}}}`);
    return { command: made.command, warnings: [...warnings, ...missing, ...made.warnings] };
  }

  #take(document: OpenDocument): void {
    this.#document = document;
    this.#watch();
    this.#scopes = scopesOf(document.collection, this.environments.values);
  }

  async #withRunner(report: ReportProgress, work: (runner: CollectionRunner) => Promise<void>): Promise<void> {
    const { collection, path } = this.#document;
    const runner = new CollectionRunner({
      collection,
      environment: new Map(),
      scopes: this.#scopes,
      folder: path === null ? process.cwd() : dirname(path),
      tokens: this.#tokens,
      cookies: this.cookies,
      sendCookies: this.settings.cookies,
      requestTimeoutMs: this.settings.timeout * 1000,
      routes: this.#routes,
    });
    try {
      await this.#whileWaiting(report, () => work(runner));
    } finally {
      await runner.close();
    }
  }

  /** Masks tokens, and values that an environment marks as secret. */
  #hidden(text: string): string {
    const secrets = this.environments.secrets.filter(({ length }) => length >= MIN_SECRET_LENGTH);
    return secrets.reduce((made, secret) => made.replaceAll(secret, '********'), this.#tokens.mask(text));
  }

  async #whileWaiting<T>(report: ReportProgress, work: () => Promise<T>): Promise<T> {
    this.#waiting.add(report);
    try {
      return await work();
    } finally {
      this.#waiting.delete(report);
    }
  }

  #settingsOf(id: string): OAuthSettings {
    const { collection } = this.#document;
    const path = this.#document.pathOf(id);
    const auth = authAt(collection, path);
    if (auth.kind !== 'oauth2') throw new TroupeError('INVALID_REQUEST', 'It has no OAuth 2.0 settings');
    const resolver = new VariableResolver(scopesInOrder(this.#scopes, folderScopes(collection, path)));
    return readOAuthSettings(auth.settings, (text) => resolver.text(text), auth.parameters);
  }

  #values(): ScopeValues {
    const { local, environment, collection, globals } = this.#scopes;
    this.#revision += 1;
    return { revision: this.#revision, base: merged(globals, collection), over: merged(environment, local) };
  }
}

/** Edited variables get their new value; others keep what scripts assigned. */
function carryOver(scope: Map<string, string>, before: VariableScope, after: VariableScope): void {
  for (const [name, value] of after) if (before.get(name) !== value) scope.set(name, value);
  for (const name of before.keys()) if (!after.has(name)) scope.delete(name);
}

/** The last scope with a name takes precedence. */
function merged(...scopes: readonly VariableScope[]): Record<string, string> {
  return Object.assign({}, ...scopes.map((scope) => Object.fromEntries(scope)));
}
