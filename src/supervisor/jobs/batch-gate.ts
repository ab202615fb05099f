interface Gate {
  readonly parallel: number;
  readonly inside: Set<string>;
  /** Waiting sessions, in order of arrival. */
  readonly waiting: Map<string, () => void>;
  /** Jobs that have not ended, whether they have reached the gate or not. */
  left: number;
}

/**
 * Limits how many jobs of a batch are queued or running at once, for batches with `parallel`. Each job that ends admits
 * the next one.
 */
export class BatchGate {
  readonly #gates = new Map<string, Gate>();
  /** The batch of each session that is inside or waits. */
  readonly #batchOf = new Map<string, string>();

  /** Sets a batch's limit. Call before its first job; removed when the last of its `jobs` has ended. */
  open(batch: string, parallel: number, jobs: number): void {
    this.#gates.set(batch, { parallel, inside: new Set(), waiting: new Map(), left: jobs });
  }

  /** Calls `enter` once: now if the batch has no gate or a free slot, otherwise when one of its jobs has ended. */
  pass(batch: string | null, session: string, enter: () => void): void {
    const gate = batch === null ? undefined : this.#gates.get(batch);
    if (batch === null || gate === undefined) {
      enter();
      return;
    }
    this.#batchOf.set(session, batch);
    // A job that is retried has never left.
    if (gate.inside.size >= gate.parallel && !gate.inside.has(session)) {
      gate.waiting.set(session, enter);
      return;
    }
    gate.inside.add(session);
    enter();
  }

  /** Frees the slot of a session that has ended, and admits the next one. Accepts any session. */
  leave(session: string): void {
    const batch = this.#batchOf.get(session);
    const gate = batch === undefined ? undefined : this.#gates.get(batch);
    if (batch === undefined || gate === undefined) return;
    this.#batchOf.delete(session);
    gate.left -= 1;
    gate.waiting.delete(session);
    gate.inside.delete(session);
    if (gate.left === 0) this.#gates.delete(batch);
    for (const [next, enter] of gate.waiting) {
      if (gate.inside.size >= gate.parallel) break;
      gate.waiting.delete(next);
      gate.inside.add(next);
      enter();
    }
  }

  /** Removes a waiting session, so that it is never admitted. Its end must still be reported with {@link leave}. */
  refuse(session: string): void {
    const batch = this.#batchOf.get(session);
    if (batch !== undefined) this.#gates.get(batch)?.waiting.delete(session);
  }
}
