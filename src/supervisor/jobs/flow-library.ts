import { FlowCatalog } from '../../agent-js/flows/flow-catalog.js';
import type { Clock } from '../../base/clock.js';
import type { Journal } from '../../journal/journal.js';
import type { SavedFlow } from '../../protocol/flow-tree.js';
import type { Stats, StatsQuery } from '../../protocol/stats.js';
import type { SharedFlows } from '../artifacts/index.js';
import type { Flows } from '../ports/flows.js';
import { flowStats } from './flow-stats.js';

/** The service's flows folder, and the statistics of its flows. */
export class FlowLibrary extends FlowCatalog implements Flows {
  readonly #journal: Journal;
  readonly #clock: Clock;

  readonly #shared: Pick<SharedFlows, 'publish'> | undefined;

  /** @param shared with several nodes: notified of each change */
  constructor(flowsDir: string, journal: Journal, clock: Clock, shared?: Pick<SharedFlows, 'publish'>) {
    super(flowsDir);
    this.#shared = shared;
    this.#journal = journal;
    this.#clock = clock;
  }

  override async save(path: string, text: string, check: (current: string | null) => void): Promise<SavedFlow> {
    const saved = await super.save(path, text, check);
    await this.#shared?.publish(saved.path);
    return saved;
  }

  stats(query: StatsQuery): Promise<Stats> {
    return flowStats(this.#journal, this.#clock, query);
  }
}
