import { setTimeout as pass } from 'node:timers/promises';
import { stretched } from '../../base/deadline.js';
import { isProblem } from '../../page/page-calls.js';
import type { ElementBox } from '../../protocol/report/element-box.js';
import type { Tab } from '../tabs/tab.js';
import { captureScreenshot, keepScreenshot } from './screenshots.js';
import type { SmallScreenshots } from './small-screenshots.js';

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
  /** Half the page's size is enough. */
  readonly small: boolean;
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
/** Frames of other processes are waited for this long at most, with what moves in them. */
const APART_MS = 100;
const APART_ANSWER_MS = stretched(1_500);
/** Why there is no picture. */
export const DIALOG_OPEN = 'a dialog is open, and a page with an open dialog cannot be drawn';
const NEXT_BEGAN = 'the next step had begun';

/**
 * Screenshots of steps, one at a time. A picture is its step's only if no later step has touched a page by then: whoever
 * wants it for sure begins the next step after {@link taken}.
 */
export class AwaitedPictures {
  readonly #dir: string;
  readonly #smaller: SmallScreenshots;
  readonly #newestSeen: () => number;
  /** Steps whose picture is to be taken. */
  readonly #waiting: Pictured[] = [];
  /** Steps that have not been told. */
  readonly #untold = new Set<Pictured>();
  /** Until all are taken. Never rejects. */
  #taking: Promise<void> | null = null;
  /** Files under way, in their order. Never rejects. */
  #writing: Promise<void> = Promise.resolve();
  #last: { readonly png: Buffer; readonly file: string } | null = null;

  /** @param newestSeen the newest step that may have done something to a page by now */
  constructor(dir: string, smaller: SmallScreenshots, newestSeen: () => number) {
    this.#dir = dir;
    this.#smaller = smaller;
    this.#newestSeen = newestSeen;
  }

  add(step: Pictured): void {
    this.#untold.add(step);
    this.#waiting.push(step);
    this.#taking ??= this.#takeAll().finally(() => {
      this.#taking = null;
    });
  }

  /** Settles when no picture is being taken: what is done to a page from now on is on none of them. */
  async taken(): Promise<void> {
    while (this.#taking !== null) await this.#taking;
  }

  /** Settles when every step that was added has been told. */
  async settle(): Promise<void> {
    await this.taken();
    await this.#writing;
  }

  /** Tells every step that was added, at once and without its picture. */
  letGo(): void {
    this.#waiting.length = 0;
    for (const step of this.#untold) this.#tell(step, null, { why: 'the session ended first' });
  }

  #tell(step: Pictured, file: string | null, about?: AboutPicture): void {
    if (this.#untold.delete(step)) step.tell(file, about);
  }

  async #takeAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const step = next;
      const taken = await this.#take(step);
      if ('why' in taken) {
        this.#tell(step, null, taken);
        continue;
      }
      const box = await boxOf(step);
      this.#writing = this.#writing.then(() => this.#write(step, taken.png, box));
    }
  }

  async #take(step: Pictured): Promise<{ readonly png: Buffer } | { readonly why: string }> {
    const { index, tab, small, captureMs } = step;
    const end = performance.now() + captureMs;
    if (tab.frames.apart.length > 0) await framesPainted(tab);
    for (let tryMs = FIRST_TRY_MS; ; tryMs *= 2) {
      if (this.#newestSeen() > index || !this.#untold.has(step)) return { why: NEXT_BEGAN };
      const timeoutMs = Math.min(tryMs, captureMs);
      const png = small ? await this.#smaller.capture(tab, timeoutMs) : await captureScreenshot(tab, timeoutMs);
      if (this.#newestSeen() > index) return { why: NEXT_BEGAN };
      if (png !== null) return { png };
      if (tab.state !== 'open') return { why: `the tab ${tab.state === 'crashed' ? 'has crashed' : 'was closed'}` };
      if (tab.dialog !== null) return { why: DIALOG_OPEN };
      if (performance.now() >= end) return { why: `the page drew nothing within ${captureMs} ms` };
      await pass(PAUSE_MS);
    }
  }

  async #write(step: Pictured, png: Buffer, box: ElementBox | undefined): Promise<void> {
    try {
      // A page that has not changed since is there already.
      const isKnown = step.small && this.#last?.png.equals(png) === true;
      if (!isKnown) await keepScreenshot(png, this.#dir, step.file);
      this.#last = { png, file: isKnown && this.#last !== null ? this.#last.file : step.file };
      this.#tell(step, this.#last.file, { box });
    } catch {
      // A step is a step without its picture, too.
      this.#tell(step, null, { why: 'it could not be written' });
    }
  }
}

/** Waits until the frames of other processes have drawn what they have got: a screenshot does not wait for them. */
async function framesPainted({ frames }: Tab): Promise<void> {
  const bounds = { deadline: performance.now() + APART_ANSWER_MS, signal: new AbortController().signal };
  const settle = { ms: APART_MS, painted: true };
  await Promise.allSettled(frames.apart.map((frame) => frames.ask(frame, 'settle', settle, bounds)));
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
