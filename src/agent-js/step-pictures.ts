import { setTimeout as pass } from 'node:timers/promises';
import { captureScreenshot, keepScreenshot, useScreenshotAs } from './screenshots.js';
import type { Tab } from './tabs/tab.js';

/** A step that has ended, and waits until it is known whether there is a picture of it. */
export interface Pictured {
  readonly index: number;
  /** Null where no picture is wanted, or `file` is there already. */
  readonly tab: Tab | null;
  /** Its name in the screenshots folder; null where there can be none. */
  readonly file: string | null;
  /** How long its picture is tried for. */
  readonly captureMs: number;
  /** Called once, with its picture where there is one. */
  tell(picture: StepPicture | null): void;
}

export interface StepPicture {
  readonly file: string;
  /** The newest step of which something may be seen on it. */
  readonly shows: number;
}

/** Steps that may wait for the picture under way. */
const MAX_WAITING = 200;
/** A navigation cancels a picture, or leaves it without an answer: it is tried again, each time for twice as long. */
const FIRST_TRY_MS = 400;
const PAUSE_MS = 25;
/**
 * A picture that came too late for its step says that steps end faster than pictures are taken. The next one then waits
 * for so many times as long as that one took, so that the flow has the browser to itself meanwhile.
 */
const REST_TIMES = 3;
/** What a picture takes, before one was taken. */
const USUAL_MS = 50;

interface Waiting extends Pictured {
  readonly since: number;
}

/**
 * Takes pictures beside the steps, one at a time, so that no step waits for one: a picture is of every step that ended
 * before it was begun and has none yet, and says of which step it may show something. That is its own where the next came
 * late enough; in fast flows several steps have the same picture, which is of none of them, and pictures are fewer. Steps
 * are told in their order.
 */
export class StepPictures {
  readonly #dir: string;
  readonly #newestSeen: () => number;
  #waiting: Waiting[] = [];
  /** Steps that the picture under way is of. */
  #taken: readonly Waiting[] = [];
  #tryMs = FIRST_TRY_MS;
  /** How long the last picture took. */
  #lastMs = USUAL_MS;
  /** The newest picture shows a later step than its own. */
  #late = false;
  /** How many wait for every step to be told: then there is no rest. */
  #settling = 0;
  #endRest: () => void = () => undefined;
  /** Never rejects. */
  #work: Promise<void> | null = null;

  /** @param newestSeen the newest step that may have done something to a page by now */
  constructor(dir: string, newestSeen: () => number) {
    this.#dir = dir;
    this.#newestSeen = newestSeen;
  }

  /** True where a step would wait too long for its picture; see {@link settle}. */
  get full(): boolean {
    return this.#waiting.length >= MAX_WAITING;
  }

  /** How long it probably takes until every step that was added has its picture. */
  get expectedMs(): number {
    return this.#lastMs * (Number(this.#taken.length > 0) + Number(this.#waiting.length > 0));
  }

  add(step: Pictured): void {
    this.#waiting.push({ ...step, since: performance.now() });
    this.#begin();
  }

  /** Settles when every step that was added has been told. */
  async settle(): Promise<void> {
    this.#settling += 1;
    this.#endRest();
    while (this.#work !== null) await this.#work;
    this.#settling -= 1;
  }

  /** Tells of every step that was added, at once and without its picture. */
  letGo(): void {
    const untold = [...this.#taken, ...this.#waiting];
    this.#taken = [];
    this.#waiting = [];
    for (const step of untold) tellWithout(step);
    this.#endRest();
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
        tellWithout(first);
        continue;
      }
      if (!(await this.#take(first.tab))) await pass(PAUSE_MS);
      else if (this.#late && this.#settling === 0) await this.#rest(REST_TIMES * this.#lastMs);
    }
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#endRest = () => {
        clearTimeout(timer);
        resolve();
      };
    });
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
    const from = performance.now();
    const png = file === null ? null : await captureScreenshot(tab, tryMs);
    const shows = this.#newestSeen();
    if (png !== null) this.#lastMs = performance.now() - from;
    // A step is a step without its picture, too.
    const kept = png === null || file === null ? null : keepScreenshot(png, this.#dir, file).catch(() => null);
    const picture = await kept;
    this.#tryMs = picture === null ? this.#tryMs * 2 : FIRST_TRY_MS;
    this.#late = last !== undefined && shows > last.index;
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
      step.tell(same ? { file: step.file, shows } : null);
    }
    return true;
  }
}

/** Of a step whose picture is not to be taken: it has made it itself, or has none. */
function tellWithout({ tab, file, index, tell }: Pictured): void {
  tell(tab === null && file !== null ? { file, shows: index } : null);
}
