import { settlesWithin, stretched } from '../../base/deadline.js';
import type { Bounds } from '../browser/bounds.js';
import type { Tab } from '../tabs/tab.js';
import type { Pictured } from './awaited-pictures.js';
import { MARKS, markOf, readMark, withoutMark } from './mark.js';
import type { CastFrame, Screencast } from './screencast.js';
import { keepScreenshot } from './screenshots.js';

/** Large enough to read what a page says, and a third of what the whole size costs. */
const WIDTH = 640;
const MAX_HEIGHT = 640;
/** A page that is not painted with its mark within this time has no picture from the screencast. */
const PAINT_MS = stretched(1_500);
/** The same for the frame, once it is painted. */
const ARRIVAL_MS = 500;
/** Frames of other processes are waited for this long at most, with what moves in them. */
const APART_MS = 100;
/** Documents that come one after another, before one is marked. */
const MAX_DOCUMENTS = 5;
/** After a frame that did not come, for so many steps it is not waited for. */
const BLIND_STEPS = 20;
/** The mark goes so long after a step, or with the next one: each paint costs. */
const MARK_MS = 150;
/** After so long without a step the browser draws for us no more. */
const LINGER_MS = 2_000;

/** Of a frame, as much as its mark is read from. */
const HEAD_CHARACTERS = 4_096;

/** A step whose page bears a mark. */
interface Marked {
  readonly step: Pictured;
  readonly mark: number;
  frame: CastFrame | null;
  wake(): void;
}

/**
 * Pictures of steps out of the screencast. After a step its page gets a mark in a corner, in one paint with what the step
 * did, and before the next step does anything the mark is taken away: so the frame that bears it shows the page as this
 * step left it, whenever it was drawn or comes. The mark is erased from the file.
 *
 * The next step begins when that frame is there, most often at the page's next paint. Where the mark cannot be seen the
 * step is given to `takeAwaited`.
 */
export class MarkedPictures {
  readonly #cast: Screencast;
  readonly #dir: string;
  readonly #takeAwaited: (step: Pictured) => Promise<void>;
  readonly #unlisten: () => void;
  #marked: Marked | null = null;
  #next = 0;
  #blind = 0;
  /** Until the next step may begin. Never rejects. */
  #painting: Promise<void> = Promise.resolve();
  /** Files under way, in their order. Never rejects. */
  #writing: Promise<void> = Promise.resolve();
  #last: { readonly pixels: string; readonly file: string } | null = null;
  #linger: NodeJS.Timeout | undefined;
  #fade: NodeJS.Timeout | undefined;

  /** @param takeAwaited takes a step's picture in another way, and tells the step */
  constructor(options: {
    readonly cast: Screencast;
    readonly dir: string;
    readonly takeAwaited: (step: Pictured) => Promise<void>;
  }) {
    this.#cast = options.cast;
    this.#dir = options.dir;
    this.#takeAwaited = options.takeAwaited;
    this.#unlisten = options.cast.listen((frame) => this.#observe(frame));
  }

