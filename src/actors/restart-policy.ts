import { assertNever } from '../base/assert-never.js';
import type { EndReason } from './actor.js';

/**
 * When a child is restarted, in OTP's terms.
 *
 *              | normal, shutdown | crash, hang, lost
 *   permanent  | restart          | restart
 *   transient  | end              | restart
 *   temporary  | end              | end
 */
export type Restart = 'permanent' | 'transient' | 'temporary';

/** How often, and how soon, a child is restarted. Counted per child, so a failing child does not end its siblings. */
export interface RestartBounds {
  /** The most restarts within the period; after that, the next end is final. */
  readonly intensity: number;
  readonly periodMs: number;
  /** The delay before the first restart within the period; it doubles with each further restart. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** The fraction of a delay, 0 to 1, that is random, so that children that ended together do not restart together. */
  readonly jitter: number;
}

export const DEFAULT_RESTART_BOUNDS: RestartBounds = {
  intensity: 5,
  periodMs: 30_000,
  firstDelayMs: 20,
  maxDelayMs: 5_000,
  jitter: 0.5,
};

/** `history` has the times of the restarts within the period, including this one. */
export type RestartDecision =
  | { readonly kind: 'end' }
  | { readonly kind: 'restart'; readonly delayMs: number; readonly history: readonly number[] };

/** Decides whether a child that ended is restarted, and when. */
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
