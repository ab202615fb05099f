import { availableParallelism } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../base/clock.js';
import { errorCode, sentenceOf } from '../../base/system-fault.js';
import type { Config } from '../../config.js';
import type { AutoRequest, LiveRequest, SessionId } from '../../protocol/session.js';
import {
  type BrowserOpening,
  newSessionId,
  type OpenBounds,
  type OpenBrowser,
  type SessionBrowser,
} from '../sessions/index.js';
import { type ActorStart, fitsAnyBrowser, leaseOptions, type OpenDependencies, openBrowser } from './open-browser.js';
import { RecentDemand } from './recent-demand.js';
import { WarmBrowser } from './warm-browser.js';

/** What the pool needs of the house. */
export interface WarmPoolParts extends OpenDependencies {
  readonly config: Config;
  readonly clock: Clock;
  /** Places that no session has. */
  freePlaces(): number;
  /** Memory that this process may still take. */
  availableBytes(): number;
}

/** How often the pool looks at itself: what does not answer, what nobody needs, what memory says. */
const LOOK_EVERY_MS = 5_000;
/** After a create the machine is left to the session's first scripts, unless creates never cease. */
const QUIET_MS = 150;
const LONGEST_QUIET_MS = 1_000;
/** The wait after a start that failed doubles up to this. */
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 30_000;
/** Left free for everything else, and what a browser may take. */
const RESERVE_BYTES = 512 * 1024 * 1024;
const BROWSER_BYTES = 256 * 1024 * 1024;

/**
 * Browsers that wait for sessions. A create or a job takes one where its options allow it; the pool refills itself in the
 * background, a few starts at a time. It holds as many as creates came at once in the last minute, `warmSessions` at
 * least, and never more than there are free places or memory for: together with the sessions' there are never more than
 * `maxSessions` browsers. `warmSessions` 0 means no pool.
 */
export class WarmPool {
  readonly #parts: WarmPoolParts;
  readonly #maxStarting = Math.max(1, Math.floor(availableParallelism() / 2));
  readonly #demand = new RecentDemand();
  /** Those that wait for a session, the oldest first. */
  readonly #waiting = new Set<WarmBrowser>();
  readonly #starting = new Set<WarmBrowser>();
  /** Those whose job is about to have them, by its hand. */
  readonly #handedOver = new Set<string>();
  /** Those on their way out: they still take room. */
  readonly #leaving = new Map<string, Promise<void>>();
  #quietSince: number | null = null;
  #quietUntil = 0;
  #retryMs = FIRST_RETRY_MS;
  #closed = false;
  #cancelLook: () => void = () => undefined;
  #cancelWake: () => void = () => undefined;

  constructor(parts: WarmPoolParts) {
    this.#parts = parts;
  }

