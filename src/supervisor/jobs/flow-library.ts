import { type FlowEntry, flowCatalog } from '../../agent-js/flows/flow-catalog.js';
import { FlowShelf } from '../../agent-js/flows/flow-shelf.js';
import type { Clock } from '../../base/clock.js';
import type { Journal } from '../../journal/journal.js';
import type { FlowNode } from '../../protocol/flow-tree.js';
import type { Stats, StatsQuery } from '../../protocol/stats.js';
import type { Flows } from '../ports/flows.js';
import { flowStats } from './flow-stats.js';

/** The service's flows folder, and how its flows went. */
export class FlowLibrary implements Flows {
  readonly #flowsDir: string;
  readonly #shelf: FlowShelf;
  readonly #journal: Journal;
  readonly #clock: Clock;

  constructor(flowsDir: string, journal: Journal, clock: Clock) {
    this.#flowsDir = flowsDir;
    this.#shelf = new FlowShelf(flowsDir);
    this.#journal = journal;
    this.#clock = clock;
  }

  catalog(signal: AbortSignal): Promise<readonly FlowEntry[]> {
    return flowCatalog(this.#flowsDir, signal);
  }

  tree(signal: AbortSignal): Promise<readonly FlowNode[]> {
    return this.#shelf.tree(signal);
  }

  source(path: string): Promise<string> {
    return this.#shelf.source(path);
  }

  stats(query: StatsQuery): Promise<Stats> {
    return flowStats(this.#journal, this.#clock, query);
  }
}
