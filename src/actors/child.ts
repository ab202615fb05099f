import type { Observable } from 'rxjs';
import type { ActorRef, MessageMap, Termination } from './actor.js';

/**
 * The life of a child.
 *
 *   starting --> running --> backing-off --> starting ...
 *      |            |             |
 *      `------------+-------------+--> stopping --> ended
 *
 * `attempt` is 0 for the first start and one more with each restart. `ended` is for good.
 */
export type ChildState =
  | { readonly kind: 'starting'; readonly attempt: number }
  | { readonly kind: 'running'; readonly attempt: number; readonly thread: number }
  | { readonly kind: 'backing-off'; readonly attempt: number; readonly delayMs: number; readonly cause: Termination }
  | { readonly kind: 'stopping' }
  | { readonly kind: 'ended'; readonly termination: Termination };

/** A supervised actor, from its owner's side, across all its restarts. */
export interface Child<M extends MessageMap, E> {
  readonly id: string;
  /** The same for all restarts; see `StableRef` for what becomes of messages meanwhile. */
  readonly ref: ActorRef<M>;
  /** Events of every life, in order; completes when the child ends for good. Nothing is kept for late subscribers. */
  readonly events$: Observable<E>;
  readonly state: ChildState;
  /** Every state from now on, for whoever watches the child; completes after `ended`. */
  readonly states$: Observable<ChildState>;
  readonly restarts: number;
  /** Settles once, when the child has ended for good, with its last end. Never rejects. */
  readonly terminated: Promise<Termination>;
  /** Ends the child for good, in at most its `shutdownMs` and a second. Idempotent. */
  stop(): Promise<Termination>;
}
