interface Gate {
  readonly parallel: number;
  readonly inside: Set<string>;
  /** By session, in the order of their coming. */
  readonly waiting: Map<string, () => void>;
  /** Jobs that have not ended, whether they have come yet or not. */
  left: number;
}

/**
 * Holds back the jobs of batches that say how many of them may run at once: so many are in the queue or run, and each
 * that ends lets the next one in.
 */
export class BatchGate {
  readonly #gates = new Map<string, Gate>();
  /** The batch of each session that is inside or waits. */
  readonly #batchOf = new Map<string, string>();

  /** Says how many of a batch's jobs may be inside. Before its first; gone with its last of `jobs`. */
  open(batch: string, parallel: number, jobs: number): void {
    this.#gates.set(batch, { parallel, inside: new Set(), waiting: new Map(), left: jobs });
  }

  /** Calls `enter` once: at once where the batch has no gate or room, else when one of its jobs left. */
  pass(batch: string | null, session: string, enter: () => void): void {
    const gate = batch === null ? undefined : this.#gates.get(batch);
    if (batch === null || gate === undefined) {
      enter();
      return;
    }
    this.#batchOf.set(session, batch);
    // A job that begins again never left.
    if (gate.inside.size >= gate.parallel && !gate.inside.has(session)) {
      gate.waiting.set(session, enter);
      return;
    }
    gate.inside.add(session);
    enter();
  }

  /** Lets the next one in where this one was inside. For any session, once it has ended. */
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

  /** Lets a session that waits never in. Its end is still to be told with {@link leave}. */
  refuse(session: string): void {
    const batch = this.#batchOf.get(session);
    if (batch !== undefined) this.#gates.get(batch)?.waiting.delete(session);
  }
}
