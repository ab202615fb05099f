import { stretched } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';
import { TaskThreads } from '../../threads/task-threads.js';
import { couldNotStart, isThreadError } from '../../threads/thread-end.js';
import { type Bounds, cancelledError, toAnswer } from '../browser/bounds.js';

/** The thread ends after so long without a comparison. */
const IDLE_MS = 5_000;
/** A comparison that needs more memory fails alone. */
const HEAP_MB = 512;
/** Comparisons that wait for the thread: those of one session. */
const MAX_WAITING = 1_000;
/** On a busy machine a picture of 7680 x 4320 pixels takes seconds; more than this means that the thread hangs. */
const COMPARE_MS = stretched(30_000);

/** A part of a picture, in its pixels. */
export interface PixelBox {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Two PNGs that are compared, or one that is masked only. */
export interface CompareTask {
  readonly received: Uint8Array;
  /** Null: there is no baseline yet. */
  readonly expected: Uint8Array | null;
  /** Covered in `received`; a baseline was covered when it was stored. */
  readonly masks: readonly PixelBox[];
  /** 0 to 1, see {@link PictureComparer.compare}. */
  readonly threshold: number;
}

export type Comparison =
  | { readonly kind: 'same' }
  | { readonly kind: 'new'; readonly received: Uint8Array }
  | {
      readonly kind: 'different';
      readonly pixels: number;
      readonly size: readonly [width: number, height: number];
      readonly expectedSize: readonly [width: number, height: number];
      /** PNGs: with its masks, and with what differs in red. */
      readonly received: Uint8Array;
      readonly difference: Uint8Array;
    };

/** Compares pictures on a thread of its own, which exists only while it is used. Its owner closes it. */
export class PictureComparer {
  readonly #threads: TaskThreads<CompareTask, Comparison>;

  /** @param entry of its thread */
  constructor(entry = new URL('./compare.thread.js', import.meta.url)) {
    this.#threads = new TaskThreads({
      entry,
      name: 'picture comparison',
      part: 'screenshot comparison',
      size: 1,
      idleMs: IDLE_MS,
      maxWaiting: MAX_WAITING,
      heapMb: HEAP_MB,
    });
  }

  /**
   * @param task.threshold how much the color of a pixel may differ: 0 nothing, 1 everything
   * @throws EVAL_TIMEOUT if the script is cancelled; ACTION_FAILED if the pictures cannot be compared; UNAVAILABLE if the
   *   thread cannot start
   */
  async compare(task: CompareTask, bounds: Bounds): Promise<Comparison> {
    const { end = bounds.deadline } = toAnswer(bounds);
    const ms = Math.max(1, Math.min(COMPARE_MS, end - performance.now()));
    const late = AbortSignal.timeout(Math.round(ms));
    try {
      return await this.#threads.run(task, { call: 'compare', signal: AbortSignal.any([late, bounds.signal]) });
    } catch (cause) {
      if (bounds.signal.aborted) throw cancelledError();
      throw comparisonError(cause, late.aborted);
    }
  }

  /** Idempotent; never rejects. */
  close(): Promise<void> {
    return this.#threads.close();
  }
}

function comparisonError(cause: unknown, isLate: boolean): TroupeError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const what = 'The screenshots cannot be compared';
  if (isLate) return new TroupeError('ACTION_FAILED', `${what}: it takes too long`, undefined, { cause });
  if (couldNotStart(cause)) return new TroupeError('UNAVAILABLE', `${what}: ${why}`, undefined, { cause });
  if (isThreadError(cause)) return new TroupeError('ACTION_FAILED', `${what}: ${why}`, undefined, { cause });
  const remedy = 'if the baseline is damaged, replace it with --update-baselines';
  return new TroupeError('ACTION_FAILED', `${what}: ${why}; ${remedy}`, undefined, { cause });
}
