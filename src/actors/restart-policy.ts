import { assertNever } from '../base/assert-never.js';
import type { EndReason } from './actor.js';

/**
 * When a child is started again, in OTP's words.
 *
 *              | normal, shutdown | crash, hang, lost
 *   permanent  | restart          | restart
 *   transient  | end              | restart
 *   temporary  | end              | end
 */
export type Restart = 'permanent' | 'transient' | 'temporary';

/** How often, and how soon, a child is started again. Counted per child: one that cannot live takes no sibling along. */
export interface RestartBounds {
  /** Most restarts within the period; at the next end the child ends for good. */
  readonly intensity: number;
  readonly periodMs: number;
  /** The wait before the first restart within the period; each further one waits twice as long. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** The part of a delay, 0 to 1, that chance may take off, so that children that ended together do not return together. */
  readonly jitter: number;
}

export const DEFAULT_RESTART_BOUNDS: RestartBounds = {
  intensity: 5,
  periodMs: 30_000,
  firstDelayMs: 20,
  maxDelayMs: 5_000,
  jitter: 0.5,
};

/** `history` holds the times of the restarts that still count, this one included. */
export type RestartDecision =
  | { readonly kind: 'end' }
  | { readonly kind: 'restart'; readonly delayMs: number; readonly history: readonly number[] };

/** What becomes of a child that ended. */
export function decideRestart(
  restart: Restart,
  reason: EndReason,
  bounds: RestartBounds,
  past: { readonly history: readonly number[]; readonly nowMs: number; readonly random: () => number },
): RestartDecision {
  if (!isRestarted(restart, reason)) return { kind: 'end' };
  const recent = past.history.filter((at) => past.nowMs - at < bounds.periodMs);
  if (recent.length >= bounds.intensity) return { kind: 'end' };
  const fullMs = Math.min(bounds.maxDelayMs, bounds.firstDelayMs * 2 ** recent.length);
  const delayMs = fullMs * (1 - bounds.jitter * past.random());
  return { kind: 'restart', delayMs, history: [...recent, past.nowMs] };
}

function isRestarted(restart: Restart, reason: EndReason): boolean {
  switch (restart) {
    case 'permanent':
      return true;
    case 'transient':
      return reason !== 'normal' && reason !== 'shutdown';
    case 'temporary':
      return false;
    default:
      return assertNever(restart);
  }
}
