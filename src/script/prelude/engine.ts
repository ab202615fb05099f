import type { ErrorCode, ErrorDetails } from '../../protocol/errors.js';

/** A synchronous call to `calls[method]` of its module. Throws what the call rejects with. */
export type Host = (method: string, ...args: unknown[]) => unknown;

/** Offered by the sandbox to the prelude of a host module. Scripts cannot reach it. */
export interface Engine {
  /**
   * Runs the source of a flow in this context, with its events, and returns its value, awaited. `path` names it in
   * errors, `file` in events. Flows nest; too deep is SCRIPT_ERROR.
   */
  runFlow(path: string, source: string, args: unknown, code?: string, fault?: string, file?: string): unknown;
  /**
   * `work` is called when a script has nothing left to run, or awaits something that no job will settle. It returns
   * whether it did something that may have created jobs, and must not throw.
   */
  onIdle(work: () => boolean): void;
  /**
   * Defines a global whose value is made when a script first reads it. Scripts may declare the name themselves, and then
   * have their own.
   */
  defineLazy(name: string, make: () => unknown): void;
  /** Throws an error that leaves the sandbox with its code, if the script does not catch it. */
  fail(code: ErrorCode, message: string, details?: ErrorDetails): never;
  /**
   * For a call that does nothing until another one follows: unless the returned function is called, the flow or script
   * fails at its end with this SCRIPT_ERROR, at the place of the first call.
   */
  owe(message: string): () => void;
  /** The value of a promise once it is settled, or throws its reason; any other value as it is. */
  settle(value: unknown): unknown;
  /** The innermost flow counts as skipped, unless it fails. */
  skipFlow(): void;
  /** Names the Playwright test that an error was thrown in: `test` in its details. */
  noteTest(error: unknown, title: string): void;
}

/** Offered by the thread to the engine. Texts are JSON unless stated otherwise. */
export interface RawHost {
  /** `target` is `module.method`; the result is an {@link Answer}. */
  call(target: string, args: string, stack: string): string;
  /** Sends a ConsoleWritten event without waiting; its position is the first line of the script in the stack. */
  wrote(level: string, text: string, stack: string): void;
  /** Sends an AssertionChecked event in the same way; `data` is its data without the position. */
  checked(data: string, stack: string): void;
  /**
   * A flow's function of `args`, or the text of an error body if its source does not parse. `code` is the source as
   * JavaScript; `fault` is empty, or the text of an error body if there is none.
   */
  compile(path: string, source: string, code: string, fault: string): unknown;
  /** The value of a promise once it is settled, or throws its reason; any other value as it is. */
  settle(value: unknown): unknown;
  /** Runs the jobs that promises have left. */
  runJobs(): void;
  /** The new depth; 0 if that would be too deep. `file` is empty if the flow has none. */
  enterFlow(path: string, file: string): number;
  /** The innermost flow counts as skipped, unless it fails. */
  skipFlow(): void;
  /** Why the innermost flow fails although it threw nothing, as message and details; empty if it does not. `type` is that of its
   * value. */
  flowFault(type: string): string;
  /** `error` is empty, or a {@link Description}. */
  leaveFlow(error: string): void;
  /** Paths of the running flows, outermost first. */
  flows(): string;
}

/** How a host call ended. */
export type Answer =
  | { readonly ok: true; readonly value?: unknown }
  | { readonly ok: false; readonly error: string; readonly code: ErrorCode; readonly details?: ErrorDetails };

/** Offered by the engine to the thread. */
export interface Core {
  /** Runs a module's prelude and seals the globals that it defined. */
  addModule(name: string, install: unknown): void;
  /** JSON text of a script's value. Throws what the script {@link Engine.owe}s. */
  result(value: unknown): string;
  /** A thrown value as JSON text of a {@link Description}. */
  describe(thrown: unknown): string;
  /** Forgets what a script that failed left behind. */
  begin(): void;
  /** Lets a module work while no job is left; false if it had nothing to do, undefined if there is no such module. */
  idle(): boolean | undefined;
  /** The functions that edited sources call. */
  readonly step: object;
}

export interface Description {
  readonly message: string;
  /** The code of the host call or match that threw it; null for an error of the script itself. */
  readonly code: ErrorCode | null;
  readonly details: ErrorDetails;
  readonly stack: string;
  /** The engine threw it because its memory is used up. */
  readonly isOutOfMemory: boolean;
  /** The flows that it was thrown through, outermost first; null for none. */
  readonly flows: readonly string[] | null;
}

/** Fixed for the life of a sandbox; passed to the engine as JSON text. */
export interface EngineSettings {
  readonly resultLength: number;
  readonly flowDepth: number;
  readonly args?: unknown;
}
