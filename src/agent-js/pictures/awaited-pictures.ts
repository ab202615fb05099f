import { setTimeout as pass } from 'node:timers/promises';
import { stretched } from '../../base/deadline.js';
import type { ElementBox } from '../../protocol/report/element-box.js';
import { isProblem } from '../tabs/page-calls.js';
import type { Tab } from '../tabs/tab.js';
import { captureScreenshot, keepScreenshot } from './screenshots.js';

/** What is known of a step's picture. */
export interface AboutPicture {
  /** Where the element that the step failed on is in it. */
  readonly box?: ElementBox | undefined;
  /** Why there is none, as the end of a sentence. */
  readonly why?: string;
}

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
  /** Called once, with the name of its picture, or null if there is none. */
  tell(file: string | null, about?: AboutPicture): void;
}

/** A navigation cancels a screenshot, or leaves it without an answer: it is tried again, each time for twice as long. */
const FIRST_TRY_MS = 400;
const PAUSE_MS = 25;
/** A page that does not say by then where an element is has a picture without a mark. */
const BOX_MS = stretched(500);
/** Why there is no picture. */
export const DIALOG_OPEN = 'a dialog is open, and a page with a dialog cannot be drawn';
const NEXT_BEGAN = 'the next step had begun';

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
    for (const { tell } of this.#waiting.splice(0)) tell(null, { why: 'the session ended first' });
  }

  async #takeAll(): Promise<void> {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const taken = await this.#take(first);
      const box = 'file' in taken ? await boxOf(first) : undefined;
      if (this.#waiting[0] === first) {
        this.#waiting.shift();
        if ('file' in taken) first.tell(taken.file, { box });
        else first.tell(null, { why: taken.why });
      }
    }
  }

  async #take({
    index,
    tab,
    file,
    captureMs,
  }: Pictured): Promise<{ readonly file: string } | { readonly why: string }> {
    const end = performance.now() + captureMs;
    for (let tryMs = FIRST_TRY_MS; ; tryMs *= 2) {
      if (this.#newestSeen() > index) return { why: NEXT_BEGAN };
      const png = await captureScreenshot(tab, Math.min(tryMs, captureMs));
      if (this.#newestSeen() > index) return { why: NEXT_BEGAN };
      // A step is a step without its picture, too.
      if (png !== null) {
        const kept = await keepScreenshot(png, this.#dir, file).catch(() => null);
        return kept === null ? { why: 'it could not be written' } : { file };
      }
      if (tab.state !== 'open') return { why: `the tab ${tab.state === 'crashed' ? 'has crashed' : 'was closed'}` };
      if (tab.dialog !== null) return { why: DIALOG_OPEN };
      if (performance.now() >= end) return { why: `the page drew nothing within ${captureMs} ms` };
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
