import { TroupeError } from '../../../protocol/errors.js';
import type { RunLine } from '../../../protocol/requests/request-window.js';
import type { RunSummary, RunView } from '../../../protocol/requests/runs.js';

/** Beyond these the oldest runs are removed. */
const MAX_RUNS = 50;
const MAX_LINES = 50_000;

interface Run {
  readonly id: string;
  readonly itemId: string;
  readonly name: string;
  readonly at: number;
  readonly lines: RunLine[];
}

/** The runs since the window was opened, newest first. Their requests are not in the history. */
export class Runs {
  #runs: Run[] = [];
  #count = 0;

  /** @param at milliseconds since 1970 @returns what takes the results of the new run */
  begin(itemId: string, name: string, at: number): (line: RunLine) => void {
    this.#count += 1;
    const run: Run = { id: `run${this.#count}`, itemId, name, at, lines: [] };
    this.#runs.unshift(run);
    return (line) => {
      run.lines.push(line);
      this.#trim();
    };
  }

  get list(): RunSummary[] {
    return this.#runs.filter(({ lines }) => lines.length > 0).map(summary);
  }

  /** @throws NOT_FOUND */
  find(id: string): RunView {
    const run = this.#runs.find((one) => one.id === id);
    if (run === undefined) throw new TroupeError('NOT_FOUND', 'This run is no longer kept');
    return { ...summary(run), lines: run.lines };
  }

  clear(): void {
    this.#runs = [];
  }

  #trim(): void {
    let lines = 0;
    const kept = this.#runs.findIndex((run, index) => {
      lines += run.lines.length;
      return index > 0 && (index >= MAX_RUNS || lines > MAX_LINES);
    });
    if (kept !== -1) this.#runs.splice(kept);
  }
}

function summary({ id, itemId, name, at, lines }: Run): RunSummary {
  return {
    id,
    itemId,
    name,
    at,
    sent: lines.length,
    failed: lines.filter(({ passed }) => !passed).length,
    durationMs: lines.reduce((sum, { durationMs }) => sum + durationMs, 0),
    iterations: lines.at(-1)?.iteration ?? 0,
  };
}
