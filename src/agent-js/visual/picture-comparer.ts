import { Piscina } from 'piscina';
import { stretched } from '../../base/deadline.js';
import { decodeError, type ErrorBody, TroupeError } from '../../protocol/errors.js';
import { type Bounds, cancelledError, toAnswer } from '../browser/bounds.js';

/** The thread ends after so long without a comparison. */
const IDLE_MS = 5_000;
/** A comparison that needs more memory fails alone. */
const HEAP_MB = 512;
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

export type CompareAnswer = Comparison | { readonly kind: 'error'; readonly error: ErrorBody };

/** Compares pictures on a thread of its own, which exists only while it is used. Its owner closes it. */
export class PictureComparer {
  #pool: Piscina<CompareTask, CompareAnswer> | null = null;

  /**
   * @param task.threshold how much the color of a pixel may differ: 0 nothing, 1 everything
   * @throws EVAL_TIMEOUT if the script is cancelled; ACTION_FAILED if the pictures cannot be compared
   */
  async compare(task: CompareTask, bounds: Bounds): Promise<Comparison> {
    this.#pool ??= new Piscina<CompareTask, CompareAnswer>({
      filename: new URL('./compare.thread.js', import.meta.url).href,
      name: 'compare',
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
      execArgv: [],
      env: {},
    });
    const { end = bounds.deadline } = toAnswer(bounds);
    const ms = Math.max(1, Math.min(COMPARE_MS, end - performance.now()));
    const late = AbortSignal.timeout(Math.round(ms));
    const answer = await this.#pool
      .run(task, { signal: AbortSignal.any([late, bounds.signal]) })
      .catch((cause: unknown): CompareAnswer => {
        if (bounds.signal.aborted) throw cancelledError();
        const why = late.aborted ? 'it takes too long' : String(cause);
        throw new TroupeError('ACTION_FAILED', `The screenshots cannot be compared: ${why}`, undefined, { cause });
      });
    if (answer.kind !== 'error') return answer;
    const cause = decodeError(answer.error);
    const message = `The screenshots cannot be compared: ${cause.message}; if the baseline is damaged, write it anew with --update-baselines`;
    throw new TroupeError('ACTION_FAILED', message, undefined, { cause });
  }

  /** Idempotent; never rejects. */
  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = null;
    await pool?.destroy().catch(() => undefined);
  }
}
