import type { SessionRecord } from '../../protocol/session.js';

/** What is known of the flows of a run, by their index. It outlives whatever ends the run early. */
export class KnownEnds {
  /** The jobs of each flow that have ended, in order: the last one is its result. */
  readonly attempts = new Map<number, readonly SessionRecord[]>();
  /** The sessions of flows that have started, also of those that have not ended. */
  readonly started = new Map<number, string>();
  readonly #isShared: boolean;
  readonly #causes = new Map<number, string>();

  /** @param isShared whether other machines run flows of the run, too */
  constructor(isShared: boolean) {
    this.#isShared = isShared;
  }

  /** Adds a job that has ended. @returns how many there were before */
  ended(index: number, record: SessionRecord): number {
    const before = this.attempts.get(index) ?? [];
    this.attempts.set(index, [...before, record]);
    return before.length;
  }

  /** Notes what kept flows from being run to their end; the first cause of each counts. */
  keep(indexes: readonly number[], cause: string): void {
    for (const index of indexes) if (!this.#causes.has(index)) this.#causes.set(index, cause);
  }

  /**
   * Why a flow has no result, as a sentence without its period.
   * @param cause what ended the run early, if nothing else is known; null if nothing did
   */
  whyNotRun(index: number, cause: string | null): string {
    const last = this.attempts.get(index)?.at(-1);
    const kept = this.#causes.get(index);
    const state = this.#stateOf(index, last, kept !== undefined);
    const why = kept ?? cause ?? last?.summary ?? null;
    return why === null ? state : `${state}: ${why}`;
  }

  #stateOf(index: number, last: SessionRecord | undefined, isKept: boolean): string {
    if (last === undefined ? this.started.has(index) : last.startedAt !== null) return 'it started and did not end';
    if (last !== undefined || isKept) return 'it was not started';
    // What the service said last may not have arrived.
    return this.#isShared ? 'this machine did not run it' : 'it may not have started';
  }
}
