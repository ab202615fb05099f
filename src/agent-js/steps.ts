import { encodeError } from '../protocol/errors.js';
import type { SessionEvent, Step } from '../protocol/events.js';
import type { CallSite } from '../script/host-module.js';
import { callSlug, callSource } from './call-source.js';
import type { Place } from './locating/problem-error.js';
import { pendingTimers } from './pending-timers.js';
import { type AboutPicture, AwaitedPictures, DIALOG_OPEN, type Pictured } from './pictures/awaited-pictures.js';
import { MarkedPictures } from './pictures/marked-pictures.js';
import type { Screencast } from './pictures/screencast.js';
import { CAPTURE_MS, replaceScreenshot } from './pictures/screenshots.js';
import type { StepOrder } from './step-order.js';
import type { PendingTimer } from './tabs/page-calls.js';
import type { Tab } from './tabs/tab.js';

/** A browser left alone for this long after a step is idle: a picture then costs nobody time. */
const IDLE_MS = 150;
/** A page that has just not answered probably hangs; nobody is to wait for its picture. */
const HUNG_CAPTURE_MS = 200;
/**
 * When steps are pictured: `every` step of a job, by the screencast; those of a live session where the browser is idle
 * after them and time is to `spare`; each by a screenshot that the next step waits for, which is `exact`; or never, `off`.
 * A failing step is pictured by a screenshot, except with `off`.
 */
export type StepScreenshotPolicy = 'every' | 'spare' | 'exact' | 'off';

/** What another library does to the page, as a step. */
export interface OtherCall {
  readonly method: string;
  /** The call's source text, asked for at the end. */
  readonly source: () => string;
  /** Names the picture's file. */
  readonly slug: () => string;
  /** What the transcript shows of a result. */
  readonly shownResult: (result: unknown) => unknown;
}

/** A step's call. */
export interface StepCall {
  readonly method: string;
  /** Arguments as the transcript may show them. Asked at the end: only then is it known what is a password. */
  shownArgs(): readonly unknown[];
  /** The call as source text, if it is not made of method and arguments. */
  readonly source?: () => string;
  /** What the transcript shows of a result; all of it where absent. */
  readonly shownResult?: (result: unknown) => unknown;
  /** Whether something of what it does may be seen by now. */
  touched(): boolean;
  /** The tab that the step has led to. */
  tab(): Tab | undefined;
  /** `own`: the call itself writes the step's picture. */
  readonly picture: 'after' | 'own';
}

/** A step whose picture waits for the browser to be idle. Few get theirs, so that only they get a file name. */
interface Waiting {
  readonly step: Omit<Pictured, 'file'>;
  readonly file: () => string;
  readonly timer: NodeJS.Timeout;
}

/** When a step began: ISO 8601, and on the clock of `performance.now()`. */
export interface Began {
  readonly at: string;
  readonly from: number;
}

type Outcome = { readonly result: unknown } | { readonly error: ReturnType<typeof encodeError> };

/**
 * Records steps and their pictures. A step is reported once it is known whether there is a picture of it, and steps
 * are reported in their order. A picture shows the page as its step left it, or the step has none.
 */
export class Steps {
  readonly #order: StepOrder;
  /** Names the browser in its steps; the first one has no name. */
  readonly #named: (event: SessionEvent) => SessionEvent;
  readonly #dir: string;
  readonly #awaited: AwaitedPictures;
  readonly #marked: MarkedPictures;
  readonly #policy: StepScreenshotPolicy;
  /** The number of the newest step of this browser. */
  #index: number;
  /** Steps under way. */
  readonly #running = new Map<number, StepCall>();
  /** Steps since the last one that may have changed the page, and those of other browsers in between. */
  readonly #readOnly = new Set<number>();
  #waiting: Waiting | undefined;
  #lastFailed = false;
  /** The newest step, where its picture is one of the screencast. */
  #small: Pictured | null = null;

