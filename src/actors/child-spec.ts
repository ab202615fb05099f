import type { ErrorCode } from '../protocol/errors.js';
import type { ActorKind, ActorRef, MessageMap } from './actor.js';
import type { Restart } from './restart-policy.js';
import type { ThreadChoice } from './thread-pool.js';

export const DEFAULT_READY_MS = 30_000;

/** Information about a start. */
export interface StartContext {
  /** 0 for the first start, then one more for each restart. */
  readonly attempt: number;
  /** Aborted when the child is stopped while it starts. */
  readonly signal: AbortSignal;
}

/** Everything that is needed to start and restart a child. */
export interface ChildSpec<M extends MessageMap, A, E> {
  /** Unique among its siblings. */
  readonly id: string;
  readonly kind: ActorKind<M, A, E>;
  /** Creates the actor's arguments. Called once for each start, so they may differ. */
  readonly args: (attempt: number) => A;
  /** After which ends the child is restarted: see {@link Restart}. */
  readonly restart: Restart;
  /** Errors with these codes end the child permanently: a restart would not help. */
  readonly finalCodes?: readonly ErrorCode[];
  /** The time limit of its cleanup when it is stopped, in milliseconds. */
  readonly shutdownMs: number;
  /** A handler that holds the mailbox longer ends the actor as hanging, at its thread's next heartbeat. */
  readonly hangMs?: number;
  /** An index applies to all restarts; a dead thread has been replaced by then. */
  readonly thread: ThreadChoice;
  /**
   * Must succeed after every start before the child counts as started and receives messages. If it fails, a first start
   * rejects and a restart counts as a crash.
   */
  readonly ready?: (ref: ActorRef<M>, context: StartContext) => Promise<unknown>;
  /** The time limit of `ready`, in milliseconds; {@link DEFAULT_READY_MS} by default. */
  readonly readyMs?: number;
}
