import type { ErrorCode } from '../protocol/errors.js';
import type { ActorKind, ActorRef, MessageMap } from './actor.js';
import type { Restart } from './restart-policy.js';
import type { ThreadChoice } from './thread-pool.js';

export const DEFAULT_READY_MS = 30_000;

/** What a start may know of itself. */
export interface StartContext {
  /** 0 for the first start, then one more with each restart. */
  readonly attempt: number;
  /** Aborted when the child is stopped while it starts. */
  readonly signal: AbortSignal;
}

/** All that is needed to start a child, and to start it again. */
export interface ChildSpec<M extends MessageMap, A, E> {
  /** Names the child among its siblings. */
  readonly id: string;
  readonly kind: ActorKind<M, A, E>;
  /** What the actor is made with, which may differ from start to start. Called once for each. */
  readonly args: (attempt: number) => A;
  /** After which ends the child is started again: see {@link Restart}. */
  readonly restart: Restart;
  /** An error with one of these codes ends the child for good: to start it again would be of no use. */
  readonly finalCodes?: readonly ErrorCode[];
  /** How long its clean-up may take when it is stopped, in milliseconds. */
  readonly shutdownMs: number;
  /** A handler that holds the mailbox longer ends the actor as hanging, at its thread's next heartbeat. */
  readonly hangMs?: number;
  /** A number is kept for all restarts; a thread that died has been replaced by then. */
  readonly thread: ThreadChoice;
  /**
   * What must succeed after every start before the child counts as started and is asked anything. A first start that
   * fails here rejects, a restart that fails here counts as a crash.
   */
  readonly ready?: (ref: ActorRef<M>, context: StartContext) => Promise<unknown>;
  /** How long `ready` may take, in milliseconds; {@link DEFAULT_READY_MS} when nothing is said. */
  readonly readyMs?: number;
}
