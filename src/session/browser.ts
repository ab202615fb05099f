import type {
  AttachedPage,
  BrowserPort,
  ConnectionEnd,
  PageSize,
  SendOptions,
} from '../agent-js/browser/browser-port.js';
import type {
  CdpEvent,
  CdpMethod,
  CdpParams,
  CdpResult,
  CdpTargetFilter,
  CdpTargetInfo,
} from '../agent-js/browser/cdp.js';
import { onAbort, settlesWithin, startLimit, stretched } from '../base/deadline.js';
import type { BrowserEndpoint } from '../containers/driver.js';
import { TroupeError } from '../protocol/errors.js';
import { CdpConnection } from './connection/cdp-connection.js';
import type { DevToolsChannel, LeftUser } from './connection/devtools-channel.js';
import { endPages } from './end-pages.js';
import { PageDefaults } from './page-defaults.js';
import { grantPermissions } from './permissions.js';
import type { BrowserOptions } from './session-options.js';
import { restoreStorage } from './storage-state.js';

/** Pages only: a worker that we attached to would not start until we resumed it. */
const PAGES: CdpTargetFilter = [{ type: 'page', exclude: false }, { exclude: true }];
/** Open pages at most; a further one is closed at once. */
const MAX_PAGES = 50;
/** When the actor takes over a browser, a page that does not answer within this time is closed. */
const PROBE_MS = stretched(2_000);
/** So long a page may take to close; one that computes is closed by force within a second or two. */
const CLOSE_MS = 10_000;

/**
 * A session's connection to its browser. It uses the browser's default context, whose pages outlive the connection. The
 * browser itself belongs to the owner of its lease.
 */
export class Browser implements BrowserPort {
  readonly downloadsDir: string;
  readonly uploadsDir: string;
  readonly lost: Promise<ConnectionEnd>;
  readonly #connection: CdpConnection;
  readonly #stopListening: () => void;
  #options: BrowserOptions;
  #defaults: PageDefaults;
  readonly #pages = new Map<string, AttachedPage>();
  readonly #pageListeners = new Set<(page: AttachedPage) => void>();
  #pageLost = false;
  #restoring = false;

  private constructor(
    connection: CdpConnection,
    channel: DevToolsChannel,
    endpoint: BrowserEndpoint,
    options: BrowserOptions,
    defaults: PageDefaults,
  ) {
    this.#connection = connection;
    this.#options = options;
    this.#defaults = defaults;
    this.downloadsDir = endpoint.downloadsDir;
    this.uploadsDir = endpoint.uploadsDir;
    this.lost = connection.closed;
    connection.listen((event) => this.#observe(event));
    this.#stopListening = channel.onLeave((left) => this.#reapplySettings(left));
  }

  /**
   * Attaches to every page of the browser (opens one if there is none) and applies the session's options.
   *
   * @param bounds `takesOver`: an earlier connection has used this browser. Its pages stay as they are, except that
   * pages
   *   that do not answer are closed (see {@link pageLost}), and all if `losesPages`. `deadlineMs` counts from the call
   * @throws WORKER_LOST if the browser does not answer, INVALID_REQUEST if it rejects an option
   */
  static async connect(
    endpoint: BrowserEndpoint,
    channel: DevToolsChannel,
    options: BrowserOptions,
    bounds: {
      readonly takesOver?: boolean;
      readonly losesPages?: boolean;
      readonly signal: AbortSignal;
      readonly deadlineMs: number;
    },
  ): Promise<Browser> {
    const connection = await CdpConnection.open(channel, bounds);
    const close = () => connection.close();
    const removeAbortListener = onAbort(bounds.signal, close);
    const cancelTimer = startLimit(bounds.deadlineMs, close);
    try {
      // Before the rules of earlier sessions end, so that no request which they hold goes on to the server.
      if (bounds.losesPages === true) await endPages(connection, CLOSE_MS);
      channel.endEarlierSessions();
      const browser = new Browser(connection, channel, endpoint, options, await PageDefaults.of(connection, options));
      await browser.#attach();
      if (bounds.takesOver === true) {
        await browser.#closePages(bounds.losesPages === true);
        await browser.#grantPermissions();
      } else await browser.#prepare();
      bounds.signal.throwIfAborted();
      return browser;
    } catch (error) {
      connection.close();
      bounds.signal.throwIfAborted();
      throw error;
    } finally {
      cancelTimer();
      removeAbortListener();
    }
  }

  get pageSize(): PageSize {
    return this.#defaults.pageSize;
  }

  send<M extends CdpMethod>(method: M, params: CdpParams<M>, options?: SendOptions): Promise<CdpResult<M>> {
    return this.#connection.send(method, params, options);
  }

  listen(listener: (event: CdpEvent) => void): () => void {
    return this.#connection.listen(listener);
  }

  /** Passes on what the browser says of downloads, as CDP's text: only this connection has asked for it. */
  onDownloadMessage(listener: (text: string) => void): () => void {
    return this.listen(({ method, params, session }) => {
      if (session !== undefined || !method.startsWith('Browser.download')) return;
      listener(JSON.stringify({ method, params }));
    });
  }

  onPage(listener: (page: AttachedPage) => void): () => void {
    this.#pageListeners.add(listener);
    for (const page of this.#pages.values()) listener(page);
    return () => this.#pageListeners.delete(listener);
  }

  /** True if the connection took over the browser and closed a page that did not answer. */
  get pageLost(): boolean {
    return this.#pageLost;
  }

  /**
   * Applies a session's options to a browser that was connected with other options and has not been used yet.
   * @throws INVALID_REQUEST if the browser rejects one
   */
  async apply(options: BrowserOptions): Promise<void> {
    this.#options = options;
    this.#defaults = await PageDefaults.of(this.#connection, options);
    for (const session of this.#pages.keys()) this.#defaults.apply(session);
    await this.#prepare();
  }

  /** Resolves when the first page answers. @throws WAIT_TIMEOUT, WORKER_LOST */
  async probe(timeoutMs: number): Promise<null> {
    await this.send('Runtime.evaluate', { expression: '1' }, { session: this.#firstPage(), timeoutMs });
    return null;
  }

  /** Disconnects from the browser; it and its pages continue. Idempotent. */
  close(): void {
    this.#stopListening();
    this.#pageListeners.clear();
    this.#connection.close();
  }

  async #attach(): Promise<void> {
    const attach = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true, filter: PAGES };
    await Promise.all([
      this.#setDownloads(),
      this.send('Target.setDiscoverTargets', { discover: true, filter: PAGES }),
      this.send('Target.setAutoAttach', attach),
    ]);
    if (this.#pages.size === 0) await this.#openPage();
  }

  /** Downloads get unique names: under their own, a file would replace an earlier one. */
  #setDownloads(): Promise<unknown> {
    const { downloadsDir: downloadPath } = this;
    return this.send('Browser.setDownloadBehavior', { behavior: 'allowAndName', downloadPath, eventsEnabled: true });
  }

  /**
   * A client that disconnected took its settings with it, and ours that they had replaced: set downloads and options
   * again. Permissions only if it had set any: what a script has granted since then would be lost.
   */
  #reapplySettings({ setPermissions }: LeftUser): void {
    this.#setDownloads().catch(ignore);
    for (const session of this.#pages.keys()) this.#defaults.apply(session);
    if (setPermissions) this.#grantPermissions().catch(ignore);
  }

  /** The browser takes them back when the connection ends that granted them. */
  async #grantPermissions(): Promise<void> {
    const { permissions } = this.#options;
    if (permissions !== undefined) await grantPermissions(this, permissions);
  }

  async #openPage(): Promise<void> {
    await this.send('Target.createTarget', { url: 'about:blank' });
  }

  #firstPage(): string {
    const [first] = this.#pages.keys();
    if (first === undefined) throw new TroupeError('WORKER_LOST', 'The browser has no open page');
    return first;
  }

