/** How far the session of a lost claim had come, from its events; see `TaskProgress.phase`. */
export type LostPhase = 'flows' | 'cut' | 'model' | 'over';

/**
 * What becomes of a session whose node is gone, and its browser with it.
 *
 * - `requeue`: it had not begun
 * - `continue`: a job in its model phase, queued to continue from its conversation with a fresh browser
 * - `retry`: its flow had begun, and `retries` asks for another attempt
 * - `interrupted`: its flow had begun; nobody asked for another attempt
 * - `settle`: all flows have run, only the end is missing
 * - `nodeLost`: a live session ends failed, NODE_LOST
 */
export type LostOutcome = 'requeue' | 'continue' | 'retry' | 'interrupted' | 'settle' | 'nodeLost';

/**
 * Decides what becomes of a session whose claim expired. A flow that has begun is never run again by anybody who was not
 * asked to by `retries`.
 */
export function afterLoss(
  mode: 'live' | 'auto',
  { phase, retriesLeft }: { readonly phase: LostPhase; readonly retriesLeft: number },
): LostOutcome {
  if (mode === 'live') return 'nodeLost';
  switch (phase) {
    case 'flows':
      return 'requeue';
    case 'model':
      return 'continue';
    case 'over':
      return 'settle';
    default:
      return retriesLeft > 0 ? 'retry' : 'interrupted';
  }
}
