import type { Clock } from '../actors/clock.js';
import { TroupeError } from '../protocol/errors.js';

/** A place for one running session. Must be given back once; giving back again does nothing. */
export interface Place {
  release(): void;
}

interface Waiter {
  admit(place: Place): void;
  /** The service stops. A job has none: it stays on disk. */
  refuse?(error: TroupeError): void;
}

/** What a waiter for a live session is bounded by. */
export interface EnterBounds {
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
}

/**
 * Who may run. At most `maxSessions` places; live creates wait in one lane, at most their deadline, jobs in the other,
 * for as long as it takes. While both wait, the lanes take turns, so that neither starves the other; within a lane it
 * is first come, first served.
 */
export class Admission {
  readonly #maxSessions: number;
  readonly #maxQueue: number;
  readonly #clock: Clock;
  readonly #onReleased: () => void;
  readonly #live = new Set<Waiter>();
  readonly #jobs = new Map<string, Waiter>();
  #positions: ReadonlyMap<string, number> | undefined;
  #running = 0;
  #jobsTurn = false;
  #closed = false;

  /** @param options.onReleased called when a place was given back and nobody waited for it */
  constructor(options: {
    readonly maxSessions: number;
    readonly maxQueue: number;
    readonly clock: Clock;
    readonly onReleased?: () => void;
  }) {
    this.#maxSessions = options.maxSessions;
    this.#maxQueue = options.maxQueue;
    this.#clock = options.clock;
    this.#onReleased = options.onReleased ?? (() => undefined);
  }

  get running(): number {
    return this.#running;
  }

  get queued(): number {
    return this.#jobs.size;
  }

  /**
   * A place for a live session.
   * @throws CAPACITY with `retryAfterSeconds` at the deadline; UNAVAILABLE when the service stops; the signal's reason
   */
  enter({ signal, deadlineMs }: EnterBounds): Promise<Place> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(stopping());
      if (signal.aborted) return reject(signal.reason);
      const leave = () => {
        this.#live.delete(waiter);
        cancelTimer();
        signal.removeEventListener('abort', onAbort);
      };
      const onAbort = () => {
        leave();
        reject(this.#closed ? stopping() : signal.reason);
      };
      const cancelTimer = this.#clock.after(deadlineMs, () => {
        leave();
        reject(this.#full(deadlineMs));
      });
      const waiter: Waiter = {
        admit: (place) => {
          leave();
          resolve(place);
        },
        refuse: (error) => {
          leave();
          reject(error);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#live.add(waiter);
      this.#admitNext();
    });
  }

  /** A place for a session that runs already: an earlier service admitted it. May go past `maxSessions`. */
  occupy(): Place {
    this.#running += 1;
    return this.#place();
  }

  /** @throws CAPACITY when `maxQueue` jobs wait already */
  assertQueueHasRoom(): void {
    if (this.#closed) throw stopping();
    if (this.#jobs.size >= this.#maxQueue) {
      throw new TroupeError('CAPACITY', `${this.#maxQueue} jobs wait already`, { retryAfterSeconds: 30 });
    }
  }

  /** Puts a job at the end of its lane; `admit` is called once, unless {@link leaveQueue} comes first. */
  queue(id: string, admit: (place: Place) => void): void {
    this.#jobs.set(id, { admit });
    this.#positions = undefined;
    this.#admitNext();
  }

  /** False when the job no longer waits. */
  leaveQueue(id: string): boolean {
    this.#positions = undefined;
    return this.#jobs.delete(id);
  }

  /** 1 for the job that is next, null for one that does not wait. */
  position(id: string): number | null {
    this.#positions ??= new Map([...this.#jobs.keys()].map((job, index) => [job, index + 1]));
    return this.#positions.get(id) ?? null;
  }

  /** Admits nobody from now on: live sessions that wait are refused, jobs stay where they are. */
  close(): void {
    this.#closed = true;
    for (const waiter of [...this.#live]) waiter.refuse?.(stopping());
  }

  #admitNext(): void {
    while (!this.#closed && this.#running < this.#maxSessions) {
      const waiter = this.#takeNext();
      if (waiter === undefined) return;
      this.#running += 1;
      waiter.admit(this.#place());
    }
  }

  #takeNext(): Waiter | undefined {
    const job = this.#jobs.entries().next().value;
    const live = this.#live.values().next().value;
    if (job !== undefined && (live === undefined || this.#jobsTurn)) {
      this.#jobsTurn = false;
      this.#jobs.delete(job[0]);
      this.#positions = undefined;
      return job[1];
    }
    this.#jobsTurn = true;
    if (live !== undefined) this.#live.delete(live);
    return live;
  }

  #place(): Place {
    let held = true;
    return {
      release: () => {
        if (!held) return;
        held = false;
        this.#running -= 1;
        this.#admitNext();
        if (this.#running < this.#maxSessions) this.#onReleased();
      },
    };
  }

  #full(waitedMs: number): TroupeError {
    const waited = Math.round(waitedMs / 1000);
    return new TroupeError('CAPACITY', `All ${this.#maxSessions} sessions were taken for ${waited} s`, {
      maxSessions: this.#maxSessions,
      queued: this.#jobs.size,
      retryAfterSeconds: 5,
    });
  }
}

function stopping(): TroupeError {
  return new TroupeError('UNAVAILABLE', 'The service is stopping');
}
