import type { RunLine, RunOptions, ScopeValues } from '../../protocol/request-window.js';
import { follow } from './client.js';
import type { Running } from './form-tab.svelte.js';

export type RunFilter = 'all' | 'failed';

/** A run of a folder or the collection, with the results so far. */
export class RunTab {
  readonly kind = 'run';
  readonly id: string;
  readonly itemId: string;
  readonly name: string;
  running = $state.raw<Running | null>(null);
  results = $state.raw<readonly RunLine[]>([]);
  options = $state.raw<RunOptions>({ iterations: 1, stopAtFailure: false });
  filter = $state<RunFilter>('all');
  /** How the last run ended; null while none has. */
  end = $state.raw<{ readonly text: string; readonly bad: boolean } | null>(null);

  constructor(itemId: string, name: string) {
    this.id = `run:${itemId}`;
    this.itemId = itemId;
    this.name = name;
  }

  /** Idempotent. */
  cancel(): void {
    this.running?.stop.abort();
  }

  /** `onValues` receives the variables after the run. */
  async run(onValues: (values: ScopeValues) => void): Promise<void> {
    if (this.running !== null) return;
    const stop = new AbortController();
    this.running = { what: 'run', login: null, stop };
    this.results = [];
    this.end = null;
    // Results of fast servers arrive faster than they can be rendered.
    const fresh: RunLine[] = [];
    let drawn = 0;
    const draw = (): void => {
      drawn = 0;
      this.results = [...this.results, ...fresh.splice(0)];
    };
    try {
      for await (const line of follow(`items/${this.itemId}/run`, stop.signal, this.options)) {
        if (line.kind === 'login') this.running = { what: 'run', login: line.url, stop };
        else if (line.kind === 'failed') this.end = { text: line.error.error, bad: true };
        else if (line.kind === 'ran') onValues(line.values);
        else if (line.kind === 'result') {
          fresh.push(line.result);
          if (drawn === 0) drawn = requestAnimationFrame(draw);
        }
      }
    } catch (error) {
      this.end = stop.signal.aborted
        ? { text: 'Stopped', bad: false }
        : { text: error instanceof Error ? error.message : String(error), bad: true };
    } finally {
      cancelAnimationFrame(drawn);
      draw();
      this.running = null;
    }
  }
}
