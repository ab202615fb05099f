import type { AttachedPage, BrowserPort, ConnectionEnd, SendOptions } from '../../agent-js/browser/browser-port.js';
import type {
  CdpEvent,
  CdpMethod,
  CdpParams,
  CdpResult,
  CdpTargetFilter,
  CdpTargetInfo,
} from '../../agent-js/browser/cdp.js';
import { systemClock } from '../../base/clock.js';
import { onAbort } from '../../base/deadline.js';
import type { BrowserEndpoint } from '../../containers/driver.js';
import { TroupeError } from '../../protocol/errors.js';
import type { BrowserOptions } from './browser-options.js';
import { CdpConnection } from './connection/cdp-connection.js';
import type { DevToolsChannel } from './connection/devtools-channel.js';
import { PageDefaults } from './page-defaults.js';
import { restoreStorage } from './storage-state.js';

/** Pages alone: a worker that we attached to would wait for us before it starts. */
const PAGES: CdpTargetFilter = [{ type: 'page', exclude: false }, { exclude: true }];
/** Pages open at once; a further one is closed as it opens. */
const MAX_PAGES = 50;
/** A page that does not answer in this time to a connection that takes over is given up. */
const PROBE_MS = 2_000;

/**
 * The connection of one session to its browser: the browser's default context, whose pages outlive the connection. The
 * browser itself belongs to the owner of its lease.
 */
export class Browser implements BrowserPort {
  readonly downloadsDir: string;
  readonly uploadsDir: string;
  readonly lost: Promise<ConnectionEnd>;
  readonly #connection: CdpConnection;
  readonly #stopListening: () => void;
  #defaults: PageDefaults;
  readonly #pages = new Map<string, AttachedPage>();
  readonly #pageListeners = new Set<(page: AttachedPage) => void>();
  #pageLost = false;
  #restoring = false;

