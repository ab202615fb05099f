import type { Clock } from '../../base/clock.js';
import { boundedWait } from '../../base/deadline.js';
import type { TokenLimits } from '../../protocol/access.js';
import { counted } from '../../protocol/counted.js';
import { type ErrorDetails, TroupeError } from '../../protocol/errors.js';
import type { Slot } from '../sessions/index.js';
import { FairLane } from './fair-lane.js';

interface Waiter {
  readonly caller: string;
  admit(slot: Slot): void;
  /** Called when the service stops. Jobs have none: they stay on disk. */
  refuse?(error: TroupeError): void;
}

/** Bounds the wait for a live session. */
export interface SlotBounds {
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
}

/**
 * Live creates that wait, each on an open connection, in total and per caller. Beyond either bound, a create is
 * rejected.
 */
const MAX_LIVE_WAITING = 1_000;
const MAX_LIVE_WAITING_EACH = 250;
/** How many jobs a full queue still accepts from callers that have none in it. */
const ROOM_FOR_OTHERS = 1_000;
const RETRY_LIVE_SECONDS = 5;
const RETRY_JOB_SECONDS = 30;

/**
 * Decides which sessions run: at most `maxSessions`. Live creates wait in one lane, up to their deadline; jobs wait in
 * the
 * other, without limit. While both wait, the lanes alternate, and within a lane the caller with the least recent usage
 * is
 * next. So neither a lane nor a caller starves, even if another caller floods the service. A caller that has reached
 * its
 * token's limit is skipped until one of its sessions ends.
 */
export class Admission {
  readonly #maxSessions: number;
  readonly #maxQueue: number;
  readonly #clock: Clock;
  readonly #onReleased: () => void;
  readonly #limitsOf: (caller: string) => TokenLimits;
  readonly #queuedElsewhere: () => number;
  readonly #runningOf = new Map<string, number>();
  readonly #mayEnter = (caller: string) =>
    (this.#runningOf.get(caller) ?? 0) < (this.#limitsOf(caller).running ?? Number.POSITIVE_INFINITY);
  readonly #live: FairLane<Waiter>;
  readonly #jobs: FairLane<Waiter>;
  /** Jobs that are being accepted or held back by their batch: not in a lane yet, but they count towards the queue. */
  readonly #reserved: FairLane<null>;
  #lastLive = 0;
  #running = 0;
  #jobsTurn = false;
  #closed = false;

  /**
   * @param options.onReleased called when a slot was released and no session waited for it
   * @param options.limitsOf returns a caller's limits
   * @param options.queuedElsewhere returns how many jobs wait for any node
   */
  constructor(options: {
    readonly maxSessions: number;
    readonly maxQueue: number;
    readonly clock: Clock;
    readonly onReleased?: () => void;
    readonly limitsOf?: (caller: string) => TokenLimits;
    readonly queuedElsewhere?: () => number;
  }) {
    this.#maxSessions = options.maxSessions;
    this.#maxQueue = options.maxQueue;
    this.#clock = options.clock;
    const nowMs = () => options.clock.now().getTime();
    this.#live = new FairLane(nowMs);
    this.#jobs = new FairLane(nowMs);
    this.#reserved = new FairLane(nowMs);
    this.#onReleased = options.onReleased ?? (() => undefined);
    this.#limitsOf = options.limitsOf ?? (() => ({}));
    this.#queuedElsewhere = options.queuedElsewhere ?? (() => 0);
  }

  get running(): number {
    return this.#running;
  }

  get queued(): number {
    return this.#jobs.size + this.#queuedElsewhere();
  }

  /**
   * Waits for a slot for a live session.
   * @param caller identifies the caller, for fairness
   * @throws CAPACITY with `retryAfterSeconds` at the deadline, or at once if too many wait; UNAVAILABLE if the service
   *   stops; the signal's reason
   */
  waitForSlot(caller: string, { signal, deadlineMs }: SlotBounds): Promise<Slot> {
    if (this.#closed) return Promise.reject(stopping());
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#live.size >= MAX_LIVE_WAITING || this.#live.sizeOf(caller) >= MAX_LIVE_WAITING_EACH) {
      return Promise.reject(this.#full('Too many sessions are waiting for a slot', RETRY_LIVE_SECONDS));
    }
    const late = () => {
      const taken = this.#mayEnter(caller) ? `All ${this.#maxSessions} sessions` : 'All sessions of this token';
      return this.#full(`${taken} were in use for ${Math.round(deadlineMs / 1000)} s`, RETRY_LIVE_SECONDS);
    };
    return boundedWait({ signal, ms: deadlineMs, late, clock: this.#clock }, (admit, refuse) => {
      const id = String(++this.#lastLive);
      this.#live.add(caller, id, { caller, admit, refuse });
      this.#admitNext();
      return () => this.#live.remove(id);
    });
  }

  /** A slot for a session that already runs, admitted by an earlier run of the service. May exceed `maxSessions`. */
  acquire(caller: string): Slot {
    return this.#newSlot(caller);
  }

  /**
   * Checks whether this many more jobs may be queued.
   * @throws CAPACITY beyond `maxQueue`, unless it is a single job of a caller that has none queued; or beyond its
   * token's limit
   */
  assertQueueHasRoom(caller: string, jobs = 1): void {
    if (this.#closed) throw stopping();
    const own = this.#jobs.sizeOf(caller) + this.#reserved.sizeOf(caller);
    const all = this.queued + this.#reserved.size;
    const { queued = Number.POSITIVE_INFINITY } = this.#limitsOf(caller);
    if (own + jobs > queued)
      throw this.#full(`This token already has ${counted(own, 'queued job')}`, RETRY_JOB_SECONDS);
    if (all + jobs <= this.#maxQueue) return;
    if (jobs > 1)
      throw this.#full(`The queue already has ${counted(all, 'job')}, and this adds ${jobs}`, RETRY_JOB_SECONDS);
    const othersAlone = this.#maxQueue > 0 && own === 0;
    if (othersAlone && all < this.#maxQueue + ROOM_FOR_OTHERS) return;
    throw this.#full(`The queue already has ${counted(all, 'job')}`, RETRY_JOB_SECONDS);
  }

  /** Reserves room for a job that will be queued later, until {@link queue} or {@link leaveQueue}. */
  reserve(caller: string, id: string): void {
    this.#reserved.add(caller, id, null);
  }

  /** Queues a job behind its caller's others. `admit` is called once, unless {@link leaveQueue} is called before. */
  queue(caller: string, id: string, admit: (slot: Slot) => void): void {
    this.#reserved.remove(id);
    this.#jobs.add(caller, id, { caller, admit });
    this.#admitNext();
  }

  /** False if the job does not wait. */
  leaveQueue(id: string): boolean {
    if (this.#reserved.remove(id)) return true;
    return this.#jobs.remove(id);
  }

  /** 1 for the next job, null for one that does not wait. */
  position(id: string): number | null {
    return this.#jobs.position(id);
  }

  /** Stops admitting: waiting live sessions are rejected, jobs stay where they are. */
  close(): void {
    this.#closed = true;
    for (const waiter of this.#live.waiters()) waiter.refuse?.(stopping());
  }

  #admitNext(): void {
    while (!this.#closed && this.#running < this.#maxSessions) {
      const waiter = this.#takeNext();
      if (waiter === undefined) return;
      waiter.admit(this.#newSlot(waiter.caller));
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

  #newSlot(caller: string): Slot {
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
