import type { ErrorCode, ErrorDetails } from '../../protocol/errors.js';

/** A synchronous call to `calls[method]` of the module that got it. Throws what the call rejects with. */
export type Host = (method: string, ...args: unknown[]) => unknown;

/** What the sandbox offers to the prelude of a host module. Scripts cannot reach it. */
export interface Engine {
  /**
   * Runs the source of a flow in this context, with its events, and answers its value, awaited. `path` names it in
   * errors. Flows nest; too deep is SCRIPT_ERROR.
   */
  runFlow(path: string, source: string, args: unknown): unknown;
  /** Throws an error that leaves the sandbox with its code, when the script does not catch it. */
  fail(code: ErrorCode, message: string, details?: ErrorDetails): never;
}

/** What the thread offers to the engine. Texts are JSON where nothing else is said. */
export interface RawHost {
  /** `target` is `module.method`; the answer is an {@link Answer}. */
  call(target: string, args: string, stack: string): string;
  /** Sends a ConsoleWritten event, without waiting; its place is the first line of the script in the stack. */
  wrote(level: string, text: string, stack: string): void;
  /** Sends an AssertionChecked event in the same way; `data` is its data without the place. */
  checked(data: string, stack: string): void;
  /** A flow's function of `args`, or the text of an error body when its source does not parse. */
  compile(path: string, source: string): unknown;
  /** A promise's value once it is settled, or throws its reason; any other value as it is. */
  settle(value: unknown): unknown;
  /** The new depth, 0 when it would be too deep. */
  enterFlow(path: string): number;
  /** `error` is empty, or a {@link Description}. */
  leaveFlow(error: string): void;
  /** Paths of the running flows, outermost first. */
  flows(): string;
}

/** How a host call ended. */
export type Answer =
  | { readonly ok: true; readonly value?: unknown }
  | { readonly ok: false; readonly error: string; readonly code: ErrorCode; readonly details?: ErrorDetails };

/** What the engine gives to the thread. */
export interface Core {
  /** Runs a module's prelude and seals the globals that it defined. */
  addModule(name: string, install: unknown): void;
  /** JSON text of a script's value. */
  result(value: unknown): string;
  /** A thrown value as JSON text of a {@link Description}. */
  describe(thrown: unknown): string;
  /** What edited sources call. */
  readonly step: object;
}

export interface Description {
  readonly message: string;
  /** Of the host call or match that threw it; null for an error of the script's own. */
  readonly code: ErrorCode | null;
  readonly details: ErrorDetails;
  readonly stack: string;
  /** Flows that it came out of, outermost first; null where it came out of none. */
  readonly flows: readonly string[] | null;
}

/** Fixed for the life of a sandbox; handed to the engine as JSON text. */
export interface EngineSettings {
  readonly resultLength: number;
  readonly flowDepth: number;
  readonly args?: unknown;
}
