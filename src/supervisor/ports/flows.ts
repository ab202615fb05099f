import type { FlowEntry } from '../../agent-js/flows/flow-catalog.js';
import type { FlowNode, SavedFlow } from '../../protocol/flow-tree.js';
import type { FlowCommits, FlowCommitsQuery, Stats, StatsQuery } from '../../protocol/stats.js';

/** The flows folder, and the statistics of its flows. */
export interface Flows {
  /** The flows that scripts can run. */
  list(signal: AbortSignal): Promise<readonly FlowEntry[]>;
  /** The contents of the flows folder. */
  tree(signal: AbortSignal): Promise<readonly FlowNode[]>;
  /** The text of a flow or task file, by its path in the flows folder. */
  source(path: string): Promise<string>;
  /**
   * Replaces or creates a flow or task file, unless `check` throws. INVALID_REQUEST for a path that is refused.
   * @param check gets the present text; null if there is no such file
   */
  save(path: string, text: string, check: (current: string | null) => void): Promise<SavedFlow>;
  /** Statistics of flows over time. */
  stats(query: StatsQuery): Promise<Stats>;
  /** How a flow did with each commit. */
  commits(query: FlowCommitsQuery): Promise<FlowCommits>;
}
