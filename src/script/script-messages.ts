import type { MessagePort } from 'node:worker_threads';
import type { ErrorBody } from '../protocol/errors.js';
import type { SessionEvent, StepKind } from '../protocol/events.js';
import type { CallSite } from './host-module.js';
import type { ScriptLimits } from './limits.js';

/**
 * The messages between a sandbox's handle and its thread. The thread sleeps on WAKE while it waits for a run message or
 * an answer, and reads both from a port of its own; its event loop does not turn.
 *
 *     handle                                thread
 *       | -- RunMessage, WAKE + 1 ---------> |  reads its port, runs the script
 *       | <------------------- CallMessage - |  Atomics.wait on WAKE
 *       | -- AnswerMessage, WAKE + 1 ------> |  reads its port, continues
 *       | <------------------ EventMessage - |  (no wait)
 *       | -- CANCEL = run, WAKE + 1 -------> |  the interrupt handler sees it
 *       | -- PAUSED = ms, WAKE + 1 --------> |  the deadline moves by this time
 *       | <------------------- DoneMessage - |
 */

/** Cells of the shared Int32Array. */
export const CONTROL = {
  /** The number of the cancelled run, 0 for none. Numbers are not reused, so a late cancel has no effect. */
  CANCEL: 0,
  /** Incremented for everything that a sleeping thread must look at. */
  WAKE: 1,
  /** Milliseconds that the run's clock was paused; 2^31 - 1 while it is. Reset before each run. */
  PAUSED: 2,
  LENGTH: 3,
} as const;

export interface ModuleBoot {
  readonly name: string;
  readonly prelude: string;
  /** See `HostModule`. */
  readonly lookups: readonly string[];
}

/** The thread's workerData. */
export interface ThreadBoot {
  readonly wasm: WebAssembly.Module;
  readonly control: Int32Array;
  /** Receives run messages and answers. */
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
  /** The script was stopped, by its deadline or a cancel. */
  readonly stopped: boolean;
  /** The engine cannot be used again: it is out of memory, or in an unknown state. */
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
