import type { Clock } from '../../base/clock.js';
import { boundedWait } from '../../base/deadline.js';
import type { TokenLimits } from '../../protocol/access.js';
import { type ErrorDetails, TroupeError } from '../../protocol/errors.js';
import type { Slot } from '../sessions/index.js';
import { FairLane } from './fair-lane.js';

interface Waiter {
  readonly caller: string;
  admit(slot: Slot): void;
  /** The service stops. A job has none: it stays on disk. */
  refuse?(error: TroupeError): void;
}

/** What a waiter for a live session is bounded by. */
export interface EnterBounds {
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
}

/** Live creates that wait, each on an open connection: past either bound the next is refused at once. */
const MAX_LIVE_WAITING = 1_000;
const MAX_LIVE_WAITING_EACH = 250;
/** A full queue still takes a job of a caller who has none in it, so many times. */
const ROOM_FOR_OTHERS = 1_000;
const RETRY_LIVE_SECONDS = 5;
const RETRY_JOB_SECONDS = 30;

/**
 * Who may run. At most `maxSessions` places; live creates wait in one lane, at most their deadline, jobs in the other,
 * for as long as it takes. While both wait, the lanes take turns, and within a lane the callers do, who had
 * least of late first, so that nobody
 * starves: neither lane, and no caller beside one that floods the service. A caller that runs as much as it may is passed
 * over until one of its sessions ends.
 */
