/** Random numbers of a seed (mulberry32). */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** From 0 to 1, exclusive. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  once(probability: number): boolean {
    return this.next() < probability;
  }
}

/** A schedule that plans work without end is a fault of the machine, too. */
const MOST = 100_000;

interface Planned {
  readonly atMs: number;
  readonly order: number;
  readonly work: () => void;
}

/** Runs planned work in the order of its time: a binary heap. */
export class VirtualTime {
  nowMs = 0;
  ran = 0;
  readonly #heap: Planned[] = [];
  #order = 0;

  after(ms: number, work: () => void): void {
    const heap = this.#heap;
    heap.push({ atMs: this.nowMs + Math.max(0, ms), order: this.#order++, work });
    let at = heap.length - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#before(at, parent)) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  /** Until the time has come, or `isOver` says so, or nothing is left. */
  run(untilMs: number, isOver: () => boolean): void {
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined || first.atMs > untilMs || isOver()) return;
      this.#removeFirst();
      this.nowMs = first.atMs;
      first.work();
      this.ran += 1;
      if (this.ran > MOST) throw new Error(`More than ${MOST} steps, at ${this.nowMs} ms`);
    }
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (heap.length === 0 || last === undefined) return;
    heap[0] = last;
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let least = at;
      if (left < heap.length && this.#before(left, least)) least = left;
      if (right < heap.length && this.#before(right, least)) least = right;
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #before(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return false;
    return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
  }

  #swap(one: number, other: number): void {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return;
    this.#heap[one] = b;
    this.#heap[other] = a;
  }
}