  /** Applies the options to a browser that has not been used yet. */
  async #prepare(): Promise<void> {
    const first = this.#firstPage();
    await this.#defaults.accepted;
    await this.#grantPermissions();
    const { storageState } = this.#options;
    if (storageState === undefined) return;
    this.#restoring = true;
    await restoreStorage(this, first, storageState);
    this.#restoring = false;
    // Restoring intercepts the page's requests; afterwards credential challenges need their handler again.
    this.#defaults.apply(first);
  }

  /**
   * Closes pages that do not answer: their script never ends, or a dialog is open. Only the connection that saw a
   * dialog
   * open can close it, and Chromium does not end a script for a connection that came later.
   * @param all also pages that answer
   */
  async #closePages(all: boolean): Promise<void> {
    const pages = [...this.#pages.values()];
    const answers = await Promise.all(pages.map((page) => (all ? false : this.#answers(page))));
    const held = pages.filter((_, index) => answers[index] === false);
    if (held.length === 0) return;
    this.#pageLost = true;
    if (held.length === pages.length) await this.#openPage();
    const gone = this.#detached(held);
    for (const { session, targetId } of held) {
      this.#pages.delete(session);
      await this.send('Target.closeTarget', { targetId });
    }
    if (all && !(await settlesWithin(gone, CLOSE_MS))) {
      throw new TroupeError('WORKER_LOST', 'A page of the browser could not be closed');
    }
  }

  /** Resolves when none of these pages is there any more. */
  #detached(pages: readonly AttachedPage[]): Promise<void> {
    const left = new Set(pages.map(({ session }) => session));
    return new Promise((resolve) => {
      const stop = this.listen(({ method, params }) => {
        if (method !== 'Target.detachedFromTarget' || !left.delete(params.sessionId) || left.size > 0) return;
        stop();
        resolve();
      });
    });
  }

  async #answers({ session }: AttachedPage): Promise<boolean> {
    // The earlier connection has emitted the console's entries; they would be sent again, including one too long to
    // read.
    this.send('Runtime.discardConsoleEntries', {}, { session }).catch(ignore);
    try {
      await this.send('Runtime.evaluate', { expression: '1' }, { session, timeoutMs: PROBE_MS });
      return true;
    } catch (error) {
      if (error instanceof TroupeError && error.code === 'WORKER_LOST') throw error;
      return false;
    }
  }

  #observe(event: CdpEvent): void {
    switch (event.method) {
      case 'Target.attachedToTarget':
        this.#attached(event.params.sessionId, event.params.targetInfo, event.params.waitingForDebugger);
        return;
      case 'Target.detachedFromTarget':
        this.#pages.delete(event.params.sessionId);
        return;
      case 'Fetch.authRequired':
      case 'Fetch.requestPaused':
        if (!this.#restoring) this.#defaults.answerRequest(event);
        return;
      default:
    }
  }

  #attached(session: string, info: CdpTargetInfo, waiting: boolean): void {
    if (info.type !== 'page') return;
    if (this.#pages.size >= MAX_PAGES) {
      this.send('Target.closeTarget', { targetId: info.targetId }).catch(ignore);
      return;
    }
    const { targetId, openerId, url, title } = info;
    const page: AttachedPage = { session, targetId, openerId, url, title };
    this.#pages.set(session, page);
    this.#defaults.apply(session);
    for (const listener of [...this.#pageListeners]) listener(page);
    if (waiting) this.send('Runtime.runIfWaitingForDebugger', {}, { session }).catch(ignore);
  }
}

/** Ignores the error: the page may have gone before the command reached it. */
function ignore(): void {}