export class Admission {
  readonly #maxSessions: number;
  readonly #maxQueue: number;
  readonly #clock: Clock;
  readonly #onReleased: () => void;
  readonly #limitsOf: (caller: string) => TokenLimits;
  readonly #runningOf = new Map<string, number>();
  readonly #mayEnter = (caller: string) =>
    (this.#runningOf.get(caller) ?? 0) < (this.#limitsOf(caller).running ?? Number.POSITIVE_INFINITY);
  readonly #live: FairLane<Waiter>;
  readonly #jobs: FairLane<Waiter>;
  /** Jobs that are being accepted, or are held back by their batch: they have no turn yet, and take room in the queue. */
  readonly #expected: FairLane<null>;
  #lastLive = 0;
  #running = 0;
  #jobsTurn = false;
  #closed = false;

  /**
   * @param options.onReleased called when a place was given back and nobody waited for it
   * @param options.limitsOf what one caller may take at most
   */
  constructor(options: {
    readonly maxSessions: number;
    readonly maxQueue: number;
    readonly clock: Clock;
    readonly onReleased?: () => void;
    readonly limitsOf?: (caller: string) => TokenLimits;
  }) {
    this.#maxSessions = options.maxSessions;
    this.#maxQueue = options.maxQueue;
    this.#clock = options.clock;
    const nowMs = () => options.clock.now().getTime();
    this.#live = new FairLane(nowMs);
    this.#jobs = new FairLane(nowMs);
    this.#expected = new FairLane(nowMs);
    this.#onReleased = options.onReleased ?? (() => undefined);
    this.#limitsOf = options.limitsOf ?? (() => ({}));
  }

  get running(): number {
    return this.#running;
  }

  get queued(): number {
    return this.#jobs.size;
  }

  /**
   * A place for a live session.
   * @param caller who takes turns with other callers: whatever tells them apart
   * @throws CAPACITY with `retryAfterSeconds` at the deadline, or at once where too many wait already; UNAVAILABLE when
   *   the service stops; the signal's reason
   */
  enter(caller: string, { signal, deadlineMs }: EnterBounds): Promise<Slot> {
    if (this.#closed) return Promise.reject(stopping());
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#live.size >= MAX_LIVE_WAITING || this.#live.sizeOf(caller) >= MAX_LIVE_WAITING_EACH) {
      return Promise.reject(this.#full('Too many sessions are waited for', RETRY_LIVE_SECONDS));
    }
    const late = () => {
      const taken = this.#mayEnter(caller) ? `All ${this.#maxSessions} sessions` : 'All sessions of this token';
      return this.#full(`${taken} were taken for ${Math.round(deadlineMs / 1000)} s`, RETRY_LIVE_SECONDS);
    };
    return boundedWait({ signal, ms: deadlineMs, late, clock: this.#clock }, (admit, refuse) => {
      const id = String(++this.#lastLive);
      this.#live.add(caller, id, { caller, admit, refuse });
      this.#admitNext();
      return () => this.#live.remove(id);
    });
  }

  /** A place for a session that runs already: an earlier service admitted it. May go past `maxSessions`. */
  acquire(caller: string): Slot {
    return this.#place(caller);
  }

  /**
   * Whether so many more jobs may wait.
   * @throws CAPACITY past `maxQueue`, unless it is a single one and none of the caller's waits; or past what its token may
   */
  assertQueueHasRoom(caller: string, jobs = 1): void {
    if (this.#closed) throw stopping();
    const own = this.#jobs.sizeOf(caller) + this.#expected.sizeOf(caller);
    const all = this.#jobs.size + this.#expected.size;
    const { queued = Number.POSITIVE_INFINITY } = this.#limitsOf(caller);
    if (own + jobs > queued) throw this.#full(`${own} jobs of this token wait already`, RETRY_JOB_SECONDS);
    if (all + jobs <= this.#maxQueue) return;
    if (jobs > 1) throw this.#full(`${all} jobs wait already, and these are ${jobs}`, RETRY_JOB_SECONDS);
    const othersAlone = this.#maxQueue > 0 && own === 0;
    if (othersAlone && all < this.#maxQueue + ROOM_FOR_OTHERS) return;
    throw this.#full(`${all} jobs wait already`, RETRY_JOB_SECONDS);
  }

  /** Counts a job that comes to the queue later: it takes room until {@link queue} or {@link leaveQueue}. */
  expect(caller: string, id: string): void {
    this.#expected.add(caller, id, null);
  }

  /** Puts a job at the end of its caller's; `admit` is called once, unless {@link leaveQueue} comes first. */
  queue(caller: string, id: string, admit: (slot: Slot) => void): void {
    this.#expected.remove(id);
    this.#jobs.add(caller, id, { caller, admit });
    this.#admitNext();
  }

  /** False when the job no longer waits. */
  leaveQueue(id: string): boolean {
    if (this.#expected.remove(id)) return true;
    return this.#jobs.remove(id);
  }

  /** 1 for the job that is next, null for one that does not wait. */
  position(id: string): number | null {
    return this.#jobs.position(id);
  }

  /** Admits nobody from now on: live sessions that wait are refused, jobs stay where they are. */
  close(): void {
    this.#closed = true;
    for (const waiter of this.#live.waiters()) waiter.refuse?.(stopping());
  }

  #admitNext(): void {
    while (!this.#closed && this.#running < this.#maxSessions) {
      const waiter = this.#takeNext();
      if (waiter === undefined) return;
      waiter.admit(this.#place(waiter.caller));
    }
  }

  #takeNext(): Waiter | undefined {
    const jobsFirst = this.#jobs.size > 0 && (this.#live.size === 0 || this.#jobsTurn);
    for (const lane of jobsFirst ? [this.#jobs, this.#live] : [this.#live, this.#jobs]) {
      const waiter = lane.next(this.#mayEnter);
      if (waiter === undefined) continue;
      this.#jobsTurn = lane === this.#live;
      return waiter;
    }
    return undefined;
  }

  #place(caller: string): Slot {
    this.#running += 1;
    this.#runningOf.set(caller, (this.#runningOf.get(caller) ?? 0) + 1);
    let held = true;
    return {
      release: () => {
        if (!held) return;
        held = false;
        this.#running -= 1;
        const left = (this.#runningOf.get(caller) ?? 1) - 1;
        if (left > 0) this.#runningOf.set(caller, left);
        else this.#runningOf.delete(caller);
        this.#admitNext();
        if (this.#running < this.#maxSessions) this.#onReleased();
      },
    };
  }

  #full(message: string, retryAfterSeconds: number): TroupeError {
    const details: ErrorDetails = {
      maxSessions: this.#maxSessions,
      running: this.#running,
      queued: this.#jobs.size,
      waiting: this.#live.size,
      retryAfterSeconds,
    };
    return new TroupeError('CAPACITY', message, details);
  }
}

function stopping(): TroupeError {
  return new TroupeError('UNAVAILABLE', 'The service is stopping');
}
