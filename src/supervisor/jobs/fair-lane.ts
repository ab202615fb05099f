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
  readonly #callers = new Map<string, CallersWaiters<W>>();
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

  /** @param group of waiters that may all enter or none; see {@link next} */
  add(caller: string, id: string, waiter: W, group = ''): void {
    const own = this.#callers.get(caller) ?? new CallersWaiters<W>();
    own.add(id, waiter, group);
    this.#callers.set(caller, own);
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
   * @param groupMayEnter waiters of groups for which this is false are skipped; asked in the order of serving, once for
   * each group of a caller
   */
  next(mayEnter: (caller: string) => boolean, groupMayEnter: (group: string) => boolean = () => true): W | undefined {
    const callers = [...this.#callers].map(([caller, own]) => ({ caller, own, usage: this.#usageOf(caller) }));
    // The sort is stable, so among equals the caller whose last turn is longest ago stays first.
    for (const { caller, own, usage } of callers.sort((a, b) => a.usage - b.usage)) {
      const head = mayEnter(caller) ? own.heads().find(({ group }) => groupMayEnter(group)) : undefined;
      if (head === undefined) continue;
      this.#serve(caller, usage);
      this.#drop(caller, head.id);
      if (own.size > 0) {
        this.#callers.delete(caller);
        this.#callers.set(caller, own);
      }
      return head.waiter;
    }
    return undefined;
  }

  /** 1 for the next waiter, null for one that does not wait here. */
  position(id: string): number | null {
    this.#positions ??= this.#countPositions();
    return this.#positions.get(id) ?? null;
  }

  waiters(): readonly W[] {
    return [...this.#callers.values()].flatMap((own) => own.all().map(({ waiter }) => waiter));
  }

  #drop(caller: string, id: string): void {
    const own = this.#callers.get(caller);
    own?.remove(id);
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
      return own.all().map(({ id }, index) => ({ id, had: had + index }));
    });
    // The sort is stable, so among equals the caller whose last turn is longest ago stays first.
    order.sort((a, b) => a.had - b.had);
    return new Map(order.map(({ id }, index) => [id, index + 1]));
  }
}

/** One who waits, with the number of its coming. */
interface Numbered<W> {
  readonly id: string;
  readonly waiter: W;
  readonly number: number;
}

/** The waiters of one caller, in the order of their coming, by groups: a group that may not enter costs one look. */
class CallersWaiters<W> {
  readonly #groups = new Map<string, Map<string, Numbered<W>>>();
  readonly #groupOf = new Map<string, string>();
  #last = 0;

  get size(): number {
    return this.#groupOf.size;
  }

  add(id: string, waiter: W, group: string): void {
    this.remove(id);
    const members = this.#groups.get(group) ?? new Map<string, Numbered<W>>();
    this.#last += 1;
    this.#groups.set(group, members.set(id, { id, waiter, number: this.#last }));
    this.#groupOf.set(id, group);
  }

  remove(id: string): void {
    const group = this.#groupOf.get(id);
    if (group === undefined) return;
    this.#groupOf.delete(id);
    const members = this.#groups.get(group);
    members?.delete(id);
    if (members?.size === 0) this.#groups.delete(group);
  }

  /** The first of each group, the oldest first. */
  heads(): readonly (Numbered<W> & { readonly group: string })[] {
    const heads = [...this.#groups].flatMap(([group, members]) => {
      const head = members.values().next();
      return head.done === true ? [] : [{ ...head.value, group }];
    });
    return heads.sort((a, b) => a.number - b.number);
  }

  all(): readonly Numbered<W>[] {
    const groups = [...this.#groups.values()].map((members) => [...members.values()]);
    const [only = []] = groups;
    return groups.length <= 1 ? only : groups.flat().sort((a, b) => a.number - b.number);
  }
}
