import { pageChanges } from './changes.js';

/** Elements that are followed at once. */
const MAX_ELEMENTS = 200;
/** A script that animates writes a style at least this often, in milliseconds. */
const PAUSE_MS = 100;
/** What goes on for longer than this does not end. */
const ENDLESS_MS = 1_000;

interface Run {
  since: number;
  last: number;
}

/**
 * Elements whose `style` attribute is being written: scripts that animate write it frame by frame, and the browser knows
 * of no animation.
 */
class StyleWrites {
  readonly #runs = new Map<Element, Run>();
  readonly #fresh = new Set<Element>();
  /** What was written when something was last. */
  #latest: readonly Element[] = [];
  #restless = new WeakSet<Element>();
  #follows = false;

  /** An action begins. What has been written for long by now does not end, and is not counted from here on. */
  begin(): void {
    this.#follow();
    const now = performance.now();
    for (const [element, { since, last }] of this.#runs) {
      if (now - last < PAUSE_MS && now - since > ENDLESS_MS) this.#restless.add(element);
    }
    this.#runs.clear();
    this.#fresh.clear();
    this.#latest = [];
  }

  /** Whether any style was written since the last call. */
  take(): boolean {
    // Lets the observer tell what it has.
    void pageChanges.mutations;
    if (this.#fresh.size === 0) return false;
    this.#latest = [...this.#fresh];
    this.#fresh.clear();
    return true;
  }

  /** What was written last does not end: it is not waited for again. */
  giveUp(): void {
    for (const element of this.#latest) this.#restless.add(element);
  }

  #follow(): void {
    if (this.#follows) return;
    this.#follows = true;
    pageChanges.onMutation((records) => {
      const now = performance.now();
      for (const { attributeName, target } of records)
        if (attributeName === 'style') this.#note(target as Element, now);
    });
  }

  #note(element: Element, now: number): void {
    const run = this.#runs.get(element);
    if (run !== undefined) {
      if (now - run.last > PAUSE_MS) run.since = now;
      run.last = now;
    } else if (this.#runs.size < MAX_ELEMENTS) {
      this.#runs.set(element, { since: now, last: now });
    }
    if (!this.#restless.has(element)) this.#fresh.add(element);
  }
}

/** Those of this world's documents. */
export const styleWrites = new StyleWrites();
