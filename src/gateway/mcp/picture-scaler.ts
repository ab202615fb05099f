import { limitSignal } from '../../base/deadline.js';
import { TaskThreads } from '../../threads/task-threads.js';

/** A picture of 40 million pixels takes a second or two. */
const SCALE_MS = 20_000;
/** A larger one fails alone. */
const HEAP_MB = 512;
const ENTRY = new URL('./scale.thread.js', import.meta.url);

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

/**
 * Scales a PNG down, in its proportions, on a thread of its own.
 * @param entry of the thread
 * @throws if it is damaged, it takes too long, or the thread fails
 */
export function scalePicture(task: ScaleTask, entry = ENTRY): Promise<ScaledPicture> {
  const scaled = last.then(() => scaledAlone(task, entry));
  last = scaled.catch(() => undefined);
  return scaled;
}

/** Large pictures are rare, so the thread exists for one of them. */
async function scaledAlone(task: ScaleTask, entry: URL): Promise<ScaledPicture> {
  const thread = new TaskThreads<ScaleTask, ScaledPicture>({
    entry,
    name: 'picture scaling',
    part: 'large pictures for MCP',
    size: 1,
    idleMs: 0,
    maxWaiting: 0,
    heapMb: HEAP_MB,
  });
  try {
    return await thread.run(task, { call: 'scale', signal: limitSignal(SCALE_MS) });
  } finally {
    await thread.close();
  }
}
