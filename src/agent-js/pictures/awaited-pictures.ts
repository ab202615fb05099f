import { setTimeout as pass } from 'node:timers/promises';
import type { ElementBox } from '../../protocol/element-box.js';
import { isProblem } from '../tabs/page-calls.js';
import type { Tab } from '../tabs/tab.js';
import { captureScreenshot, keepScreenshot } from './screenshots.js';

/** A step that has ended, and waits until it is known whether there is a picture of it. */
export interface Pictured {
  readonly index: number;
  readonly tab: Tab;
  /** Its name in the screenshots folder. */
  readonly file: string;
  /** How long its picture is tried for, in milliseconds. */
  readonly captureMs: number;
  /** The element that the step failed on; its place is noted when the picture is taken. */
  readonly locator?: string | undefined;
  /** Called once, with the name of its picture, null where there is none, and where the element is in it. */
  tell(file: string | null, box?: ElementBox): void;
}

/** A navigation cancels a screenshot, or leaves it without an answer: it is tried again, each time for twice as long. */
const FIRST_TRY_MS = 400;
const PAUSE_MS = 25;
/** A page that does not say by then where an element is has a picture without a mark. */
const BOX_MS = 500;

/**
 * Screenshots of steps, of the whole size and one at a time. A picture is its step's only if no later step has touched a
 * page by then: whoever wants it for sure begins the next step after {@link settle}.
 */
export class AwaitedPictures {
  readonly #dir: string;
  readonly #newestSeen: () => number;
  #waiting: Pictured[] = [];
  /** Never rejects. */
  #work: Promise<void> | null = null;

  /** @param newestSeen the newest step that may have done something to a page by now */
  constructor(dir: string, newestSeen: () => number) {
    this.#dir = dir;
    this.#newestSeen = newestSeen;
  }

  add(step: Pictured): void {
    this.#waiting.push(step);
    this.#work ??= this.#takeAll().finally(() => {
      this.#work = null;
    });
  }

  /** Settles when every step that was added has been told. */
  async settle(): Promise<void> {
    while (this.#work !== null) await this.#work;
  }

  /** Tells every step that was added, at once and without its picture. */
  letGo(): void {
    for (const { tell } of this.#waiting.splice(0)) tell(null);
  }

  async #takeAll(): Promise<void> {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const file = await this.#take(first);
      const box = file === null ? undefined : await boxOf(first);
      if (this.#waiting[0] === first) {
        this.#waiting.shift();
        first.tell(file, box);
      }
    }
  }

  async #take({ index, tab, file, captureMs }: Pictured): Promise<string | null> {
    const end = performance.now() + captureMs;
    for (let tryMs = FIRST_TRY_MS; ; tryMs *= 2) {
      if (this.#newestSeen() > index) return null;
      const png = await captureScreenshot(tab, Math.min(tryMs, captureMs));
      if (this.#newestSeen() > index) return null;
      // A step is a step without its picture, too.
      if (png !== null) {
        const kept = await keepScreenshot(png, this.#dir, file).catch(() => null);
        return kept === null ? null : file;
      }
      if (tab.state !== 'open' || tab.dialog !== null || performance.now() >= end) return null;
      await pass(PAUSE_MS);
    }
  }
}

/** Undefined if the element cannot be found, or the page does not answer. Never rejects. */
async function boxOf({ tab, locator }: Pictured): Promise<ElementBox | undefined> {
  if (locator === undefined || tab.state !== 'open' || tab.dialog !== null) return undefined;
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), BOX_MS);
  try {
    const box = await tab.askAny('spot', { locator }, { deadline: performance.now() + BOX_MS, signal: stop.signal });
    return isProblem(box) || !(box.width > 0 && box.height > 0) ? undefined : box;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
