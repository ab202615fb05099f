import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ScreenFrame } from '../../actors/session/screen.js';
import { encodeError } from '../../protocol/errors.js';
import { isEnded, type SessionId } from '../../protocol/session.js';
import type { StreamMessage } from '../../protocol/stream.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import { LIVE_MS, type PictureBudget, SLOW_MS, type Watched } from './picture-budget.js';

/** Pictures that come less often are taken one by one; of others the browser tells each change. */
const STILL_MS = 250;
/** A viewer that does not say how large it shows pictures gets them as large as they are. */
const FULL_WIDTH = 1_280;
/** How long an answer waits for a picture of a page that does not change. */
const WAIT_MS = 1_000;
/** Pictures of one session that are sent in a second, to all its viewers together: many see fewer each. */
const MOST_SENT = 1_000;
/** Viewers that are written to in one turn of the event loop: whoever asks something meanwhile waits for no more. */
const SENT_AT_ONCE = 8;
/** A viewer that has not taken so much of what it was sent is passed over. */
const BEHIND_BYTES = 256 * 1024;

/** Who is shown pictures. */
export interface ScreenViewer {
  sendPacked(message: Uint8Array): void;
  bufferedBytes(): number;
}

export type Pace = 'live' | 'slow';

/** How a viewer shows the pictures. */
export interface Showing {
  readonly pace: Pace;
  /** Pixels across; absent for as many as there are. */
  readonly width?: number | undefined;
  /** Whoever sits there has control of the session. */
  readonly hands: boolean;
}

interface Seat extends Showing {
  shownAt: number;
  /** The number of the picture that it has. */
  has: number;
}

interface Picture {
  readonly number: number;
  readonly packed: Uint8Array;
}

/**
 * What a session's page shows, for everybody who looks at it: taken once, packed once, at the pace of whoever wants it
 * fastest, and not at all while nobody looks. A viewer that is behind misses pictures and sees the next one.
 */
export class ScreenFeed implements Watched {
  readonly #id: SessionId;
  readonly #sessions: Sessions;
  readonly #pack: (message: StreamMessage) => Uint8Array;
  readonly #budget: PictureBudget;
  readonly #viewers = new Map<ScreenViewer, Seat>();
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
    const live = this.#seats.filter(({ pace }) => pace === 'live').length;
    return live === 0 ? SLOW_MS : Math.max(LIVE_MS, (1_000 * live) / MOST_SENT);
  }

  get megapixels(): number {
    return this.#megapixels;
  }

  get isQuiet(): boolean {
    return this.#isQuiet;
  }

  get isHandled(): boolean {
    return this.#seats.some(({ hands }) => hands);
  }

  /** One that is here already changes how it shows pictures. */
  add(viewer: ScreenViewer, showing: Showing): void {
    const seat = { shownAt: 0, has: 0, ...this.#viewers.get(viewer), ...showing };
    this.#viewers.set(viewer, seat);
    if (this.#newest !== null) this.#show(viewer, seat, this.#newest);
    this.#running ??= this.#run();
    // One who wants it faster is not kept waiting by those who do not.
    this.#wake?.();
  }

  /** The viewer has control of the session from now on, or has it no more. */
  lend(viewer: ScreenViewer, hands: boolean): void {
    const seat = this.#viewers.get(viewer);
    if (seat !== undefined) this.add(viewer, { ...seat, hands });
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
        const width = Math.max(...this.#seats.map((seat) => seat.width ?? FULL_WIDTH));
        const still = this.#budget.paceOf(this) >= STILL_MS;
        const order = { after, timeoutMs: WAIT_MS, width, still };
        const frame = await this.#sessions.nextFrame(this.#id, order, signal);
        this.#isQuiet = frame === null;
        if (frame !== null) {
          after = frame.number;
          this.#newest = this.#picture(frame);
          this.#megapixels = (frame.width * frame.height * Math.min(1, width / frame.width) ** 2) / 1e6;
        }
        // Also those that were passed over while there was more to come.
        if (this.#newest !== null) await this.#showAll(this.#newest);
      } catch {
        // A queued session has no screen yet.
        if (await this.#isOver()) return;
        // Or its actor is being started again, and then counts from the beginning.
        after = 0;
        await this.#pause(SLOW_MS);
      }
      // Of a page that stays as it is the next change is wanted at once.
      if (!this.#isQuiet) await this.#untilDue(startedAt);
    }
  }

  /** Until the next picture is due, by what the budget comes to say meanwhile, or a viewer wants one sooner. */
  async #untilDue(startedAt: number): Promise<void> {
    for (;;) {
      const left = this.#budget.paceOf(this) - (performance.now() - startedAt);
      if (left <= 0 || (await this.#pause(Math.min(left, SLOW_MS)))) return;
    }
  }

  get #seats(): readonly Seat[] {
    return [...this.#viewers.values()];
  }

  /** Numbered here: an actor that is started again counts from the beginning. */
  #picture({ jpeg, width, height }: ScreenFrame): Picture {
    this.#count += 1;
    return {
      number: this.#count,
      packed: new Uint8Array(this.#pack({ type: 'frame', id: this.#id, jpeg, width, height })),
    };
  }

  async #showAll(picture: Picture): Promise<void> {
    let written = 0;
    // One that leaves meanwhile is not met any more.
    for (const [viewer, seat] of this.#viewers) {
      if (!this.#show(viewer, seat, picture)) continue;
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

  /** Whether it was sent. */
  #show(viewer: ScreenViewer, seat: Seat, { number, packed }: Picture): boolean {
    const now = performance.now();
    if (seat.has === number) return false;
    if (seat.pace === 'slow' && now - seat.shownAt < SLOW_MS * 0.9) return false;
    if (viewer.bufferedBytes() > BEHIND_BYTES) return false;
    seat.shownAt = now;
    seat.has = number;
    viewer.sendPacked(packed);
    return true;
  }

  /** Whether it was woken. */
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
