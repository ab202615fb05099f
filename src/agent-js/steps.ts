import { settlesWithin } from '../base/deadline.js';
import { encodeError } from '../protocol/errors.js';
import type { SessionEvent, Step } from '../protocol/events.js';
import type { CallSite } from '../script/host-module.js';
import { callSlug, callSource } from './call-source.js';
import type { Place } from './locating/problem-error.js';
import { CAPTURE_MS } from './screenshots.js';
import { type Pictured, type StepPicture, StepPictures } from './step-pictures.js';
import type { Tab } from './tabs/tab.js';

/** A browser left alone for this long after a step is idle: a picture then costs nobody time. */
const IDLE_MS = 150;
/** A page that has just not answered probably hangs; nobody is to wait for its picture. */
const HUNG_CAPTURE_MS = 200;
/** Steps of a job wait for the pictures of those before, for this part of the time that steps take, and this long at most. */
const HELD_PART = 0.03;
const MOST_HELD_MS = 500;

/**
 * When steps are pictured: `every` step of a job, beside those that follow; those of a live session where the browser is
 * idle after them and time is to `spare`; or each before the next one begins, which is `exact`. A failing step always is.
 */
export type StepScreenshotPolicy = 'every' | 'spare' | 'exact';

/** A step's call. */
export interface StepCall {
  readonly method: string;
  /** Arguments as the transcript may show them. Asked at the end: only then is it known what is a password. */
  shownArgs(): readonly unknown[];
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

type Outcome = { readonly result: unknown } | { readonly error: ReturnType<typeof encodeError> };

/**
 * Records steps and their pictures. Pictures are taken after their step's end, beside the steps that follow; a step is
 * told when it is known whether there is one, and steps are told in their order. After a step that failed the next one
 * waits, so that its picture shows what made it fail; after others of a job for a small part of the time that it takes.
 */
export class Steps {
  readonly #emit: (event: SessionEvent) => void;
  readonly #pictures: StepPictures;
  readonly #policy: StepScreenshotPolicy;
  #index: number;
  /** Steps under way. */
  readonly #running = new Map<number, StepCall>();
  /** How long the next steps may wait for pictures. */
  #mayHoldMs = 0;
  #waiting: Waiting | undefined;
  #lastFailed = false;

  constructor(options: {
    readonly emit: (event: SessionEvent) => void;
    readonly dir: string;
    readonly policy: StepScreenshotPolicy;
    /** 1-based. */
    readonly firstIndex: number;
  }) {
    this.#emit = options.emit;
    this.#pictures = new StepPictures(options.dir, () => this.#newestSeen());
    this.#policy = options.policy;
    this.#index = options.firstIndex - 1;
  }

  /**
   * Runs a step. The picture of one before that waits for an idle browser is let go.
   *
   * @param body is given what names the file of the step's picture
   */
  async run<T extends object>(call: StepCall, site: CallSite, body: (file: () => string) => Promise<T>): Promise<T> {
    const before = this.#takeWaiting();
    if (this.#lastFailed || this.#pictures.full || this.#policy === 'exact') await this.#pictures.settle();
    else if (this.#policy === 'every') await this.#hold();
    const index = ++this.#index;
    this.#running.set(index, call);
    const file = () => `${String(index).padStart(3, '0')}-${callSlug(call.method, call.shownArgs())}.png`;
    const startedAt = new Date().toISOString();
    const from = performance.now();
    const end = (outcome: Outcome, place: Partial<Place>): void => {
      const tab = call.tab();
      this.#running.delete(index);
      this.#ended(call, tab, file, {
        index,
        kind: site.kind,
        js: callSource(call.method, call.shownArgs()),
        ...outcome,
        url: place.url ?? tab?.url ?? '',
        title: place.title ?? tab?.title ?? '',
        startedAt,
        durationMs: Math.round((performance.now() - from) * 100) / 100,
        ...(site.flow === null ? {} : { flow: site.flow }),
        ...(site.line === null ? {} : { line: site.line }),
        ...(site.column === null ? {} : { column: site.column }),
      });
    };
    try {
      const working = body(file);
      // What it asks the browser for is on its way; meanwhile there is time for the step before.
      this.#pass(before);
      const result = await working;
      end({ result }, result);
      return result;
    } catch (error) {
      end({ error: encodeError(error) }, {});
      throw error;
    }
  }

  /** Every step that has ended has been told when this settles. A picture that has not begun is not taken any more. */
  async settle(): Promise<void> {
    this.#pass(this.#takeWaiting());
    await this.#pictures.settle();
  }

  /** Tells of every step that has ended at once, without the picture that it waits for. */
  flush(): void {
    this.#pass(this.#takeWaiting());
    this.#pictures.letGo();
  }

  /** Waits for the pictures of the steps so far, where the time for that has been saved up. */
  async #hold(): Promise<void> {
    const { expectedMs } = this.#pictures;
    if (expectedMs === 0 || expectedMs > this.#mayHoldMs) return;
    const from = performance.now();
    await settlesWithin(this.#pictures.settle(), this.#mayHoldMs);
    this.#mayHoldMs -= performance.now() - from;
  }

  #newestSeen(): number {
    let index = this.#index;
    while (this.#running.get(index)?.touched() === false) index -= 1;
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
    if (waiting !== undefined) this.#pictures.add({ ...waiting.step, tab: null, file: null });
  }

  #ended(call: StepCall, tab: Tab | undefined, file: () => string, step: Omit<Step, 'screenshot'>): void {
    const failed = step.error !== undefined;
    this.#lastFailed = failed;
    this.#mayHoldMs = Math.min(MOST_HELD_MS, this.#mayHoldMs + HELD_PART * step.durationMs);
    const captureMs = step.error?.code === 'WAIT_TIMEOUT' ? HUNG_CAPTURE_MS : CAPTURE_MS;
    const { index } = step;
    const tell = (picture: StepPicture | null) => {
      const later = picture === null || picture.shows === index ? {} : { screenshotStep: picture.shows };
      this.#emit({ type: 'StepFinished', data: { ...step, screenshot: picture?.file ?? null, ...later } });
    };
    // A page that asks something cannot be drawn until it is answered.
    if (call.picture === 'own' || tab === undefined || tab.dialog !== null) {
      this.#pictures.add({
        index,
        tab: null,
        file: call.picture === 'own' && !failed ? file() : null,
        captureMs,
        tell,
      });
      return;
    }
    const pictured = { index, tab, captureMs, tell };
    if (failed || this.#policy !== 'spare') this.#pictures.add({ ...pictured, file: file() });
    else this.#waiting = { step: pictured, file, timer: setTimeout(() => this.#idle(), IDLE_MS) };
  }

  /** The browser has been left alone: a picture costs nobody time. */
  #idle(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) this.#pictures.add({ ...waiting.step, file: waiting.file() });
  }
}
