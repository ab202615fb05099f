import { setTimeout as pass } from 'node:timers/promises';
import { takeScreenshot, useScreenshotAs } from './screenshots.js';
import type { Tab } from './tab.js';

/** A step that has ended, and waits until it is known whether there is a picture of it. */
export interface Pictured {
  /** Null where no picture is wanted, or `file` is there already. */
  readonly tab: Tab | null;
  /** Its name in the screenshots folder; null where there can be none. */
  readonly file: string | null;
  /** How long its picture is tried for. */
  readonly captureMs: number;
  /** Called once, with the file where there is one. */
  tell(file: string | null): void;
}

/** Steps that may wait for the picture under way. */
const MAX_WAITING = 200;
/** A navigation cancels a picture, or leaves it without an answer: it is tried again, each time for twice as long. */
const FIRST_TRY_MS = 400;
const PAUSE_MS = 25;

interface Waiting extends Pictured {
  readonly since: number;
}

/**
 * Takes pictures beside the steps, one at a time, so that no step waits for one: a picture is of every step that ended
 * before it was begun and has none yet. In a flow that takes more than a few hundredths of a second for a step each has
 * its own; a faster one has the same picture at several steps. Steps are told in their order.
 */
export class StepPictures {
  readonly #dir: string;
  #waiting: Waiting[] = [];
  /** Steps that the picture under way is of. */
  #taken: readonly Waiting[] = [];
  #tryMs = FIRST_TRY_MS;
  /** Never rejects. */
  #work: Promise<void> | null = null;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** True where a step would wait too long for its picture; see {@link settle}. */
  get full(): boolean {
    return this.#waiting.length >= MAX_WAITING;
  }

  add(step: Pictured): void {
    this.#waiting.push({ ...step, since: performance.now() });
    this.#begin();
  }

  /** Settles when every step that was added has been told. */
  async settle(): Promise<void> {
    while (this.#work !== null) await this.#work;
  }

  /** Tells of every step that was added, at once and without its picture. */
  letGo(): void {
    const untold = [...this.#taken, ...this.#waiting];
    this.#taken = [];
    this.#waiting = [];
    for (const step of untold) step.tell(step.tab === null ? step.file : null);
  }

  #begin(): void {
    this.#work ??= this.#takeAll().finally(() => {
      this.#work = null;
      if (this.#waiting.length > 0) this.#begin();
    });
  }

  async #takeAll(): Promise<void> {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (first.tab === null) {
        this.#waiting.shift();
        first.tell(first.file);
        continue;
      }
      if (!(await this.#take(first.tab))) await pass(PAUSE_MS);
    }
  }

  /** A picture of the steps that led to the tab. False where it is to be tried again. */
  async #take(tab: Tab): Promise<boolean> {
    const other = this.#waiting.findIndex((step) => step.tab !== tab);
    const steps = other === -1 ? this.#waiting : this.#waiting.slice(0, other);
    this.#waiting = other === -1 ? [] : this.#waiting.slice(other);
    this.#taken = steps;
    const [last] = steps.slice(-1);
    const file = last?.file ?? null;
    const tryMs = Math.min(this.#tryMs, last?.captureMs ?? 0);
    const picture = file === null ? null : await takeScreenshot(tab, this.#dir, file, tryMs);
    this.#tryMs = picture === null ? this.#tryMs * 2 : FIRST_TRY_MS;
    const untold = this.#taken;
    this.#taken = [];
    if (picture === null && tab.state === 'open' && tab.dialog === null) {
      // What was tried long enough is told without, and all before it; the rest has another try.
      const now = performance.now();
      const given = untold.findLastIndex(({ since, captureMs }) => now - since >= captureMs) + 1;
      for (const step of untold.slice(0, given)) step.tell(null);
      this.#waiting = [...untold.slice(given), ...this.#waiting];
      return false;
    }
    for (const step of untold) {
      const same =
        picture !== null && step.file !== null && (await useScreenshotAs(this.#dir, picture.file, step.file));
      step.tell(same ? step.file : null);
    }
    return true;
  }
}
