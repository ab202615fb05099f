import { encodeError } from '../protocol/errors.js';
import type { SessionEvent, Step } from '../protocol/events.js';
import type { CallSite } from '../script/host-module.js';
import { callSlug, callSource } from './call-source.js';
import type { Place } from './problem-error.js';
import { CAPTURE_MS, takeScreenshot } from './screenshots.js';
import type { Tab } from './tab.js';

/** A browser left alone for this long after a step is idle: a picture then costs nobody time. */
const IDLE_MS = 150;
/** A page that has just not answered probably hangs; the next step is not to wait for its picture. */
const HUNG_CAPTURE_MS = 200;

/** A step's call. */
export interface StepCall {
  readonly method: string;
  /** Arguments as the transcript may show them. Asked at the end: only then is it known what is a password. */
  shownArgs(): readonly unknown[];
  /** The tab that the step has led to. */
  tab(): Tab | undefined;
  /** `own`: the call itself writes the step's picture. */
  readonly picture: 'after' | 'own';
}

/** A step whose picture waits for the browser to be idle. */
interface Waiting {
  readonly step: Omit<Step, 'screenshot'>;
  readonly timer: NodeJS.Timeout;
}

type Outcome = { readonly result: unknown } | { readonly error: ReturnType<typeof encodeError> };

/**
 * Records steps and their pictures. A picture is taken after its step's end, and the step is told when it is known
 * whether there is one; steps are told in their order.
 */
export class Steps {
  readonly #emit: (event: SessionEvent) => void;
  readonly #dir: string;
  readonly #policy: 'every' | 'spare';
  #index: number;
  /** The picture under way; never rejects. */
  #capture: Promise<void> = Promise.resolve();
  #waiting: Waiting | undefined;

  constructor(options: {
    readonly emit: (event: SessionEvent) => void;
    readonly dir: string;
    readonly policy: 'every' | 'spare';
    /** 1-based. */
    readonly firstIndex: number;
  }) {
    this.#emit = options.emit;
    this.#dir = options.dir;
    this.#policy = options.policy;
    this.#index = options.firstIndex - 1;
  }

  /**
   * Runs a step. The picture of the one before is finished first, or let go if it has not begun.
   *
   * @param body is given the file name of the step's picture
   */
  async run<T extends object>(call: StepCall, site: CallSite, body: (file: string) => Promise<T>): Promise<T> {
    await this.settle();
    const index = ++this.#index;
    const file = `${String(index).padStart(3, '0')}-${callSlug(call.method, call.shownArgs())}.png`;
    const startedAt = new Date().toISOString();
    const from = performance.now();
    const end = (outcome: Outcome, place: Partial<Place>): void => {
      const tab = call.tab();
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
      const result = await body(file);
      end({ result }, result);
      return result;
    } catch (error) {
      end({ error: encodeError(error) }, {});
      throw error;
    }
  }

  /** Every step that has ended has been told when this settles. A picture that has not begun is not taken any more. */
  async settle(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) {
      clearTimeout(waiting.timer);
      this.#tell(waiting.step, null);
    }
    await this.#capture;
  }

  #ended(call: StepCall, tab: Tab | undefined, file: string, step: Omit<Step, 'screenshot'>): void {
    const failed = step.error !== undefined;
    if (call.picture === 'own' || tab === undefined) {
      this.#tell(step, failed || tab === undefined ? null : file);
      return;
    }
    const captureMs = step.error?.code === 'WAIT_TIMEOUT' ? HUNG_CAPTURE_MS : CAPTURE_MS;
    const take = () => {
      this.#waiting = undefined;
      this.#capture = takeScreenshot(tab, this.#dir, file, captureMs).then((picture) =>
        this.#tell(step, picture?.file ?? null),
      );
    };
    if (failed || this.#policy === 'every') take();
    else this.#waiting = { step, timer: setTimeout(take, IDLE_MS) };
  }

  #tell(step: Omit<Step, 'screenshot'>, screenshot: string | null): void {
    this.#emit({ type: 'StepFinished', data: { ...step, screenshot } });
  }
}
