import { availableParallelism } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../base/clock.js';
import { stretched, unstretched } from '../../base/deadline.js';
import { errorCode, sentenceOf } from '../../base/system-fault.js';
import type { Config } from '../../config.js';
import type { BrowserLease } from '../../containers/driver.js';
import type { AutoRequest, LiveRequest, SessionId } from '../../protocol/session.js';
import {
  type BrowserOpening,
  needsOwnActor,
  newSessionId,
  type OpenBounds,
  type OpenBrowser,
  type SessionBrowser,
} from '../sessions/index.js';
import { type ActorStart, fitsAnyBrowser, leaseOptions, type OpenDependencies, openBrowser } from './open-browser.js';
import { RecentDemand } from './recent-demand.js';
import { WarmBrowser } from './warm-browser.js';

/** What the pool needs from the scheduler. */
export interface WarmPoolParts extends OpenDependencies {
  readonly config: Config;
  readonly clock: Clock;
  /** Slots that no session uses. */
  freeSlots(): number;
  /** Memory that is available to this process. */
  availableBytes(): number;
}

/** How often the pool replaces unresponsive browsers and adapts to demand and memory. */
const CHECK_EVERY_MS = 5_000;
/** After a create, starts pause in favour of the session's first scripts; LONGEST_QUIET_MS limits a series of pauses. */
const QUIET_MS = 150;
const MAX_QUIET_MS = 1_000;
/** Delays after failed starts; doubled from the first to the last. */
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 30_000;
/** Memory that stays free, and an estimate of what a browser needs. */
const RESERVE_BYTES = 512 * 1024 * 1024;
const BROWSER_BYTES = 256 * 1024 * 1024;

/**
 * Browsers that are started in advance. A create or a job takes one if its options allow it, and the pool is refilled
 * in
 * the background, a few starts at a time. It holds as many as the creates that arrived at once in the last minute, at
 * least `warmSessions`, and never more than free slots and memory allow: with the sessions' browsers there are never
 * more
 * than `maxSessions`. `warmSessions` 0 disables the pool.
 */
export class WarmPool {
  readonly #parts: WarmPoolParts;
  readonly #maxStarting = Math.max(1, Math.floor(availableParallelism() / 2));
  readonly #demand = new RecentDemand();
  /** Browsers that wait for a session, oldest first. */
  readonly #waiting = new Set<WarmBrowser>();
  readonly #starting = new Set<WarmBrowser>();
  /** Browsers that are being handed over to a job. */
  readonly #handedOver = new Set<string>();
  /** Browsers that are being ended: they still use their slot. */
  readonly #ending = new Map<string, Promise<void>>();
  #quietSince: number | null = null;
  #quietUntil = 0;
  #retryMs = FIRST_RETRY_MS;
  #closed = false;
  #cancelCheck: () => void = () => undefined;
  #cancelWake: () => void = () => undefined;

  constructor(parts: WarmPoolParts) {
    this.#parts = parts;
  }