  constructor(options: {
    readonly order: StepOrder;
    readonly named: (event: SessionEvent) => SessionEvent;
    readonly dir: string;
    readonly cast: Screencast;
    readonly policy: StepScreenshotPolicy;
  }) {
    this.#order = options.order;
    this.#named = options.named;
    this.#dir = options.dir;
    this.#awaited = new AwaitedPictures(options.dir, () => this.#newestSeen());
    this.#marked = new MarkedPictures({
      cast: options.cast,
      dir: options.dir,
      takeAwaited: async (step) => {
        if (this.#small?.index === step.index) this.#small = null;
        this.#awaited.add(step);
        await this.#awaited.settle();
      },
    });
    this.#policy = options.policy;
    this.#index = this.#order.index;
    this.#order.join(this);
  }

  /** Settles when what is done to the page from now on is not seen on the picture of the step before. Bounded. */
  async ready(): Promise<void> {
    if (this.#lastFailed || this.#policy === 'exact') await this.#awaited.settle();
    if (this.#policy === 'every') await this.#marked.ready();
  }

  /**
   * Runs a step. The picture of one before that waits for an idle browser is let go.
   *
   * @param body is given what names the file of the step's picture
   */
  async run<T extends object>(call: StepCall, site: CallSite, body: (file: () => string) => Promise<T>): Promise<T> {
    const before = this.#takeWaiting();
    await this.ready();
    this.#small = null;
    this.#readOnly.clear();
    const index = this.#nextIndex();
    this.#running.set(index, call);
    const file = fileOf(index, call);
    const began = { at: new Date().toISOString(), from: performance.now() };
    const end = (outcome: Outcome, place: Partial<Place>): void => {
      this.#running.delete(index);
      this.#end(call, call.tab(), file, stepOf(index, call, site, began, outcome, place));
    };
    try {
      const working = body(file);
      // What it asks the browser for is on its way; meanwhile there is time for the step before.
      this.#pass(before);
      const result = await working;
      end({ result: call.shownResult === undefined ? result : call.shownResult(result) }, result);
      return result;
    } catch (error) {
      end({ error: encodeError(error) }, {});
      throw error;
    }
  }

  /**
   * Runs a step that only reads the page. If it passes without waiting it has no picture: the page is as the step before
   * left it, and whose picture may still be taken. Otherwise it has one, as other steps do.
   *
   * @param began when the step began, which may be before this call
   */
  async check<T extends object>(
    call: StepCall,
    site: CallSite,
    began: Began,
    body: () => Promise<{ readonly result: T; readonly waited: boolean }>,
  ): Promise<T> {
    const index = this.#nextIndex();
    this.#running.set(index, call);
    this.#readOnly.add(index);
    const file = fileOf(index, call);
    const end = async (outcome: Outcome, pictured: boolean): Promise<void> => {
      const step = stepOf(index, call, site, began, outcome, {});
      if (pictured) {
        this.#pass(this.#takeWaiting());
        await this.ready();
        this.#small = null;
      }
      this.#running.delete(index);
      if (pictured) this.#end(call, call.tab(), file, step);
      else {
        this.#order.add(this.#named({ type: 'StepFinished', data: { ...step, screenshot: null } }));
        this.#order.emitEnded();
      }
    };
    try {
      const { result, waited } = await body();
      await end({ result }, waited);
      return result;
    } catch (error) {
      await end({ error: encodeError(error) }, true);
      throw error;
    }
  }

  /**
   * Every step that has ended, of all browsers of the session, has been told when this settles; the last one's picture has
   * the whole size then.
   */
  settle(): Promise<void> {
    return this.#order.settle();
  }

  /** Tells of every step that has ended at once, without the picture that it waits for. */
  flush(): void {
    this.#order.flush();
  }

  async settleOwn(): Promise<void> {
    this.#pass(this.#takeWaiting());
    await this.#marked.settle();
    await this.#awaited.settle();
    const last = this.#small;
    this.#small = null;
    if (last !== null) await replaceScreenshot(last.tab, this.#dir, last.file, () => this.#newestSeen() === last.index);
  }

  flushOwn(): void {
    this.#small = null;
    this.#pass(this.#takeWaiting());
    this.#marked.letGo();
    this.#awaited.letGo();
  }

  /** The browser draws for the steps no more. Idempotent. */
  close(): void {
    this.flushOwn();
    this.#order.leave(this);
    this.#marked.close();
  }

  #nextIndex(): number {
    const index = this.#order.next();
    for (let between = this.#index + 1; between < index; between += 1) this.#readOnly.add(between);
    this.#index = index;
    return index;
  }

  #newestSeen(): number {
    let index = this.#index;
    while (this.#readOnly.has(index) || this.#running.get(index)?.touched() === false) index -= 1;
    return index;
  }

  /** The step whose picture waits, and does so no longer: {@link #pass} is to be called with it. */
  #takeWaiting(): Waiting | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    clearTimeout(waiting?.timer);
    return waiting;
  }

  /** Tells of a step without its picture. */
  #pass(waiting: Waiting | undefined): void {
    waiting?.step.tell(null);
  }

  #end(call: StepCall, tab: Tab | undefined, file: () => string, step: Omit<Step, 'screenshot'>): void {
    const failed = step.error !== undefined;
    this.#lastFailed = failed;
    const captureMs = mayHang(step) ? HUNG_CAPTURE_MS : CAPTURE_MS;
    let timers: readonly PendingTimer[] | null = null;
    if (failed) {
      void pendingTimers(tab).then((known) => {
        timers = known;
      });
    }
    const { index } = step;
    const ended = this.#order.add();
    const tell = (screenshot: string | null, { box, why }: AboutPicture = {}): void => {
      if (ended.event !== null) return;
      // It shows what an earlier one does, or there is none: nothing is to be replaced.
      if (this.#small?.index === index && screenshot !== this.#small.file) this.#small = null;
      const noScreenshot = failed && screenshot === null ? why : undefined;
      const data = {
        ...step,
        ...(timers === null ? {} : { timers: [...timers] }),
        screenshot,
        ...(noScreenshot === undefined ? {} : { noScreenshot }),
        ...(box === undefined ? {} : { box }),
      };
      ended.event = this.#named({ type: 'StepFinished', data });
      this.#order.emitEnded();
    };
    // A page that asks something cannot be drawn until it is answered.
    if (call.picture === 'own' || this.#policy === 'off' || tab === undefined || tab.dialog !== null) {
      const isOwn = call.picture === 'own' && !failed;
      if (isOwn) tell(file());
      else tell(null, { why: whyNone(tab, this.#policy) });
      return;
    }
    if (!failed && this.#policy === 'spare') {
      const waiting = { index, tab, captureMs, tell };
      this.#waiting = { step: waiting, file, timer: setTimeout(() => this.#idle(), IDLE_MS) };
      return;
    }
    const locator = locatorOf(step.error);
    const pictured: Pictured = { index, tab, file: file(), captureMs, locator, tell };
    if (failed || this.#policy !== 'every') {
      this.#awaited.add(pictured);
      return;
    }
    this.#small = pictured;
    this.#marked.add(pictured);
  }

  /** The browser has been left alone: a picture costs nobody time. */
  #idle(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) this.#awaited.add({ ...waiting.step, file: waiting.file() });
  }
}

/** The element that a call failed on; undefined if there is none, as when nothing matches its locator. */
function locatorOf(error: Step['error']): string | undefined {
  if (error === undefined || error.code.startsWith('LOCATOR_')) return undefined;
  const locator = error.details?.locator;
  return typeof locator === 'string' ? locator : undefined;
}

function fileOf(index: number, call: StepCall): () => string {
  return () => {
    const slug = call.source === undefined ? callSlug(call.method, call.shownArgs()) : callSlug(call.source(), []);
    return `${String(index).padStart(3, '0')}-${slug}.png`;
  };
}

/** Whether the page did not answer at the step's end. One that explained what it lacks did. */
function mayHang({ error }: Pick<Step, 'error'>): boolean {
  return error?.code === 'WAIT_TIMEOUT' && error.details?.candidates === undefined;
}

function whyNone(tab: Tab | undefined, policy: StepScreenshotPolicy): string {
  if (policy === 'off') return 'pictures of steps are switched off';
  if (tab === undefined) return 'no page was open';
  return tab.dialog === null ? 'the call takes its own picture, and failed' : DIALOG_OPEN;
}

function stepOf(
  index: number,
  call: StepCall,
  { kind, flow, line, column }: CallSite,
  began: Began,
  outcome: Outcome,
  place: Partial<Place>,
): Omit<Step, 'screenshot'> {
  const tab = call.tab();
  return {
    index,
    kind,
    js: call.source?.() ?? callSource(call.method, call.shownArgs()),
    ...outcome,
    url: place.url ?? tab?.url ?? '',
    title: place.title ?? tab?.title ?? '',
    startedAt: began.at,
    durationMs: Math.round((performance.now() - began.from) * 100) / 100,
    ...(flow === null ? {} : { flow }),
    ...(line === null ? {} : { line }),
    ...(column === null ? {} : { column }),
  };
}
