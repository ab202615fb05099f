import type { CastFrame, Screencast } from '../../agent-js/pictures/screencast.js';

/** What a page showed: a picture, and the page's size in its own pixels. */
export interface ScreenFrame {
  /** Rises with each frame of the session. */
  readonly number: number;
  /** A JPEG; a PNG while the session's steps are pictured, which have the same screencast. */
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
/** After so long without an asker the browser stops drawing for us. */
const LINGER_MS = 2_000;

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
  readonly #cast: Screencast;
  readonly #activePage: () => string | undefined;
  readonly #unlisten: () => void;
  readonly #waiting = new Set<() => void>();
  #casting = false;
  #still = false;
  #newest: ScreenFrame | null = null;
  /** The newest frame as the browser sent it. */
  #newestData = '';
  #count = 0;
  #linger: NodeJS.Timeout | undefined;

  /**
   * @param cast the session's screencast, which its owner closes
   * @param activePage the CDP session of the tab that is on the screen
   */
  constructor(cast: Screencast, activePage: () => string | undefined) {
    this.#cast = cast;
    this.#activePage = activePage;
    this.#unlisten = cast.listen((frame) => this.#observe(frame));
  }

  /** The newest frame, as soon as there is one that the asker does not have. */
  async next({ after, timeoutMs, width, still }: FrameOrder, signal: AbortSignal): Promise<ScreenFrame | null> {
    clearTimeout(this.#linger);
    this.#linger = setTimeout(() => this.#stop(), timeoutMs + LINGER_MS);
    if (after === 0) {
      // A cast that goes on would say nothing of a page that stays as it is.
      this.#stop();
      this.#cast.restart();
      this.#newest = null;
      this.#newestData = '';
    }
    const isNewer = () => this.#newest !== null && this.#newest.number > after;
    this.#still = still;
    if (!still || !isNewer()) this.#begin(WIDTHS.find((one) => one >= width) ?? MOST_PIXELS);
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

  #begin(maxWidth: number): void {
    const page = this.#activePage();
    if (page === undefined) return;
    this.#casting = true;
    const maxHeight = Math.min(2 * maxWidth, MOST_PIXELS);
    const begun = this.#cast.want('viewers', { page, format: 'jpeg', maxWidth, maxHeight });
    if (!begun) this.#cast.acknowledge();
  }

  #observe({ data, width, height }: CastFrame): void {
    if (!this.#casting) return;
    if (data === this.#newestData) {
      this.#cast.acknowledge();
      return;
    }
    this.#newestData = data;
    this.#count += 1;
    this.#newest = { number: this.#count, jpeg: Buffer.from(data, 'base64'), width, height };
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
    this.#casting = false;
    this.#cast.want('viewers', null);
  }
}
