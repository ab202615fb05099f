import { setImmediate as nextTurn } from 'node:timers/promises';
import { LIVE_MS, type PictureBudget, SLOW_MS, type Watched } from '../../agent-js/pictures/picture-budget.js';
import { encodeError } from '../../protocol/errors.js';
import { isEnded, type SessionId } from '../../protocol/session.js';
import type { StreamMessage } from '../../protocol/stream.js';
import type { ScreenFrame } from '../../session/screen.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';

/**
 * At this interval or a longer one pictures are requested one by one; at a shorter one the browser reports each change.
 */
const STILL_MS = 250;
/** The width in pixels for a viewer that does not name one: full size. */
const FULL_WIDTH = 1_280;
/** How long a request waits for a picture of a page that does not change. */
const FRAME_TIMEOUT_MS = 1_000;
/** Pictures of one session sent per second, to all its viewers together: with many viewers each gets fewer. */
const MOST_SENT = 1_000;
/** Viewers written to in one turn of the event loop, so that other requests do not have to wait for more. */
const SENT_AT_ONCE = 8;
/** A viewer with more unread bytes skips pictures. */
const BEHIND_BYTES = 256 * 1024;

/** A viewer of pictures. */
export interface ScreenViewer {
  sendPacked(message: Uint8Array): void;
  bufferedBytes(): number;
}

export type Pace = 'live' | 'slow';

/** How a viewer displays the pictures. */
export interface DisplayOptions {
  readonly pace: Pace;
  /** In pixels; full size by default. */
  readonly width?: number | undefined;
  /** The viewer controls the session. */
  readonly hasControl: boolean;
}

interface ViewerState extends DisplayOptions {
  shownAt: number;
  /** The number of the last picture that it got. */
  lastSent: number;
}

interface Picture {
  readonly number: number;
  readonly packed: Uint8Array;
}

/**
 * The pictures of a session's page for all its viewers: each is taken and encoded once, at the pace of the fastest
 * viewer, and none while there is no viewer. A viewer that falls behind skips pictures.
 */
export class ScreenFeed implements Watched {
  readonly #id: SessionId;
  readonly #sessions: Sessions;
  readonly #pack: (message: StreamMessage) => Uint8Array;
  readonly #budget: PictureBudget;
  readonly #viewers = new Map<ScreenViewer, ViewerState>();
  readonly #stopped = new AbortController();
  #newest: Picture | null = null;
  /** Never rejects. */
  #running: Promise<void> | null = null;
  #count = 0;
  #megapixels = 1;
  #isQuiet = false;
  #wake: (() => void) | null = null;

  constructor(id: SessionId, sessions: Sessions, pack: (message: StreamMessage) => Uint8Array, budget: PictureBudget) {
    this.#id = id;
    this.#sessions = sessions;
    this.#pack = pack;
    this.#budget = budget;
    budget.join(this);
  }

  get viewers(): number {
    return this.#viewers.size;
  }

  get wantsMs(): number {
    const live = this.#states.filter(({ pace }) => pace === 'live').length;
    return live === 0 ? SLOW_MS : Math.max(LIVE_MS, (1_000 * live) / MOST_SENT);
  }

  get megapixels(): number {
    return this.#megapixels;
  }

  get isQuiet(): boolean {
    return this.#isQuiet;
  }

  get isControlled(): boolean {
    return this.#states.some(({ hasControl }) => hasControl);
  }

  /** Adds a viewer, or changes its display options. */
  add(viewer: ScreenViewer, options: DisplayOptions): void {
    const state = { shownAt: 0, lastSent: 0, ...this.#viewers.get(viewer), ...options };
    this.#viewers.set(viewer, state);
    if (this.#newest !== null) this.#show(viewer, state, this.#newest);
    this.#running ??= this.#run();
    // A viewer that wants a faster pace does not wait for the current pause.
    this.#wake?.();
  }

  /** The viewer gained or lost control of the session. */
  setControl(viewer: ScreenViewer, hasControl: boolean): void {
    const state = this.#viewers.get(viewer);
    if (state !== undefined) this.add(viewer, { ...state, hasControl });
  }

  remove(viewer: ScreenViewer): void {
    this.#viewers.delete(viewer);
  }

  stop(): void {
    this.#budget.leave(this);
    this.#stopped.abort();
    this.#wake?.();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    let after = 0;
    while (!signal.aborted) {
      const startedAt = performance.now();
      try {
        const width = Math.max(...this.#states.map((state) => state.width ?? FULL_WIDTH));
        const still = this.#budget.paceOf(this) >= STILL_MS;
        const order = { after, timeoutMs: FRAME_TIMEOUT_MS, width, still };
        const frame = await this.#sessions.nextFrame(this.#id, order, signal);
        this.#isQuiet = frame === null;
        if (frame !== null) {
          after = frame.number;
          this.#newest = this.#picture(frame);
          this.#megapixels = (frame.width * frame.height * Math.min(1, width / frame.width) ** 2) / 1e6;
        }
        // Also to viewers that were skipped while more pictures followed.
        if (this.#newest !== null) await this.#showAll(this.#newest);
      } catch {
        // A queued session has no screen yet.
        if (await this.#isOver()) return;
        // Or its actor restarts, and then counts from the beginning.
        after = 0;
        await this.#pause(SLOW_MS);
      }
      // For a page that does not change the next change is wanted at once.
      if (!this.#isQuiet) await this.#untilDue(startedAt);
    }
  }

  /** Waits until the next picture is due. The budget may change meanwhile, and a viewer may want a picture sooner. */
  async #untilDue(startedAt: number): Promise<void> {
    for (;;) {
      const left = this.#budget.paceOf(this) - (performance.now() - startedAt);
      if (left <= 0 || (await this.#pause(Math.min(left, SLOW_MS)))) return;
    }
  }

  get #states(): readonly ViewerState[] {
    return [...this.#viewers.values()];
  }

  /** Numbered here, because an actor that restarts counts from the beginning. */
  #picture({ jpeg, width, height }: ScreenFrame): Picture {
    this.#count += 1;
    return {
      number: this.#count,
      packed: new Uint8Array(this.#pack({ type: 'frame', id: this.#id, jpeg, width, height })),
    };
  }

  async #showAll(picture: Picture): Promise<void> {
    let written = 0;
    // Iterating a Map skips viewers that leave meanwhile.
    for (const [viewer, state] of this.#viewers) {
      if (!this.#show(viewer, state, picture)) continue;
      written += 1;
      if (written % SENT_AT_ONCE === 0) await nextTurn();
    }
  }

  async #isOver(): Promise<boolean> {
    try {
      return isEnded((await this.#sessions.get(this.#id)).status);
    } catch (error) {
      return encodeError(error).code === 'NOT_FOUND';
    }
  }

  /** Returns whether it was sent. */
  #show(viewer: ScreenViewer, state: ViewerState, { number, packed }: Picture): boolean {
    const now = performance.now();
    if (state.lastSent === number) return false;
    if (state.pace === 'slow' && now - state.shownAt < SLOW_MS * 0.9) return false;
    if (viewer.bufferedBytes() > BEHIND_BYTES) return false;
    state.shownAt = now;
    state.lastSent = number;
    viewer.sendPacked(packed);
    return true;
  }

  /** Returns whether it was woken. */
  #pause(ms: number): Promise<boolean> {
    if (this.#stopped.signal.aborted) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}
