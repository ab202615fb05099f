import { setTimeout as pass } from 'node:timers/promises';
import type { Bounds } from '../browser/bounds.js';
import type { Tab } from '../tabs/tab.js';
import type { Pictured } from './awaited-pictures.js';
import { MARKS, markOf, readMark, withoutMark } from './mark.js';
import type { CastFrame, Screencast } from './screencast.js';
import { keepScreenshot } from './screenshots.js';

/** Large enough to read what a page says, and a third of what the whole size costs. */
const WIDTH = 640;
const MAX_HEIGHT = 640;
/** A page that is not painted within this time has no picture from the screencast. */
const PAINT_MS = 1_500;
/** How long the next step waits for the frame itself, where it is not known to come by itself. */
const ARRIVAL_MS = 1_000;
/** How long a frame may be on its way when the flow has ended, or later ones are there. */
const LATE_MS = 250;
/** Documents that come one after another, before one is marked. */
const MAX_DOCUMENTS = 5;
/** After a frame was lost, so many steps wait until theirs is there. */
const WARY_STEPS = 40;
/** After so long without a step the browser draws for us no more. */
const LINGER_MS = 2_000;

/** A step whose page bears a mark, or did. */
interface Marked {
  readonly step: Pictured;
  readonly mark: number;
  frame: CastFrame | null;
  /** Called with its frame, or when there will be none. */
  readonly wake: Set<() => void>;
}

/**
 * Pictures of steps out of the screencast. After a step its page gets a mark in a corner, in one paint with what the step
 * did, and before the next step does anything the mark is gone: so the frame that bears it shows the page as this step
 * left it, whenever it was drawn or comes. The mark is erased from the file.
 *
 * A step is followed when its page is painted, which takes 9 ms on average, the half of a tick; its frame comes later.
 */
export class MarkedPictures {
  readonly #cast: Screencast;
  readonly #dir: string;
  readonly #takeAwaited: (step: Pictured) => Promise<void>;
  readonly #unlisten: () => void;
  #marked: Marked[] = [];
  #next = 0;
  #wary = 0;
  /** The tab that bears a mark. */
  #bearing: Tab | null = null;
  /** Until the next step may begin. Never rejects. */
  #painting: Promise<void> = Promise.resolve();
  /** Files under way, in their order. Never rejects. */
  #writing: Promise<void> = Promise.resolve();
  #last: { readonly pixels: string; readonly file: string } | null = null;
  #linger: NodeJS.Timeout | undefined;
  #closed = false;

  /** @param takeAwaited takes a step's picture in another way, and tells the step */
  constructor(options: {
    readonly cast: Screencast;
    readonly dir: string;
    readonly takeAwaited: (step: Pictured) => Promise<void>;
  }) {
    this.#cast = options.cast;
    this.#dir = options.dir;
    this.#takeAwaited = options.takeAwaited;
    this.#unlisten = options.cast.listen((frame) => this.#seen(frame));
  }

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
    const last = this.#marked.at(-1);
    if (last !== undefined) await this.#arrival(last, LATE_MS);
    for (const one of this.#marked.splice(0)) this.#lose(one);
    await this.#writing;
  }

  /** Tells every step that was added, at once and without its picture. */
  letGo(): void {
    for (const one of this.#marked.splice(0)) this.#lose(one);
  }

  /** Idempotent. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#linger);
    this.#unlisten();
    this.letGo();
    this.#cast.want('steps', null);
  }

  async #paint(step: Pictured): Promise<void> {
    const { tab } = step;
    // A frame of another origin is painted by a process of its own, whenever that comes to it.
    if (tab.frames.apart.length > 0 || tab.dialog !== null || tab.state !== 'open') return this.#takeAwaited(step);
    const begins = this.#cast.want('steps', {
      page: tab.session,
      format: 'png',
      maxWidth: WIDTH,
      maxHeight: MAX_HEIGHT,
    });
    this.#linger = setTimeout(() => this.#rest(), LINGER_MS);
    const one: Marked = { step, mark: this.#next, frame: null, wake: new Set() };
    this.#next = (this.#next + 1) % MARKS;
    this.#marked.push(one);
    const bounds = { deadline: performance.now() + PAINT_MS, signal: new AbortController().signal };
    this.#bearing = tab;
    const painted = await this.#isPainted(one, bounds);
    if (painted && !begins && this.#wary === 0) return;
    this.#wary = Math.max(0, this.#wary - 1);
    if (painted && (one.frame !== null || (await this.#arrival(one, ARRIVAL_MS)))) return;
    if (!this.#marked.includes(one)) return;
    this.#marked = this.#marked.filter((other) => other !== one);
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
    const tab = this.#bearing;
    this.#bearing = null;
    if (tab === null || tab.state !== 'open') return;
    const bounds = { deadline: performance.now() + PAINT_MS, signal: new AbortController().signal };
    // It is on its way before whatever the next step asks of the page, and is carried out before that.
    tab.ask('unmark', null, bounds).catch(() => undefined);
  }

  #seen(frame: CastFrame): void {
    if (frame.format !== 'png' || this.#marked.length === 0) return;
    const mark = markIn(frame);
    const at = mark === null ? -1 : this.#marked.findIndex((one) => one.mark === mark);
    const one = this.#marked[at];
    if (one === undefined || one.frame !== null) return;
    one.frame = frame;
    if (at === this.#marked.length - 1) this.#unmark();
    for (const wake of one.wake) wake();
    this.#keep();
  }

  /** Writes what has come, in the order of the steps. */
  #keep(): void {
    while (this.#marked[0]?.frame != null) {
      const one = this.#marked.shift();
      if (one?.frame != null) this.#write(one.step, one.frame);
    }
    const [missing] = this.#marked;
    if (missing === undefined || !this.#marked.some(({ frame }) => frame !== null)) return;
    // Two frames may overtake one another while they are encoded.
    void this.#arrival(missing, LATE_MS).then((arrived) => {
      if (arrived || this.#marked[0] !== missing) return;
      this.#marked.shift();
      this.#lose(missing);
      this.#keep();
    });
  }

  #lose(one: Marked): void {
    for (const wake of one.wake) wake();
    if (one.frame !== null) {
      this.#write(one.step, one.frame);
      return;
    }
    this.#wary = WARY_STEPS;
    this.#writing = this.#writing.then(() => one.step.tell(null));
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
    made.catch(() => undefined);
  }

  /** False where the frame has not come in time. */
  async #arrival(one: Marked, ms: number): Promise<boolean> {
    if (one.frame !== null) return true;
    const cut = new AbortController();
    const came = new Promise<void>((resolve) => one.wake.add(resolve));
    await Promise.race([came, pass(ms, undefined, { signal: cut.signal, ref: false }).catch(() => undefined)]);
    cut.abort();
    return one.frame !== null;
  }

  #rest(): void {
    this.#unmark();
    if (!this.#closed) this.#cast.want('steps', null);
  }
}

function markIn({ data, width }: CastFrame): number | null {
  try {
    return readMark(Buffer.from(data, 'base64'), width);
  } catch {
    return null;
  }
}