  /** The step before is to be {@link ready}. */
  add(step: Pictured): void {
    clearTimeout(this.#linger);
    this.#painting = this.#paint(step);
  }

  /** Settles when the next step may do something to the page. Bounded. */
  async ready(): Promise<void> {
    await this.#painting;
    this.#unmark();
  }

  /** Every step that was added has been told when this settles. Bounded. */
  async settle(): Promise<void> {
    await this.ready();
    await this.#writing;
  }

  /** Nobody waits any more for the frame that a step waits for. */
  letGo(): void {
    const marked = this.#marked;
    this.#marked = null;
    marked?.step.tell(null);
    marked?.wake();
  }

  /** Idempotent. */
  close(): void {
    clearTimeout(this.#linger);
    clearTimeout(this.#fade);
    this.#unlisten();
    this.letGo();
    this.#cast.want('steps', null);
  }

  async #paint(step: Pictured): Promise<void> {
    const { tab } = step;
    // A frame of another origin is painted by a process of its own, whenever that comes to it.
    const isApart = tab.frames.apart.length > 0;
    if (isApart || this.#blind > 0 || tab.dialog !== null || tab.state !== 'open') {
      this.#blind = Math.max(0, this.#blind - 1);
      if (isApart) await framesPainted(tab);
      return this.#takeAwaited(step);
    }
    const size = { maxWidth: WIDTH, maxHeight: MAX_HEIGHT };
    this.#cast.want('steps', { page: tab.session, format: 'png', ...size });
    this.#linger = setTimeout(() => this.#rest(), LINGER_MS);
    let wake = (): void => undefined;
    const came = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const marked: Marked = { step, mark: this.#next, frame: null, wake };
    this.#next = (this.#next + 1) % MARKS;
    this.#marked = marked;
    const bounds = { deadline: performance.now() + PAINT_MS, signal: new AbortController().signal };
    const painting = this.#isPainted(marked, bounds);
    await Promise.race([came, painting]);
    const painted = marked.frame !== null || (await painting);
    if (painted && marked.frame === null) await settlesWithin(came, ARRIVAL_MS);
    // Whoever let go of it has told the step.
    if (this.#marked !== marked) return;
    if (marked.frame !== null) {
      this.#write(step, marked.frame);
      this.#fade = setTimeout(() => this.#unmark(), MARK_MS);
      return;
    }
    this.#blind = painted ? BLIND_STEPS : 0;
    this.#unmark();
    await this.#takeAwaited(step);
  }

  /** The page may be about to go elsewhere by itself: what it shows in the end is as the step has left it. */
  async #isPainted({ step: { tab }, mark }: Marked, bounds: Bounds): Promise<boolean> {
    for (let documents = 0; documents < MAX_DOCUMENTS; documents += 1) {
      const asked = await tab.ask('painted', markOf(mark), bounds).catch(() => null);
      if (asked?.kind === 'answer') return asked.value.marked;
      if (asked?.kind !== 'navigated') return false;
    }
    return false;
  }

  #unmark(): void {
    clearTimeout(this.#fade);
    const tab = this.#marked?.step.tab;
    this.#marked = null;
    if (tab?.state !== 'open') return;
    const bounds = { deadline: performance.now() + PAINT_MS, signal: new AbortController().signal };
    // It is on its way before whatever the next step asks of the page, and is carried out before that.
    tab.ask('unmark', null, bounds).catch(() => undefined);
  }

  #observe(frame: CastFrame): void {
    const marked = this.#marked;
    if (marked === null || marked.frame !== null || frame.format !== 'png') return;
    if (markIn(frame) !== marked.mark) return;
    marked.frame = frame;
    marked.wake();
  }

  #write({ file, tell }: Pictured, frame: CastFrame): void {
    const made = withoutMark(Buffer.from(frame.data, 'base64'), frame.width);
    this.#writing = Promise.all([made, this.#writing])
      .then(async ([{ png, pixels }]) => {
        // Nothing was painted since: the earlier picture shows this step's page too.
        if (this.#last?.pixels !== pixels) {
          await keepScreenshot(png, this.#dir, file);
          this.#last = { pixels, file };
        }
        tell(this.#last.file);
      })
      // A step is a step without its picture, too.
      .catch(() => tell(null));
  }

  #rest(): void {
    this.#unmark();
    this.#cast.want('steps', null);
  }
}

/** Waits until the frames of other processes have drawn what they have got: a screenshot does not wait for them. */
async function framesPainted({ frames }: Tab): Promise<void> {
  const bounds = { deadline: performance.now() + PAINT_MS, signal: new AbortController().signal };
  const settle = { ms: APART_MS, painted: true };
  await Promise.all(frames.apart.map((frame) => frames.ask(frame, 'settle', settle, bounds)));
}

function markIn({ data, width }: CastFrame): number | null {
  try {
    return readMark(Buffer.from(data.slice(0, HEAD_CHARACTERS), 'base64'), width);
  } catch {
    return null;
  }
}
