import { USAGE_HALF_LIFE_MS } from '../../cluster/fair-share.js';

/** Usage below this counts as zero. */
const NEGLIGIBLE_USAGE = 0.01;
/** With more callers than this, those without usage are forgotten. */
const MANY_CALLERS = 1_000;

/**
 * A queue of many callers. The next caller is the one with the least usage in the last minutes; among equals, the one
 * whose last turn is longest ago. A caller's own waiters are first in, first out. So callers that arrive together take
 * turns, and a caller that arrives after another has flooded the queue is served first until it has had as much.
 *
 *     a: 1 2 3 4      next -> a1 b1 c1 a2 b2 a3 a4
 *     b: 1 2
 *     c: 1
 */
export class FairLane<W> {
  readonly #nowMs: () => number;
  /** Callers with waiters, the one whose last turn is longest ago first. */
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

  /** False if it does not wait here. */
  remove(id: string): boolean {
    const caller = this.#callerOf.get(id);
    if (caller === undefined) return false;
    this.#drop(caller, id);
    return true;
  }

  /**
   * Removes and returns the next waiter.
   * @param mayEnter callers for which this is false are skipped and keep their turn
   */
  next(mayEnter: (caller: string) => boolean): W | undefined {
    let chosen: { readonly caller: string; readonly usage: number } | undefined;
    for (const caller of this.#callers.keys()) {
      const had = this.#usageOf(caller);
      if ((chosen === undefined || had < chosen.usage) && mayEnter(caller)) chosen = { caller, usage: had };
    }
    const own = this.#callers.get(chosen?.caller ?? '');
    if (chosen === undefined || own === undefined) return undefined;
    this.#serve(chosen.caller, chosen.usage);
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

  /** 1 for the next waiter, null for one that does not wait here. */
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

  #usageOf(caller: string): number {
    const { amount, atMs } = this.#served.get(caller) ?? { amount: 0, atMs: 0 };
    const had = amount === 0 ? 0 : amount * 2 ** (-Math.max(0, this.#nowMs() - atMs) / USAGE_HALF_LIFE_MS);
    // Otherwise usage of hours ago would decide between callers.
    return had < NEGLIGIBLE_USAGE ? 0 : had;
  }

  #serve(caller: string, had: number): void {
    this.#served.set(caller, { amount: had + 1, atMs: this.#nowMs() });
    if (this.#served.size <= MANY_CALLERS) return;
    for (const other of this.#served.keys()) if (this.#usageOf(other) === 0) this.#served.delete(other);
  }

  /**
   * Positions as if all were served now: a caller's n-th waiter is sorted as if the caller had had n - 1 more turns.
   */
  #countPositions(): ReadonlyMap<string, number> {
    const order = [...this.#callers].flatMap(([caller, own]) => {
      const had = this.#usageOf(caller);
      return [...own.keys()].map((id, index) => ({ id, had: had + index }));
    });
    // The sort is stable, so among equals the caller whose last turn is longest ago stays first.
    order.sort((a, b) => a.had - b.had);
    return new Map(order.map(({ id }, index) => [id, index + 1]));
  }
}
