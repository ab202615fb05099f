import { pause, stretched } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';
import type { HostCallContext } from '../../script/host-module.js';

const POLL_MS = 5_000;
/** Between the calls of a polled function, as in Playwright; the last one repeats. */
const INTERVALS_MS = [100, 250, 500, 1_000];
const MAX_POLLS = 100;
const MAX_SOFT = 100;

interface Poll {
  readonly deadline: number;
  readonly intervals: readonly number[];
  attempts: number;
}

/** `expect.poll`: the function runs in the sandbox, and what it returned is compared here until time is up. */
export class Polls {
  readonly #polls = new Map<number, Poll>();
  #last = 0;

  /** @param waitMs the script's own limit */
  async begin(options: unknown, waitMs: number): Promise<{ kind: 'value'; value: number }> {
    const [timeout, intervals] = Array.isArray(options) ? options : [];
    const ms = Math.min(stretched(typeof timeout === 'number' ? timeout : POLL_MS), waitMs);
    const pauses = Array.isArray(intervals) ? intervals.filter((one) => typeof one === 'number') : [];
    this.#last += 1;
    this.#polls.set(this.#last, {
      deadline: performance.now() + ms,
      intervals: pauses.length === 0 ? INTERVALS_MS : pauses,
      attempts: 0,
    });
    for (const oldest of this.#polls.keys()) {
      if (this.#polls.size <= MAX_POLLS) break;
      this.#polls.delete(oldest);
    }
    return { kind: 'value', value: this.#last };
  }

  /** Whether it matched; if not, the function may run again after this. @throws MATCH_FAILED when time is up */
  async attempt(
    id: unknown,
    signal: AbortSignal,
    compare: () => Promise<void>,
  ): Promise<{ kind: 'value'; value: boolean }> {
    const poll = typeof id === 'number' ? this.#polls.get(id) : undefined;
    if (poll === undefined) throw new TroupeError('SCRIPT_ERROR', 'This poll is over');
    try {
      await compare();
      return { kind: 'value', value: true };
    } catch (error) {
      const interval = poll.intervals[Math.min(poll.attempts, poll.intervals.length - 1)] ?? 0;
      poll.attempts += 1;
      const left = poll.deadline - performance.now();
      if (!(error instanceof TroupeError) || error.code !== 'MATCH_FAILED' || left <= 0) throw error;
      await pause(Math.max(1, Math.min(interval, left)), { signal });
      return { kind: 'value', value: false };
    }
  }
}

/** What `expect.soft` found: the script goes on, and fails at its end. */
export class SoftFailures {
  readonly #found = new WeakMap<AbortSignal, TroupeError[]>();

  add({ signal }: HostCallContext, error: TroupeError): void {
    const found = this.#found.get(signal) ?? [];
    if (found.length < MAX_SOFT) found.push(error);
    this.#found.set(signal, found);
  }

  /** @throws MATCH_FAILED with every failure of the script that this signal would end */
  throwAll(signal: AbortSignal): void {
    const found = this.#found.get(signal);
    this.#found.delete(signal);
    if (found === undefined) return;
    throw new TroupeError('MATCH_FAILED', found.map(({ message }) => message).join('\n\n'), { soft: found.length });
  }
}
