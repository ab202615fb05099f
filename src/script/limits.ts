/** What one sandbox may use. Every number is a bound that stops the script at fault and nothing else. */
export interface ScriptLimits {
  /** Of the engine's whole heap. Past it the script fails and the scope is lost. */
  readonly memoryBytes: number;
  /** Of the engine's own stack: about 3,000 plain calls. Past it a RangeError that scripts can catch. */
  readonly stackBytes: number;
  /** UTF-16 units of a source, script or flow. */
  readonly sourceLength: number;
  /** UTF-16 units of a result's JSON text, and of the arguments of one host call. */
  readonly resultLength: number;
  /** UTF-16 units of what one host call answers. */
  readonly answerLength: number;
  /** Console lines of one script; what comes after them is left out, and said once. */
  readonly consoleLines: number;
  /** UTF-16 units of all console text of one script; as above. */
  readonly consoleLength: number;
  /** How deep flows may call flows. */
  readonly flowDepth: number;
  /** How long a cancelled script may take to notice before its thread is ended. */
  readonly graceMs: number;
  /** How long a thread may take to start. */
  readonly startMs: number;
}

/** 4 MiB of result lets the text of any ordinary page through. */
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
