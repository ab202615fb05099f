/** What a caller was let in for counts half after so long, in milliseconds: who was served much yields to who was not. */
const HALF_LIFE_MS = 60_000;
/** A past that counts for less counts for nothing. */
const NEXT_TO_NOTHING = 0.01;
/** Beyond so many callers those are forgotten whose past counts for nothing. */
const MANY_CALLERS = 1_000;

/**
 * Waiters of many callers. Next is the caller that was let in least in the last minutes, and among equals the one whose
 * turn is longest ago; each one's waiters come in the order of their coming. So callers who come together take turns, and
 * one who comes to a place that another has flooded for a while is served first until it has had as much.
 *
 *     a: 1 2 3 4      next -> a1 b1 c1 a2 b2 a3 a4
 *     b: 1 2
 *     c: 1
 */
export class FairLane<W> {
  readonly #nowMs: () => number;
  /** By caller, the one whose turn is longest ago first; no caller without waiters. */
  readonly #callers = new Map<string, Map<string, W>>();
  readonly #callerOf = new Map<string, string>();
  readonly #served = new Map<string, { readonly amount: number; readonly atMs: number }>();
  #positions: ReadonlyMap<string, number> | undefined;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

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
   * Takes out the waiter whose turn it is.
   * @param mayEnter a caller that may not keeps its turn
   */
  next(mayEnter: (caller: string) => boolean): W | undefined {
    let chosen: { readonly caller: string; readonly had: number } | undefined;
    for (const caller of this.#callers.keys()) {
      const had = this.#hadOf(caller);
      if ((chosen === undefined || had < chosen.had) && mayEnter(caller)) chosen = { caller, had };
    }
    const own = this.#callers.get(chosen?.caller ?? '');
    if (chosen === undefined || own === undefined) return undefined;
    this.#serve(chosen.caller, chosen.had);
    for (const [id, waiter] of own) {
      this.#drop(chosen.caller, id);
      if (own.size > 0) {
        this.#callers.delete(chosen.caller);
        this.#callers.set(chosen.caller, own);
      }
      return waiter;
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

  #hadOf(caller: string): number {
    const { amount, atMs } = this.#served.get(caller) ?? { amount: 0, atMs: 0 };
    const had = amount === 0 ? 0 : amount * 2 ** (-Math.max(0, this.#nowMs() - atMs) / HALF_LIFE_MS);
    // Else a past of hours ago would decide between callers.
    return had < NEXT_TO_NOTHING ? 0 : had;
  }

  #serve(caller: string, had: number): void {
    this.#served.set(caller, { amount: had + 1, atMs: this.#nowMs() });
    if (this.#served.size <= MANY_CALLERS) return;
    for (const other of this.#served.keys()) if (this.#hadOf(other) === 0) this.#served.delete(other);
  }

  /** As if each were served at this moment: the n-th of a caller comes when that one has had n - 1 more. */
  #countPositions(): ReadonlyMap<string, number> {
    const order = [...this.#callers].flatMap(([caller, own]) => {
      const had = this.#hadOf(caller);
      return [...own.keys()].map((id, index) => ({ id, had: had + index }));
    });
    // Stable, so that among equals the one whose turn is longest ago stays first.
    order.sort((a, b) => a.had - b.had);
    return new Map(order.map(({ id }, index) => [id, index + 1]));
  }
}
