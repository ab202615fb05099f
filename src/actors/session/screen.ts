import type { BrowserPort } from '../../agent-js/browser-port.js';
import type { CdpEvent, CdpMethod, CdpParams } from '../../agent-js/cdp.js';

/** What a page showed: a JPEG, and its size in the page's own pixels. */
export interface ScreenFrame {
  /** Rises with each frame of the session. */
  readonly number: number;
  readonly jpeg: Uint8Array;
  readonly width: number;
  readonly height: number;
}

export interface FrameOrder {
  /** The number of the frame that the asker has; 0 for none. */
  readonly after: number;
  /** When no newer one comes within this time the answer is null. */
  readonly timeoutMs: number;
}

const SIZE = { maxWidth: 1280, maxHeight: 1280, quality: 60 };
/** After so long without an asker the browser stops drawing for us. */
const LINGER_MS = 2_000;

/**
 * What a session's active page shows, for whoever asks. Asked for one frame at a time: the browser draws the next only
 * when the last was taken, so that the newest wins, nothing queues up, and a page that nobody watches costs nothing.
 *
 *   idle --asked--> casting (a tab) --LINGER_MS without an asker, or closed--> idle
 */
export class Screen {
  readonly #browser: BrowserPort;
  readonly #activePage: () => string | undefined;
  readonly #unlisten: () => void;
  readonly #waiting = new Set<() => void>();
  #casting: string | null = null;
  #newest: ScreenFrame | null = null;
  #unacknowledged: number | null = null;
  #linger: NodeJS.Timeout | undefined;

  /** @param activePage the CDP session of the tab that is on the screen */
  constructor(browser: BrowserPort, activePage: () => string | undefined) {
    this.#browser = browser;
    this.#activePage = activePage;
    this.#unlisten = browser.listen((event) => this.#observe(event));
  }

  /** The newest frame, as soon as there is one that the asker does not have. */
  async next({ after, timeoutMs }: FrameOrder, signal: AbortSignal): Promise<ScreenFrame | null> {
    clearTimeout(this.#linger);
    this.#linger = setTimeout(() => this.#stop(), timeoutMs + LINGER_MS);
    this.#cast();
    const isNewer = () => this.#newest !== null && this.#newest.number > after;
    if (!isNewer()) await this.#frame(timeoutMs, signal);
    return isNewer() ? this.#newest : null;
  }

  /** The browser draws for nobody any more. Idempotent. */
  close(): void {
    this.#unlisten();
    this.#stop();
    for (const wake of this.#waiting) wake();
  }

  #cast(): void {
    const page = this.#activePage();
    if (page !== undefined && page !== this.#casting) {
      this.#stop();
      this.#casting = page;
      this.#send(page, 'Page.startScreencast', { format: 'jpeg', ...SIZE });
    } else if (this.#casting !== null && this.#unacknowledged !== null) {
      this.#send(this.#casting, 'Page.screencastFrameAck', { sessionId: this.#unacknowledged });
      this.#unacknowledged = null;
    }
  }

  #observe(event: CdpEvent): void {
    if (event.method !== 'Page.screencastFrame' || event.session !== this.#casting) return;
    const { data, metadata, sessionId } = event.params;
    this.#unacknowledged = sessionId;
    this.#newest = {
      number: (this.#newest?.number ?? 0) + 1,
      jpeg: Buffer.from(data, 'base64'),
      width: metadata.deviceWidth,
      height: metadata.deviceHeight,
    };
    for (const wake of this.#waiting) wake();
  }

  /** Settles with the next frame, after the time, or with the signal. */
  #frame(timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      signal.addEventListener('abort', done, { once: true });
      this.#waiting.add(done);
    });
  }

  #stop(): void {
    clearTimeout(this.#linger);
    if (this.#casting !== null) this.#send(this.#casting, 'Page.stopScreencast', {});
    this.#casting = null;
    this.#unacknowledged = null;
  }

  /** A page that is gone or hangs shows nothing; whoever drives it is told elsewhere. */
  #send<M extends CdpMethod>(page: string, method: M, params: CdpParams<M>): void {
    this.#browser.send(method, params, { session: page }).catch(() => undefined);
  }
}