  private constructor(
    connection: CdpConnection,
    channel: DevToolsChannel,
    endpoint: BrowserEndpoint,
    defaults: PageDefaults,
  ) {
    this.#connection = connection;
    this.#defaults = defaults;
    this.downloadsDir = endpoint.downloadsDir;
    this.uploadsDir = endpoint.uploadsDir;
    this.lost = connection.closed;
    connection.listen((event) => this.#observe(event));
    this.#stopListening = channel.onLeave(() => this.#setAgain());
  }

  /**
   * Attaches to every page of the browser (opens one if there is none) and gives it the session's options.
   *
   * @param bounds `takesOver`: an earlier connection has used this browser, and its pages stay as they are, but for those
   *   that do not answer, which are closed (see {@link pageLost}). `deadlineMs` counts from the call
   * @throws WORKER_LOST when the browser does not answer, INVALID_REQUEST when it refuses an option
   */
  static async connect(
    endpoint: BrowserEndpoint,
    channel: DevToolsChannel,
    options: BrowserOptions,
    bounds: { readonly takesOver?: boolean; readonly signal: AbortSignal; readonly deadlineMs: number },
  ): Promise<Browser> {
    const connection = await CdpConnection.open(channel, bounds);
    const close = () => connection.close();
    const forget = onAbort(bounds.signal, close);
    const cancelTimer = systemClock.after(bounds.deadlineMs, close);
    try {
      const browser = new Browser(connection, channel, endpoint, await PageDefaults.of(connection, options));
      await browser.#attach();
      if (bounds.takesOver === true) await browser.#dropHeldPages();
      else await browser.#prepare(options);
      bounds.signal.throwIfAborted();
      return browser;
    } catch (error) {
      connection.close();
      bounds.signal.throwIfAborted();
      throw error;
    } finally {
      cancelTimer();
      forget();
    }
  }

  send<M extends CdpMethod>(method: M, params: CdpParams<M>, options?: SendOptions): Promise<CdpResult<M>> {
    return this.#connection.send(method, params, options);
  }

  listen(listener: (event: CdpEvent) => void): () => void {
    return this.#connection.listen(listener);
  }

  onPage(listener: (page: AttachedPage) => void): () => void {
    this.#pageListeners.add(listener);
    for (const page of this.#pages.values()) listener(page);
    return () => this.#pageListeners.delete(listener);
  }

  /** True when the connection took over and found a page that did not answer: that one is gone. */
  get pageLost(): boolean {
    return this.#pageLost;
  }

  /**
   * Gives the pages of a browser that nobody has used yet other options than it was connected with.
   * @throws INVALID_REQUEST when the browser refuses one
   */
  async apply(options: BrowserOptions): Promise<void> {
    this.#defaults = await PageDefaults.of(this.#connection, options);
    for (const session of this.#pages.keys()) this.#defaults.apply(session);
    await this.#prepare(options);
  }

  /** Settles when the first page answers. @throws WAIT_TIMEOUT, WORKER_LOST */
  async probe(timeoutMs: number): Promise<null> {
    await this.send('Runtime.evaluate', { expression: '1' }, { session: this.#firstPage(), timeoutMs });
    return null;
  }

  /** Lets go of the browser; it and its pages live on. Idempotent. */
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

  /** Under names of its own: under theirs, a file would take the place of an earlier one. */
  #setDownloads(): Promise<unknown> {
    const { downloadsDir: downloadPath } = this;
    return this.send('Browser.setDownloadBehavior', { behavior: 'allowAndName', downloadPath, eventsEnabled: true });
  }

  /** What another client set in the browser went with it, and what it had replaced: downloads, options of pages. */
  #setAgain(): void {
    this.#setDownloads().catch(passOver);
    for (const session of this.#pages.keys()) this.#defaults.apply(session);
  }

  async #openPage(): Promise<void> {
    await this.send('Target.createTarget', { url: 'about:blank' });
  }

  #firstPage(): string {
    const [first] = this.#pages.keys();
    if (first === undefined) throw new TroupeError('WORKER_LOST', 'The browser opens no page');
    return first;
  }

  /** The options of a browser that nobody has used yet. */
  async #prepare(options: BrowserOptions): Promise<void> {
    const first = this.#firstPage();
    await this.#defaults.accepted;
    if (options.storageState === undefined) return;
    this.#restoring = true;
    await restoreStorage(this, first, options.storageState);
    this.#restoring = false;
    // Restoring answers the page's requests itself, and leaves nobody to answer a demand for credentials.
    this.#defaults.apply(first);
  }

  /**
   * A page whose script never ends answers nobody, and so does one with a dialog open: a dialog can be closed by the
   * connection that saw it open and by no other, nor does Chromium end a script for one that came later.
   */
  async #dropHeldPages(): Promise<void> {
    const pages = [...this.#pages.values()];
    const answers = await Promise.all(pages.map((page) => this.#answers(page)));
    const held = pages.filter((_, index) => answers[index] === false);
    if (held.length === 0) return;
    this.#pageLost = true;
    if (held.length === pages.length) await this.#openPage();
    for (const { session, targetId } of held) {
      this.#pages.delete(session);
      await this.send('Target.closeTarget', { targetId });
    }
  }

  async #answers({ session }: AttachedPage): Promise<boolean> {
    // What the page wrote was told by the connection before; it would all come again, also what was too long to read.
    this.send('Runtime.discardConsoleEntries', {}, { session }).catch(passOver);
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
      this.send('Target.closeTarget', { targetId: info.targetId }).catch(passOver);
      return;
    }
    const { targetId, openerId, url, title } = info;
    const page: AttachedPage = { session, targetId, openerId, url, title };
    this.#pages.set(session, page);
    this.#defaults.apply(session);
    for (const listener of [...this.#pageListeners]) listener(page);
    if (waiting) this.send('Runtime.runIfWaitingForDebugger', {}, { session }).catch(passOver);
  }
}

/** The page may be gone before the command reaches it. */
function passOver(): void {}
