import type { StepKind } from '../protocol/events.js';

/** Where in the scripts a host call was made. */
export interface CallSite {
  readonly kind: StepKind;
  /** The running flow's path, null in a plain script. */
  readonly flow: string | null;
  /** Of the innermost flow that runs: a later run has a higher number; null in a plain script. */
  readonly flowRun: number | null;
  /** 1-based; null where the engine did not say. */
  readonly line: number | null;
  readonly column: number | null;
}

/** What a host call may know of the script that made it. */
export interface HostCallContext {
  /** Aborted when the script is cancelled, its deadline passes, or its session ends. */
  readonly signal: AbortSignal;
  /** Milliseconds left until the script's own deadline; waits end 100 ms before it. */
  remainingMs(): number;
  /** Stops the script's clock; what it answers makes it go on, and must be called. */
  pause(): () => void;
  readonly site: CallSite;
}

/** One function offered to scripts. Arguments and result are JSON values; a thrown TroupeError keeps its code inside. */
export type HostCall = (args: readonly unknown[], context: HostCallContext) => Promise<unknown>;

/**
 * A capability offered to scripts. `prelude` is the text of a function expression, `(host, engine) => void`, run once in
 * a fresh context before any script: it defines the globals that scripts see, and `host(method, ...args)` makes a
 * synchronous call to `calls[method]`. Scripts cannot reach `host` itself, nor `engine` (the types of both are in
 * prelude/engine.ts). The sandbox freezes what the prelude defined, all the way down; what a call answers is the
 * script's own. A prelude runs beside scripts that may have replaced every built-in: see prelude/primordials.ts.
 */
export interface HostModule {
  readonly name: string;
  readonly prelude: string;
  readonly calls: { readonly [method: string]: HostCall };
}
