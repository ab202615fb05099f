import type { RunLine } from './request-window.js';

/** A run of a folder or a collection since the window was opened. */
export interface RunSummary {
  readonly id: string;
  /** The folder, or the collection. */
  readonly itemId: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Requests that were sent so far. */
  readonly sent: number;
  readonly failed: number;
  readonly durationMs: number;
  readonly iterations: number;
}

export interface RunView extends RunSummary {
  readonly lines: readonly RunLine[];
}
