import type { BrowserPort } from '../../agent-js/browser/browser-port.js';
import type { CdpEvent, CdpMethod, CdpParams } from '../../agent-js/browser/cdp.js';

/** What a page showed: a JPEG, and its size in the page's own pixels. */
export interface ScreenFrame {
  /** Rises with each frame of the session. */
  readonly number: number;
  readonly jpeg: Uint8Array;
  readonly width: number;
  readonly height: number;
}

export interface FrameOrder {
  /** The number of the frame that the asker has; 0 for none, who gets one that is taken now. */
  readonly after: number;
  /** When no newer one comes within this time the answer is null. */
  readonly timeoutMs: number;
  /** Pixels across that are wanted; a picture has as many or more, up to the page's own and 1280. */
  readonly width: number;
  /** The asker is in no hurry for the one after: the browser stops drawing for us as soon as the page has changed once. */
  readonly still: boolean;
}

/** Few, so that another viewer seldom changes the size. */
const WIDTHS = [320, 640, 960];
const MOST_PIXELS = 1280;
const QUALITY = 60;
/** After so long without an asker the browser stops drawing for us. */
const LINGER_MS = 2_000;

interface Cast {
  /** The CDP session of the tab. */
  readonly page: string;
  readonly maxWidth: number;
}

/**
 * What a session's active page shows, for whoever asks. Asked for one frame at a time: the browser draws the next only
 * when the last was taken, so that the newest wins, nothing queues up, and a page that nobody watches costs nothing. Nor
 * does one that stays as it is: a frame that is like the last is not told.
 *
 * A browser that casts copies each change of the page, told or not, 60 a second of one that moves. So stills are taken by
 * themselves: the cast begins, gives what the page shows or waits for a change, and ends.
 *
 *   idle --asked--> casting (a tab, a width) --a still is there, LINGER_MS without an asker, or closed--> idle
 */
export class Screen {
  readonly #browser: BrowserPort;
  readonly #activePage: () => string | undefined;
  readonly #unlisten: () => void;
  readonly #waiting = new Set<() => void>();
  #casting: Cast | null = null;
  #still = false;
  #newest: ScreenFrame | null = null;
  /** The newest frame as the browser sent it. */
  #newestData = '';
  #count = 0;
  #unacknowledged: number | null = null;
  #linger: NodeJS.Timeout | undefined;

  /** @param activePage the CDP session of the tab that is on the screen */
  constructor(browser: BrowserPort, activePage: () => string | undefined) {
    this.#browser = browser;
    this.#activePage = activePage;
    this.#unlisten = browser.listen((event) => this.#observe(event));
  }

  /** The newest frame, as soon as there is one that the asker does not have. */
  async next({ after, timeoutMs, width, still }: FrameOrder, signal: AbortSignal): Promise<ScreenFrame | null> {
    clearTimeout(this.#linger);
    this.#linger = setTimeout(() => this.#stop(), timeoutMs + LINGER_MS);
    if (after === 0) {
      // A cast that goes on would say nothing of a page that stays as it is.
      this.#stop();
      this.#newest = null;
      this.#newestData = '';
    }
    const isNewer = () => this.#newest !== null && this.#newest.number > after;
    this.#still = still;
    if (!still || !isNewer()) this.#cast(WIDTHS.find((one) => one >= width) ?? MOST_PIXELS);
    if (!isNewer()) await this.#frame(timeoutMs, signal);
    return isNewer() ? this.#newest : null;
  }

  /** The browser draws for nobody any more. Idempotent. */
  close(): void {
    this.#unlisten();
    clearTimeout(this.#linger);
    this.#stop();
    for (const wake of this.#waiting) wake();
  }

  #cast(maxWidth: number): void {
    const page = this.#activePage() ?? this.#casting?.page;
    if (page === undefined) return;
    if (this.#casting?.page === page && this.#casting.maxWidth === maxWidth) {
      this.#acknowledge();
      return;
    }
    this.#stop();
    this.#casting = { page, maxWidth };
    const maxHeight = Math.min(2 * maxWidth, MOST_PIXELS);
    this.#send(page, 'Page.startScreencast', { format: 'jpeg', quality: QUALITY, maxWidth, maxHeight });
  }

  /** The browser may draw the next. */
  #acknowledge(): void {
    if (this.#casting === null || this.#unacknowledged === null) return;
    this.#send(this.#casting.page, 'Page.screencastFrameAck', { sessionId: this.#unacknowledged });
    this.#unacknowledged = null;
  }

  #observe(event: CdpEvent): void {
    if (event.method !== 'Page.screencastFrame' || event.session !== this.#casting?.page) return;
    const { data, metadata, sessionId } = event.params;
    this.#unacknowledged = sessionId;
    if (data === this.#newestData) {
      this.#acknowledge();
      return;
    }
    this.#newestData = data;
    this.#count += 1;
    this.#newest = {
      number: this.#count,
      jpeg: Buffer.from(data, 'base64'),
      width: metadata.deviceWidth,
      height: metadata.deviceHeight,
    };
    if (this.#still) this.#stop();
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
    if (this.#casting !== null) this.#send(this.#casting.page, 'Page.stopScreencast', {});
    this.#casting = null;
    this.#unacknowledged = null;
  }

  /** A page that is gone or hangs shows nothing; whoever drives it is told elsewhere. */
  #send<M extends CdpMethod>(page: string, method: M, params: CdpParams<M>): void {
    this.#browser.send(method, params, { session: page }).catch(() => undefined);
  }
}
