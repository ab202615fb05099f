import type { MessagePort } from 'node:worker_threads';
import type { ErrorBody } from '../protocol/errors.js';
import type { SessionEvent, StepKind } from '../protocol/events.js';
import type { CallSite } from './host-module.js';
import type { ScriptLimits } from './limits.js';

/**
 * What passes between a sandbox's handle and its thread. The thread sleeps on WAKE whenever it waits, for an order or an
 * answer, and reads both from a port of its own; its event loop does not turn.
 *
 *     handle                                thread
 *       | -- RunMessage, WAKE + 1 ---------> |  reads its port, runs the script
 *       | <------------------- CallMessage - |  Atomics.wait on WAKE
 *       | -- AnswerMessage, WAKE + 1 ------> |  reads its port, goes on
 *       | <------------------ EventMessage - |  (no wait)
 *       | -- CANCEL = run, WAKE + 1 -------> |  the interrupt handler sees it
 *       | -- STOOD_STILL = ms, WAKE + 1 ---> |  the deadline is so much later
 *       | <------------------- DoneMessage - |
 */

/** Cells of the shared Int32Array. */
export const CONTROL = {
  /** Number of the run that is cancelled, 0 for none. Numbers are not used twice, so a late cancel hits nothing. */
  CANCEL: 0,
  /** Rises with everything that a sleeping thread should look at. */
  WAKE: 1,
  /** Milliseconds that the run's clock has stood still; 2^31 - 1 while it stands. Set back before each run. */
  STOOD_STILL: 2,
  LENGTH: 3,
} as const;

export interface ModuleBoot {
  readonly name: string;
  readonly prelude: string;
  readonly methods: readonly string[];
}

/** The thread's workerData. */
export interface ThreadBoot {
  readonly wasm: WebAssembly.Module;
  readonly control: Int32Array;
  /** Orders and answers come here. */
  readonly inbox: MessagePort;
  readonly modules: readonly ModuleBoot[];
  /** JSON text. */
  readonly args: string;
  readonly limits: ScriptLimits;
}

export interface RunMessage {
  readonly type: 'run';
  /** 1 and up. */
  readonly run: number;
  readonly source: string;
  readonly name: string;
  readonly kind: StepKind;
  readonly timeoutMs: number;
}

export interface AnswerMessage {
  readonly call: number;
  /** An Answer (prelude/engine.ts) as JSON text. */
  readonly text: string;
}

/** How a run ended. */
export type Outcome = { readonly ok: true; readonly json: string } | FailedOutcome;

export interface FailedOutcome {
  readonly ok: false;
  readonly error: ErrorBody;
  /** Set when the script was made to end, by its deadline or a cancel. */
  readonly stopped: boolean;
  /** Set when the engine cannot be used again: out of memory, or in a state that nobody knows. */
  readonly broken: boolean;
}

export interface CallMessage {
  readonly type: 'call';
  readonly run: number;
  readonly call: number;
  /** `module.method`; empty for a call that only waits until everything before it was taken. */
  readonly target: string;
  /** JSON text of an array. */
  readonly args: string;
  readonly site: CallSite;
}

export type ThreadMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'failed'; readonly error: ErrorBody }
  | CallMessage
  | { readonly type: 'event'; readonly event: SessionEvent }
  | { readonly type: 'done'; readonly run: number; readonly outcome: Outcome };