  /** Begins to fill. Until then it has none and gives none. */
  start(): void {
    if (this.#parts.config.warmSessions === 0) return;
    this.#look();
  }

  /** Whether this id is of a browser that waits or leaves here. */
  has(id: string): boolean {
    for (const browser of this.#waiting) if (browser.id === id) return true;
    return this.#leaving.has(id) || this.#handedOver.has(id);
  }

  get ready(): number {
    return [...this.#waiting].filter(({ ready }) => ready).length;
  }

  /** A new session's id and the way to its browser: one that waits, if the request can do with it. */
  prepare(request: LiveRequest): { readonly id: SessionId; readonly open: BrowserOpening } {
    const warm = this.#takeFor(request);
    const id = warm?.id ?? newSessionId();
    const open: BrowserOpening = async (task, bounds) => {
      const start = { id, restart: 'transient', task } as const;
      if (warm === undefined) return this.#cold(request, start, bounds);
      return this.#warmOrCold(request, start, bounds, (within) => warm.claim(task, within));
    };
    return { id, open };
  }

  /** The way to the browser of a job: one that waits at that moment, if the request can do with it. */
  prepareJob(id: SessionId, request: AutoRequest): BrowserOpening {
    const flowsAlone = (request.maxIterations ?? this.#parts.config.maxIterations) === 0;
    const restart = flowsAlone ? 'temporary' : 'transient';
    return async (task, bounds) => {
      const start = { id, restart, task } as const;
      const warm = this.#takeFor(request);
      if (warm === undefined) return this.#cold(request, start, bounds);
      this.#handedOver.add(warm.id);
      try {
        return await this.#warmOrCold(request, start, bounds, (within) => warm.handOver(start, within));
      } finally {
        // By the next turn the job holds the lease.
        void nextTurn().then(() => this.#handedOver.delete(warm.id));
      }
    };
  }

  /** A warm browser that turns out to be of no use costs the session time, and nothing else. */
  async #warmOrCold(
    request: LiveRequest | AutoRequest,
    start: ActorStart,
    bounds: OpenBounds,
    warm: (bounds: OpenBounds) => Promise<OpenBrowser>,
  ): Promise<SessionBrowser> {
    const deadline = performance.now() + bounds.deadlineMs;
    try {
      return { ...(await warm(bounds)), warm: true };
    } catch (error) {
      if (bounds.signal.aborted || errorCode(error) === 'INVALID_REQUEST') throw error;
      this.#parts.log(`its warm browser was of no use: ${sentenceOf(error)}`, { session: start.id });
      const deadlineMs = Math.max(1, Math.round(deadline - performance.now()));
      return await this.#cold(request, start, { ...bounds, deadlineMs });
    }
  }

  /** A browser that is started for this session. One that waits makes room for it where there is none. */
  async #cold(request: LiveRequest | AutoRequest, start: ActorStart, bounds: OpenBounds): Promise<SessionBrowser> {
    await this.#roomMade();
    bounds.signal.throwIfAborted();
    return { ...(await openBrowser(this.#parts, leaseOptions(start.id, request), start, bounds)), warm: false };
  }

  /** There is another place: the pool may grow. */
  placeFreed(): void {
    this.#wakeIn(0);
  }

  /** Ends every browser that waits; starts none from now on. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelLook();
    this.#cancelWake();
    for (const browser of [...this.#waiting]) this.#discard(browser);
    await Promise.all(this.#leaving.values());
  }

  #takeFor(request: LiveRequest | AutoRequest): WarmBrowser | undefined {
    if (this.#closed || this.#parts.config.warmSessions === 0 || !fitsAnyBrowser(request)) return undefined;
    const now = performance.now();
    this.#demand.note(now);
    this.#quietSince ??= now;
    this.#quietUntil = Math.min(now + QUIET_MS, this.#quietSince + LONGEST_QUIET_MS);
    const all = [...this.#waiting];
    // One that is still being started is ahead of any that would be started now.
    const taken = all.find(({ ready }) => ready) ?? all.find((browser) => this.#starting.has(browser));
    if (taken !== undefined) this.#waiting.delete(taken);
    this.#wakeIn(QUIET_MS);
    return taken;
  }

  /** Every create of this turn has taken its browser by the next: what still waits may be in the way of one. */
  async #roomMade(): Promise<void> {
    await nextTurn();
    this.#shrinkTo(this.#parts.freePlaces());
    await Promise.all(this.#leaving.values());
  }

  #look(): void {
    const now = performance.now();
    const wanted = Math.max(this.#parts.config.warmSessions, this.#demand.peak(now));
    const short = this.#parts.availableBytes() < RESERVE_BYTES;
    this.#shrinkTo(Math.min(this.#parts.freePlaces(), short ? this.#waiting.size - 1 : wanted));
    for (const browser of this.#waiting) if (browser.ready) void this.#probe(browser);
    this.#refill();
    this.#cancelLook();
    this.#cancelLook = this.#parts.clock.after(LOOK_EVERY_MS, () => this.#look());
  }

  async #probe(browser: WarmBrowser): Promise<void> {
    if (await browser.answers()) return;
    if (!this.#waiting.has(browser) || !browser.ready) return;
    this.#parts.log('a warm browser does not answer and is replaced');
    this.#discard(browser);
    this.#wakeIn(0);
  }

  #refill(): void {
    const { config, freePlaces, availableBytes } = this.#parts;
    if (this.#closed || config.warmSessions === 0) return;
    const now = performance.now();
    if (now < this.#quietUntil) {
      this.#wakeIn(this.#quietUntil - now);
      return;
    }
    this.#quietSince = null;
    const wanted = Math.min(freePlaces(), Math.max(config.warmSessions, this.#demand.peak(now)));
    while (this.#waiting.size + this.#leaving.size < wanted && this.#starting.size < this.#maxStarting) {
      // What is being started has not taken its memory yet.
      if (availableBytes() < RESERVE_BYTES + (this.#starting.size + 1) * BROWSER_BYTES) return;
      this.#startOne();
    }
  }

  #startOne(): void {
    const { config } = this.#parts;
    const browser = new WarmBrowser(this.#parts, config.createTimeout * 1000);
    this.#waiting.add(browser);
    this.#starting.add(browser);
    void browser.opened().then(
      () => {
        this.#starting.delete(browser);
        this.#retryMs = FIRST_RETRY_MS;
        this.#wakeIn(0);
      },
      (error) => {
        this.#starting.delete(browser);
        const wanted = this.#waiting.delete(browser);
        if (!wanted) return;
        this.#parts.log(`a warm browser could not be started: ${sentenceOf(error)}`);
        this.#wakeIn(this.#retryMs);
        this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
      },
    );
    void browser.unusable.then(() => {
      if (!this.#waiting.has(browser)) return;
      this.#discard(browser);
      this.#wakeIn(this.#retryMs);
    });
  }

  /** The newest go first: they are the most likely to be unfinished. */
  #shrinkTo(count: number): void {
    const extra = [...this.#waiting].slice(Math.max(0, count));
    for (const browser of extra.reverse()) this.#discard(browser);
  }

  #discard(browser: WarmBrowser): void {
    this.#waiting.delete(browser);
    const { id } = browser;
    this.#leaving.set(
      id,
      browser.discard().finally(() => this.#leaving.delete(id)),
    );
  }

  #wakeIn(ms: number): void {
    if (this.#closed) return;
    this.#cancelWake();
    this.#cancelWake = this.#parts.clock.after(ms, () => this.#refill());
  }
}
