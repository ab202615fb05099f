/** The resource limits of one sandbox. Each stops the script that exceeds it and nothing else. */
export interface ScriptLimits {
  /** Of the engine's whole heap. Beyond it the script fails and the scope is lost. */
  readonly memoryBytes: number;
  /** Of the engine's own stack: about 3,000 plain calls. Beyond it scripts get a RangeError, which they can catch. */
  readonly stackBytes: number;
  /** UTF-16 units of the source of a script or flow. */
  readonly sourceLength: number;
  /** UTF-16 units of a result's JSON text, and of the arguments of one host call. */
  readonly resultLength: number;
  /** UTF-16 units of the answer to one host call. */
  readonly answerLength: number;
  /** Console lines of one script; further ones are omitted, with one note. */
  readonly consoleLines: number;
  /** UTF-16 units of all console text of one script; further text is omitted, too. */
  readonly consoleLength: number;
  /** Levels of flows that call flows. */
  readonly flowDepth: number;
  /** How long a cancelled script may take to end before its thread is terminated. */
  readonly graceMs: number;
  /** How long a thread may take to start. */
  readonly startMs: number;
}

/** 4 MiB of result are enough for the text of any ordinary page. */
export const DEFAULT_LIMITS: ScriptLimits = {
  memoryBytes: 128 * 1024 * 1024,
  stackBytes: 512 * 1024,
  sourceLength: 1024 * 1024,
  resultLength: 4 * 1024 * 1024,
  answerLength: 8 * 1024 * 1024,
  consoleLines: 1000,
  consoleLength: 256 * 1024,
  flowDepth: 20,
  graceMs: 250,
  startMs: 15_000,
};
