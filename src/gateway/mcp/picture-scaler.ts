import { Piscina } from 'piscina';
import { limitSignal } from '../../base/deadline.js';

/** A picture of 40 million pixels takes a second or two. */
const SCALE_MS = 20_000;
/** A larger one fails alone. */
const HEAP_MB = 512;

/** A PNG to be made smaller. */
export interface ScaleTask {
  readonly png: Uint8Array;
  /** The longest side, in pixels. */
  readonly maxSide: number;
  readonly maxBytes: number;
}

export interface ScaledPicture {
  readonly png: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** One at a time, however many clients there are. Never rejects. */
let last: Promise<unknown> = Promise.resolve();

/** Scales a PNG down, in its proportions, on a thread of its own. @throws if it is damaged, or it takes too long */
export function scalePicture(task: ScaleTask): Promise<ScaledPicture> {
  const scaled = last.then(() => scaledAlone(task));
  last = scaled.catch(() => undefined);
  return scaled;
}

/** Large pictures are rare, so the thread exists for one of them. */
async function scaledAlone(task: ScaleTask): Promise<ScaledPicture> {
  const pool = new Piscina<ScaleTask, ScaledPicture>({
    filename: new URL('./scale.thread.js', import.meta.url).href,
    name: 'scale',
    maxThreads: 1,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    execArgv: [],
    env: {},
  });
  // A thread that cannot start fails its picture, and nothing else.
  pool.on('error', () => undefined);
  try {
    return await pool.run(task, { signal: limitSignal(SCALE_MS) });
  } finally {
    await pool.destroy().catch(() => undefined);
  }
}
