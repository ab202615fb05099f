import { setImmediate as nextTurn } from 'node:timers/promises';
import { encodeError } from '../../protocol/errors.js';
import { isEnded, type SessionId } from '../../protocol/session.js';
import type { StreamMessage } from '../../protocol/stream.js';
import type { Sessions } from '../../supervisor/sessions.js';

/** Between two pictures, at least: 15 a second are as many as the eye needs of a page. */
const LIVE_MS = 66;
const SLOW_MS = 1_000;
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

interface Seat {
  readonly pace: Pace;
  shownAt: number;
}

/**
 * What a session's page shows, for everybody who looks at it: taken once, packed once, at the pace of whoever wants it
 * fastest, and not at all while nobody looks. A viewer that is behind misses pictures and sees the next one.
 */
export class ScreenFeed {
  readonly #id: SessionId;
  readonly #sessions: Sessions;
  readonly #pack: (message: StreamMessage) => Uint8Array;
  readonly #viewers = new Map<ScreenViewer, Seat>();
  readonly #stopped = new AbortController();
  #newest: Uint8Array | null = null;
  #wake: (() => void) | null = null;

  constructor(id: SessionId, sessions: Sessions, pack: (message: StreamMessage) => Uint8Array) {
    this.#id = id;
    this.#sessions = sessions;
    this.#pack = pack;
    void this.#run();
  }

  get viewers(): number {
    return this.#viewers.size;
  }

  add(viewer: ScreenViewer, pace: Pace): void {
    const seat = { pace, shownAt: 0 };
    this.#viewers.set(viewer, seat);
    if (this.#newest !== null) this.#show(viewer, seat, this.#newest);
    // One who wants it faster is not kept waiting by those who do not.
    this.#wake?.();
  }

  remove(viewer: ScreenViewer): void {
    this.#viewers.delete(viewer);
  }

  stop(): void {
    this.#stopped.abort();
    this.#wake?.();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    let after = 0;
    while (!signal.aborted) {
      const startedAt = performance.now();
      try {
        const frame = await this.#sessions.nextFrame(this.#id, { after, timeoutMs: WAIT_MS }, signal);
        if (frame !== null) {
          after = frame.number;
          const { jpeg, width, height } = frame;
          this.#newest = new Uint8Array(this.#pack({ type: 'frame', id: this.#id, jpeg, width, height }));
          await this.#showAll(this.#newest);
        }
      } catch {
        // A queued session has no screen yet.
        if (await this.#isOver()) return;
        // Or its actor is being started again, and then counts from the beginning.
        after = 0;
        await this.#pause(SLOW_MS);
      }
      const live = [...this.#viewers.values()].filter(({ pace }) => pace === 'live').length;
      const pace = live === 0 ? SLOW_MS : Math.max(LIVE_MS, (1_000 * live) / MOST_SENT);
      await this.#pause(pace - (performance.now() - startedAt));
    }
  }

  async #showAll(message: Uint8Array): Promise<void> {
    let written = 0;
    // One that leaves meanwhile is not met any more.
    for (const [viewer, seat] of this.#viewers) {
      if (!this.#show(viewer, seat, message)) continue;
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
  #show(viewer: ScreenViewer, seat: Seat, message: Uint8Array): boolean {
    const now = performance.now();
    if (seat.pace === 'slow' && now - seat.shownAt < SLOW_MS * 0.9) return false;
    if (viewer.bufferedBytes() > BEHIND_BYTES) return false;
    seat.shownAt = now;
    viewer.sendPacked(message);
    return true;
  }

  #pause(ms: number): Promise<void> {
    if (ms <= 0 || this.#stopped.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
