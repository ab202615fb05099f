import type { CastFrame, CastUser, Screencast } from '../agent-js/pictures/screencast.js';

/** A picture of the page, and the page's size in CSS pixels. */
export interface ScreenFrame {
  /** Increases with each frame of the session. */
  readonly number: number;
  readonly jpeg: Uint8Array;
  readonly width: number;
  readonly height: number;
}

export interface FrameRequest {
  /** The number of the caller's newest frame; 0 for none, which requests a frame taken from now on. */
  readonly after: number;
  /** The reply is null if there is no newer frame within this time. */
  readonly timeoutMs: number;
  /** The requested width. A picture is at least that wide, up to the page's own width and 1280. */
  readonly width: number;
  /** The caller does not need the next frame soon: the browser stops drawing after the page's first change. */
  readonly still: boolean;
}

/** Few sizes, so that an additional viewer seldom changes the size. */
const WIDTHS = [320, 640, 960];
const MAX_PIXELS = 1280;
/** How long the browser keeps drawing without a request. */
const LINGER_MS = 2_000;

/**
 * Serves frames of a session's active page. Frames are requested one at a time: the browser draws the next one only
 * when
 * the last was taken, so the newest frame wins, nothing queues up, and a page without viewers costs nothing. An
 * unchanged
 * page costs nothing either: a frame equal to the last one is skipped.
 *
 * A browser that casts copies every change of the page, sent or not: 60 per second on an animated page. Stills
 * therefore
 * do not keep the cast running: it starts, delivers the current page or waits for a change, and stops.
 *
 *   idle --request--> casting (a tab, a width) --still delivered, LINGER_MS without a request, or closed--> idle
 */
export class Screen {
  readonly #cast: Screencast;
  readonly #activePage: () => string | undefined;
  readonly #user: CastUser;
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
   * @param cast the session's screencast, closed by its owner
   * @param activePage returns the CDP session of the tab on the screen
   * @param user who gets the frames
   */
  constructor(cast: Screencast, activePage: () => string | undefined, user: CastUser) {
    this.#cast = cast;
    this.#activePage = activePage;
    this.#user = user;
    this.#unlisten = cast.listen((frame) => this.#observe(frame));
  }

  /** The newest frame, once there is one that the caller does not have. */
  async next({ after, timeoutMs, width, still }: FrameRequest, signal: AbortSignal): Promise<ScreenFrame | null> {
    clearTimeout(this.#linger);
    this.#linger = setTimeout(() => this.#stop(), timeoutMs + LINGER_MS);
    if (after === 0) {
      // A running cast would send nothing for a page that does not change.
      this.#stop();
      this.#cast.restart();
      this.#newest = null;
      this.#newestData = '';
    }
    const isNewer = () => this.#newest !== null && this.#newest.number > after;
    this.#still = still;
    if (!still || !isNewer()) this.#begin(WIDTHS.find((one) => one >= width) ?? MAX_PIXELS);
    if (!isNewer()) await this.#frame(timeoutMs, signal);
    return isNewer() ? this.#newest : null;
  }

  /** Stops drawing. Idempotent. */
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
    const maxHeight = Math.min(2 * maxWidth, MAX_PIXELS);
    const begun = this.#cast.want(this.#user, { page, maxWidth, maxHeight });
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
    const jpeg = Buffer.from(data, 'base64');
    this.#newest = { number: this.#count, jpeg, width, height };
    if (this.#still) this.#stop();
    for (const wake of this.#waiting) wake();
  }

  /** Settles with the next frame, at the timeout, or with the signal. */
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
    this.#cast.want(this.#user, null);
  }
}
