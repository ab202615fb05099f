import type { StepKind } from '../protocol/events.js';

/** The position of a host call in the scripts. */
export interface CallSite {
  readonly kind: StepKind;
  /** The running flow's path; null in a plain script. */
  readonly flow: string | null;
  /** The run number of the innermost flow, which increases with each run; null in a plain script. */
  readonly flowRun: number | null;
  /** 1-based; null if the engine does not know it. */
  readonly line: number | null;
  readonly column: number | null;
}

/** What a host call knows about the script that made it. */
export interface HostCallContext {
  /** Aborted when the script is cancelled, its deadline passes, or its session ends. */
  readonly signal: AbortSignal;
  /** Milliseconds left until the script's own deadline; waits end 100 ms before it. */
  remainingMs(): number;
  /** Pauses the script's clock. The returned function resumes it and must be called. */
  pause(): () => void;
  readonly site: CallSite;
}

/**
 * One function offered to scripts. Arguments and result are JSON values; a thrown TroupeError keeps its code inside.
 */
export type HostCall = (args: readonly unknown[], context: HostCallContext) => Promise<unknown>;

/**
 * A capability offered to scripts. `prelude` is the text of a function expression, `(host, engine) => void`, run once
 * in a fresh context before any script. It defines the globals that scripts see; `host(method, ...args)` makes a
 * synchronous call to `calls[method]`. Scripts can reach neither `host` nor `engine` (their types are in
 * prelude/engine.ts). The sandbox deeply freezes what the prelude defined; the result of a call belongs to the script.
 * A prelude shares its context with scripts that may have replaced every built-in: see prelude/primordials.ts.
 */
export interface HostModule {
  readonly name: string;
  readonly prelude: string;
  readonly calls: { readonly [method: string]: HostCall };
  /** Methods that the prelude calls for itself: a flow that makes no other calls has done nothing. */
  readonly lookups?: readonly string[];
  /** Called when a script that made calls has ended well, with their signal. What it throws is the script's error. */
  readonly finished?: (signal: AbortSignal) => void;
}
