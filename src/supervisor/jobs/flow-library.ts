import { FlowCatalog } from '../../agent-js/flows/flow-catalog.js';
import type { Clock } from '../../base/clock.js';
import type { Journal } from '../../journal/journal.js';
import type { Stats, StatsQuery } from '../../protocol/stats.js';
import type { Flows } from '../ports/flows.js';
import { flowStats } from './flow-stats.js';

/** The service's flows folder, and the statistics of its flows. */
export class FlowLibrary extends FlowCatalog implements Flows {
  readonly #journal: Journal;
  readonly #clock: Clock;

  constructor(flowsDir: string, journal: Journal, clock: Clock) {
    super(flowsDir);
    this.#journal = journal;
    this.#clock = clock;
  }

  stats(query: StatsQuery): Promise<Stats> {
    return flowStats(this.#journal, this.#clock, query);
  }
}
