import type { Claim } from './cluster-store.js';

/** What a node does with its claims. None of it rejects. */
export interface NodeWork {
  /** Runs a job from the queue. */
  run(claim: Claim): void;
  /** Decides what becomes of a session of another node or an earlier start. */
  recover(claim: Claim): void;
  /** How many sessions a caller may have at once, over all nodes; undefined: any number. */
  maxRunning(caller: string): number | undefined;
  /** Ends the session without writing anything about it: another node has it. */
  lost(sessionId: string): void;
  /** Ends all sessions in this way; resolves when none is left. */
  stop(): Promise<void>;
  /** Others may have written events up to this number. */
  news(lastSeq: number): void;
  /** Called about every five seconds, and when the node begins or ceases to do the chores of all nodes. */
  renewed(state: { readonly doesChores: boolean }): void;
}
