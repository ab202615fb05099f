import type { Observable } from 'rxjs';
import type { ActorRef, MessageMap, Termination } from './actor.js';

/**
 * The lifecycle of a child.
 *
 *   starting --> running --> backing-off --> starting ...
 *      |            |             |
 *      `------------+-------------+--> stopping --> ended
 *
 * `attempt` is 0 for the first start and one more for each restart. `ended` is final.
 */
export type ChildState =
  | { readonly kind: 'starting'; readonly attempt: number }
  | { readonly kind: 'running'; readonly attempt: number; readonly thread: number }
  | { readonly kind: 'backing-off'; readonly attempt: number; readonly delayMs: number; readonly cause: Termination }
  | { readonly kind: 'stopping' }
  | { readonly kind: 'ended'; readonly termination: Termination };

/** A supervised actor as its owner sees it, across all restarts. */
export interface Child<M extends MessageMap, E> {
  readonly id: string;
  /** The same ref across all restarts; see `StableRef` for messages that are sent meanwhile. */
  readonly ref: ActorRef<M>;
  /** Events of all runs, in order; completes when the child ends permanently. Not replayed to late subscribers. */
  readonly events$: Observable<E>;
  readonly state: ChildState;
  /** Every state from now on; completes after `ended`. */
  readonly states$: Observable<ChildState>;
  readonly restarts: number;
  /** Resolves with the last termination once the child has ended permanently. Never rejects. */
  readonly terminated: Promise<Termination>;
  /** Ends the child permanently, within its `shutdownMs` plus one second. Idempotent. */
  stop(): Promise<Termination>;
}
