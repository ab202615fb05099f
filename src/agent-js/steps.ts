import type { PendingTimer } from '../page/page-calls.js';
import { encodeError } from '../protocol/errors.js';
import type { SessionEvent, Step } from '../protocol/events.js';
import type { CallSite } from '../script/host-module.js';
import { callSlug, callSource } from './call-source.js';
import type { Place } from './locating/problem-error.js';
import { pendingTimers } from './pending-timers.js';
import { type AboutPicture, AwaitedPictures, DIALOG_OPEN, type Pictured } from './pictures/awaited-pictures.js';
import { CAPTURE_MS } from './pictures/screenshots.js';
import type { SmallScreenshots } from './pictures/small-screenshots.js';
import type { StepOrder } from './step-order.js';
import type { Tab } from './tabs/tab.js';

/** A browser left alone for this long after a step is idle: a picture then costs nobody time. */
const IDLE_MS = 150;
/** A page that has just not answered probably hangs; nobody is to wait for its picture. */
const HUNG_CAPTURE_MS = 200;
/**
 * When steps are pictured: each that may have changed what is seen, by a small screenshot that the next step waits for
 * (`on`); those that leave the browser idle (`idle`); only those that fail (`failures`); or none (`off`).
 * The picture of a step that failed is as large as the page, and so is that of an idle browser, which nobody waits for.
 */
export type StepScreenshotPolicy = 'on' | 'idle' | 'failures' | 'off';

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
 * are reported in their order. A picture shows the page as its step left it, or the step has none. A step that only read
 * has the picture of the step before.
 */
export class Steps {
  readonly #order: StepOrder;
  /** Names the browser in its steps; the first one has no name. */
  readonly #named: (event: SessionEvent) => SessionEvent;
  readonly #awaited: AwaitedPictures;
  readonly #policy: StepScreenshotPolicy;
  /** The number of the newest step of this browser. */
  #index: number;
  /** Steps under way. */
  readonly #running = new Map<number, StepCall>();
  /** Steps since the last one that may have changed the page, and those of other browsers in between. */
  readonly #readOnly = new Set<number>();
  #waiting: Waiting | undefined;
  #lastFailed = false;
  /** The page may look otherwise than the last picture shows, by what was no step. */
  #changed = true;
  /** The picture of the newest step that was reported; null if it has none. */
  #shown: string | null = null;

  constructor(options: {
    readonly order: StepOrder;
    readonly named: (event: SessionEvent) => SessionEvent;
    readonly dir: string;
    readonly smaller: SmallScreenshots;
    readonly policy: StepScreenshotPolicy;
  }) {
    this.#order = options.order;
    this.#named = options.named;
    this.#awaited = new AwaitedPictures(options.dir, options.smaller, () => this.#newestSeen());
    this.#policy = options.policy;
    this.#index = this.#order.index;
    this.#order.join(this);
  }

  /** Settles when what is done to the page from now on is not seen on the picture of the step before. Bounded. */
  async ready(): Promise<void> {
    if (this.#lastFailed || this.#policy === 'on') await this.#awaited.taken();
  }

  /** What is no step may have changed what is seen: the next step has a picture of its own. */
  changed(): void {
    this.#changed = true;
  }

  /**
   * Runs a step. The picture of one before that waits for an idle browser is let go.
   *
   * @param body is given what names the file of the step's picture
   */
  async run<T extends object>(call: StepCall, site: CallSite, body: (file: () => string) => Promise<T>): Promise<T> {
    const before = this.#takeWaiting();
    await this.ready();
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
   * Runs a step that only reads the page. If it passes without waiting, the page is as the step before left it: it has the
   * picture of that step, which may still be taken. Otherwise it has one of its own, as other steps do.
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
      }
      this.#running.delete(index);
      if (pictured) this.#end(call, call.tab(), file, step);
      else {
        // Those before are reported by then.
        this.#order.add(() => this.#named({ type: 'StepFinished', data: { ...step, screenshot: this.#shown } }));
        this.#order.emitEnded();
      }
    };
    try {
      const { result, waited } = await body();
      await end({ result }, waited || this.#changed);
      return result;
    } catch (error) {
      await end({ error: encodeError(error) }, true);
      throw error;
    }
  }

  /**
   * Every step that has ended, of all browsers of the session, has been told when this settles.
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
    await this.#awaited.settle();
  }

  flushOwn(): void {
    this.#pass(this.#takeWaiting());
    this.#awaited.letGo();
  }

  /** Nothing is told any more. Idempotent. */
  close(): void {
    this.flushOwn();
    this.#order.leave(this);
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
    const isOwn = call.picture === 'own';
    const ended = this.#order.add();
    const tell = (screenshot: string | null, { box, why }: AboutPicture = {}): void => {
      if (ended.event !== null) return;
      const noScreenshot = failed && screenshot === null ? why : undefined;
      const data = {
        ...step,
        ...(timers === null ? {} : { timers: [...timers] }),
        screenshot,
        ...(noScreenshot === undefined ? {} : { noScreenshot }),
        ...(box === undefined ? {} : { box }),
      };
      ended.event = () => {
        // What a call pictures itself may be a part of the page.
        if (!isOwn) this.#shown = screenshot;
        return this.#named({ type: 'StepFinished', data });
      };
      this.#order.emitEnded();
    };
    const isWanted = this.#policy !== 'off' && (failed || this.#policy !== 'failures');
    // A page that asks something cannot be drawn until it is answered.
    if (isOwn || !isWanted || tab === undefined || tab.dialog !== null) {
      if (!isOwn) this.#changed = true;
      if (isOwn && !failed) tell(file());
      else tell(null, { why: whyNone(tab, this.#policy) });
      return;
    }
    this.#changed = false;
    const pictured = { index, tab, captureMs, locator: locatorOf(step.error), small: !failed, tell };
    if (failed || this.#policy === 'on') {
      this.#awaited.add({ ...pictured, file: file() });
      return;
    }
    const waiting = { ...pictured, small: false };
    this.#waiting = { step: waiting, file, timer: setTimeout(() => this.#idle(), IDLE_MS) };
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
  if (policy === 'off') return 'step screenshots are off';
  if (tab === undefined) return 'no page was open';
  return tab.dialog === null ? 'the call takes a screenshot itself, and failed' : DIALOG_OPEN;
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