  /** Starts to fill the pool; before this call, it is empty. */
  start(): void {
    if (this.#parts.config.warmSessions === 0) return;
    this.#check();
  }

  /** Whether the id belongs to a browser of the pool, including those that are ending. */
  has(id: string): boolean {
    for (const browser of this.#waiting) if (browser.id === id) return true;
    return this.#ending.has(id) || this.#handedOver.has(id);
  }

  get ready(): number {
    return [...this.#waiting].filter(({ ready }) => ready).length;
  }

  /** Returns a new session's id and how to open its browser: a warm one, if there is one that fits the request. */
  prepare(request: LiveRequest): { readonly id: SessionId; readonly open: BrowserOpening } {
    const warm = this.#takeFor(request);
    const id = warm?.id ?? newSessionId();
    const open: BrowserOpening = async (task, bounds) => {
      const start = { id, restart: 'transient', task } as const;
      if (warm === undefined) return this.#openCold(request, start, bounds);
      return this.#warmOrCold(request, start, bounds, (within) =>
        needsOwnActor(request, this.#parts.config) ? warm.handOver(start, within) : warm.claim(task, within),
      );
    };
    return { id, open };
  }

  /** How to open a job's browser: a warm one, if there is one at that moment that fits the request. */
  prepareJob(id: SessionId, request: AutoRequest): BrowserOpening {
    const flowsAlone = (request.maxIterations ?? this.#parts.config.maxIterations) === 0;
    const restart = flowsAlone ? 'temporary' : 'transient';
    return async (task, bounds) => {
      const start = { id, restart, task } as const;
      const warm = this.#takeFor(request);
      if (warm === undefined) return this.#openCold(request, start, bounds);
      this.#handedOver.add(warm.id);
      try {
        return await this.#warmOrCold(request, start, bounds, (within) => warm.handOver(start, within));
      } finally {
        // By the next turn of the event loop the job holds the lease.
        void nextTurn().then(() => this.#handedOver.delete(warm.id));
      }
    };
  }

  /** A warm browser that fails costs the session only time: a new browser is started. */
  async #warmOrCold(
    request: LiveRequest | AutoRequest,
    start: ActorStart,
    bounds: OpenBounds,
    warm: (bounds: OpenBounds) => Promise<OpenBrowser>,
  ): Promise<SessionBrowser> {
    const deadline = performance.now() + stretched(bounds.deadlineMs);
    try {
      return { ...(await warm(bounds)), warm: true };
    } catch (error) {
      if (bounds.signal.aborted || errorCode(error) === 'INVALID_REQUEST') throw error;
      this.#parts.log(`the warm browser was unusable: ${sentenceOf(error)}`, { session: start.id });
      const deadlineMs = Math.max(1, Math.round(unstretched(deadline - performance.now())));
      return await this.#openCold(request, start, { ...bounds, deadlineMs });
    }
  }

  /** Starts a browser for this session. If there is no free slot for it, a warm one is ended first. */
  async #openCold(request: LiveRequest | AutoRequest, start: ActorStart, bounds: OpenBounds): Promise<SessionBrowser> {
    await this.#makeRoom();
    bounds.signal.throwIfAborted();
    return { ...(await openBrowser(this.#parts, leaseOptions(start.id, request), start, bounds)), warm: false };
  }

  /** Starts a browser without an actor, for a session that has one. Call with a slot. @throws UNAVAILABLE */
  async lease(leaseId: SessionId, request: LiveRequest | AutoRequest, bounds: OpenBounds): Promise<BrowserLease> {
    await this.#makeRoom();
    bounds.signal.throwIfAborted();
    return this.#parts.driver.lease(leaseOptions(leaseId, request), bounds);
  }

  /** Called when a slot was freed: the pool may grow. */
  slotFreed(): void {
    this.#wakeIn(0);
  }

  /** Ends all waiting browsers, and starts no more. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelCheck();
    this.#cancelWake();
    for (const browser of [...this.#waiting]) this.#discard(browser);
    await Promise.all(this.#ending.values());
  }

  #takeFor(request: LiveRequest | AutoRequest): WarmBrowser | undefined {
    if (this.#closed || this.#parts.config.warmSessions === 0 || !fitsAnyBrowser(request)) return undefined;
    const now = performance.now();
    this.#demand.note(now);
    this.#quietSince ??= now;
    this.#quietUntil = Math.min(now + QUIET_MS, this.#quietSince + MAX_QUIET_MS);
    const all = [...this.#waiting];
    // A browser that is already starting will be ready sooner than a new one.
    const taken = all.find(({ ready }) => ready) ?? all.find((browser) => this.#starting.has(browser));
    if (taken !== undefined) this.#waiting.delete(taken);
    this.#wakeIn(QUIET_MS);
    return taken;
  }

  /**
   * Waits a turn, in which all concurrent creates take their browsers, then ends warm browsers that exceed the free
   * slots.
   */
  async #makeRoom(): Promise<void> {
    await nextTurn();
    this.#shrinkTo(this.#parts.freeSlots());
    await Promise.all(this.#ending.values());
  }

  #check(): void {
    const now = performance.now();
    const wanted = Math.max(this.#parts.config.warmSessions, this.#demand.peak(now));
    const short = this.#parts.availableBytes() < RESERVE_BYTES;
    this.#shrinkTo(Math.min(this.#parts.freeSlots(), short ? this.#waiting.size - 1 : wanted));
    for (const browser of this.#waiting) if (browser.ready) void this.#probe(browser);
    this.#refill();
    this.#cancelCheck();
    this.#cancelCheck = this.#parts.clock.after(CHECK_EVERY_MS, () => this.#check());
  }

  async #probe(browser: WarmBrowser): Promise<void> {
    if (await browser.answers()) return;
    if (!this.#waiting.has(browser) || !browser.ready) return;
    this.#parts.log('a warm browser does not respond and is replaced');
    this.#discard(browser);
    this.#wakeIn(0);
  }

  #refill(): void {
    const { config, freeSlots: freePlaces, availableBytes } = this.#parts;
    if (this.#closed || config.warmSessions === 0) return;
    const now = performance.now();
    if (now < this.#quietUntil) {
      this.#wakeIn(this.#quietUntil - now);
      return;
    }
    this.#quietSince = null;
    const wanted = Math.min(freePlaces(), Math.max(config.warmSessions, this.#demand.peak(now)));
    while (this.#waiting.size + this.#ending.size < wanted && this.#starting.size < this.#maxStarting) {
      // Browsers that are starting have not allocated their memory yet.
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
        this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
      },
    );
    void browser.unusable.then(() => {
      if (!this.#waiting.has(browser)) return;
      this.#discard(browser);
      this.#wakeIn(this.#retryMs);
    });
  }

  /** Ends the newest first: they are most likely to be still starting. */
  #shrinkTo(count: number): void {
    const extra = [...this.#waiting].slice(Math.max(0, count));
    for (const browser of extra.reverse()) this.#discard(browser);
  }

  #discard(browser: WarmBrowser): void {
    this.#waiting.delete(browser);
    const { id } = browser;
    this.#ending.set(
      id,
      browser.discard().finally(() => this.#ending.delete(id)),
    );
  }

  #wakeIn(ms: number): void {
    if (this.#closed) return;
    this.#cancelWake();
    this.#cancelWake = this.#parts.clock.after(ms, () => this.#refill());
  }
}
