import type { BrowserPort } from '../browser/browser-port.js';
import type { CdpEvent, CdpMethod, CdpParams } from '../browser/cdp.js';

/** What one of its users wants of a screencast. */
export interface CastWish {
  /** The CDP session of the tab. */
  readonly page: string;
  /** Pixels. */
  readonly maxWidth: number;
  readonly maxHeight: number;
}

/** Who takes frames, one after the other by {@link Screencast.acknowledge}. */
export type CastUser = 'viewers' | 'video';

export interface CastFrame {
  readonly page: string;
  /** A JPEG in Base64, as the browser sent it. */
  readonly data: string;
  /** The page's own size in CSS pixels. */
  readonly width: number;
  readonly height: number;
}

const JPEG_QUALITY = 60;
/** With so many frames that are not acknowledged, Chromium may have dropped those that followed. */
const MAY_DROP = 2;
/** A frame that is older than the one before by more than this says that the clock was set, in seconds. */
const CLOCK_SET_S = 5;
/** A frame of a change comes sooner after an acknowledgement, if there is one. */
const REFRESH_MS = 150;

/**
 * The one screencast of a session. Chromium gives a connection one for each tab, and each costs what it draws: so the
 * viewers of the live screen and the video have the same one, as large as the larger needs it.
 *
 * A frame shows what was painted, at once after the start and then with each change; a page that stays as it is sends
 * none. Its time stamp is that of the browser's tick, and what it shows may be one or two ticks older: nothing is to be
 * concluded from it. Frames that are not acknowledged hold back those that follow.
 */
export class Screencast {
  readonly #browser: BrowserPort;
  readonly #unlisten: () => void;
  readonly #wishes = new Map<CastUser, CastWish>();
  readonly #listeners = new Set<(frame: CastFrame) => void>();
  #running: CastWish | null = null;
  #unacknowledged: number | null = null;
  /** Frames that Chromium counts as not acknowledged. */
  #inFlight = 0;
  #refresh: NodeJS.Timeout | undefined;
  /** When the newest frame was captured, in seconds by the browser's clock. */
  #capturedAt = 0;

  constructor(browser: BrowserPort) {
    this.#browser = browser;
    this.#unlisten = browser.listen((event) => this.#observe(event));
  }

  /** Whether somebody wants frames. */
  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** Calls `listener` with each frame, whoever wanted it. Answers the call that ends it. */
  listen(listener: (frame: CastFrame) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** True where the screencast begins anew with it: then its first frame shows what the page shows now. */
  want(user: CastUser, wish: CastWish | null): boolean {
    if (wish === null) this.#wishes.delete(user);
    else this.#wishes.set(user, wish);
    const wanted = this.#merged();
    const running = this.#running;
    if (wanted === null) {
      this.#stop();
      return false;
    }
    const same = running?.page === wanted.page;
    if (same && running.maxWidth === wanted.maxWidth && running.maxHeight === wanted.maxHeight) return false;
    this.#start(wanted);
    return true;
  }

  /** Begins anew, so that what the page shows now is sent again. */
  restart(): void {
    if (this.#running !== null) this.#start(this.#running);
  }

  /** Somebody has taken the last frame, and wants the next. */
  acknowledge(): void {
    if (this.#running === null || this.#unacknowledged === null) return;
    this.#send(this.#running.page, 'Page.screencastFrameAck', { sessionId: this.#unacknowledged });
    this.#unacknowledged = null;
    // The last change before a page comes to rest may be among those that were dropped, and nothing else follows it.
    if (this.#inFlight >= MAY_DROP) this.#refresh = setTimeout(() => this.restart(), REFRESH_MS);
    this.#inFlight -= 1;
  }

  /** Idempotent. */
  close(): void {
    this.#unlisten();
    this.#wishes.clear();
    this.#stop();
  }

  #stop(): void {
    if (this.#running !== null) this.#send(this.#running.page, 'Page.stopScreencast', {});
    clearTimeout(this.#refresh);
    this.#running = null;
    this.#unacknowledged = null;
    this.#inFlight = 0;
  }

  #start(wish: CastWish): void {
    this.#stop();
    this.#running = wish;
    const { maxWidth, maxHeight } = wish;
    this.#send(wish.page, 'Page.startScreencast', { format: 'jpeg', quality: JPEG_QUALITY, maxWidth, maxHeight });
  }

  /** Both are about the tab in front. */
  #merged(): CastWish | null {
    const first = this.#wishes.get('video') ?? this.#wishes.get('viewers');
    if (first === undefined) return null;
    const wishes = [...this.#wishes.values()];
    return {
      ...first,
      maxWidth: Math.max(...wishes.map(({ maxWidth }) => maxWidth)),
      maxHeight: Math.max(...wishes.map(({ maxHeight }) => maxHeight)),
    };
  }

  #observe(event: CdpEvent): void {
    if (event.method !== 'Page.screencastFrame' || this.#running === null) return;
    if (event.session !== this.#running.page) return;
    const { data, metadata, sessionId } = event.params;
    clearTimeout(this.#refresh);
    this.#unacknowledged = sessionId;
    this.#inFlight += 1;
    // Frames are compressed side by side: on a busy machine an older one may come after a newer one.
    const { timestamp = this.#capturedAt } = metadata;
    const isOvertaken = timestamp < this.#capturedAt && timestamp > this.#capturedAt - CLOCK_SET_S;
    if (isOvertaken) {
      this.acknowledge();
      return;
    }
    this.#capturedAt = timestamp;
    const { page } = this.#running;
    const frame = { page, data, width: metadata.deviceWidth, height: metadata.deviceHeight };
    for (const listener of this.#listeners) listener(frame);
  }

  /** A page that is gone or hangs shows nothing; whoever drives it learns that elsewhere. */
  #send<M extends CdpMethod>(page: string, method: M, params: CdpParams<M>): void {
    this.#browser.send(method, params, { session: page }).catch(() => undefined);
  }
}
