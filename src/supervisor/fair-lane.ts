/**
 * Waiters of many callers. The callers take turns, and each one's waiters come in the order of their coming, so that a
 * caller with a thousand waiters delays another's by one turn and not by a thousand.
 *
 *     a: 1 2 3 4      next -> a1 b1 c1 a2 b2 a3 a4
 *     b: 1 2
 *     c: 1
 */
export class FairLane<W> {
  /** By caller, the one whose turn is next first; no caller without waiters. */
  readonly #callers = new Map<string, Map<string, W>>();
  readonly #callerOf = new Map<string, string>();
  #positions: ReadonlyMap<string, number> | undefined;

  get size(): number {
    return this.#callerOf.size;
  }

  sizeOf(caller: string): number {
    return this.#callers.get(caller)?.size ?? 0;
  }

  add(caller: string, id: string, waiter: W): void {
    const own = this.#callers.get(caller) ?? new Map<string, W>();
    this.#callers.set(caller, own.set(id, waiter));
    this.#callerOf.set(id, caller);
    this.#positions = undefined;
  }

  /** False when it does not wait here. */
  remove(id: string): boolean {
    const caller = this.#callerOf.get(id);
    if (caller === undefined) return false;
    this.#drop(caller, id);
    return true;
  }

  /**
   * Takes out the waiter whose turn it is; its caller's next turn comes after everyone else's.
   * @param mayEnter a caller that may not keeps its turn
   */
  next(mayEnter: (caller: string) => boolean): W | undefined {
    for (const [caller, own] of this.#callers) {
      if (!mayEnter(caller)) continue;
      for (const [id, waiter] of own) {
        this.#drop(caller, id);
        if (own.size > 0) {
          this.#callers.delete(caller);
          this.#callers.set(caller, own);
        }
        return waiter;
      }
    }
    return undefined;
  }

  /** 1 for the waiter that is next, null for one that does not wait here. */
  position(id: string): number | null {
    this.#positions ??= this.#countPositions();
    return this.#positions.get(id) ?? null;
  }

  waiters(): readonly W[] {
    return [...this.#callers.values()].flatMap((own) => [...own.values()]);
  }

  #drop(caller: string, id: string): void {
    const own = this.#callers.get(caller);
    own?.delete(id);
    if (own?.size === 0) this.#callers.delete(caller);
    this.#callerOf.delete(id);
    this.#positions = undefined;
  }

  #countPositions(): ReadonlyMap<string, number> {
    const positions = new Map<string, number>();
    let turns = [...this.#callers.values()].map((own) => own.keys());
    while (turns.length > 0) {
      turns = turns.filter((turn) => {
        const { value, done } = turn.next();
        if (done !== true) positions.set(value, positions.size + 1);
        return done !== true;
      });
    }
    return positions;
  }
}
