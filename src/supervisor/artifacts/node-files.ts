import type { ClusterNode } from '../../cluster/cluster-node.js';
import { CarriedFiles, type CarriedFilesParts } from './carried-files.js';
import { SharedFlows, type SharedFlowsParts } from './shared-flows.js';

/** What several nodes share of files; nothing if this service is alone. */
export function nodeFiles(
  parts: CarriedFilesParts & SharedFlowsParts & { readonly cluster?: ClusterNode | undefined },
): { readonly carried?: CarriedFiles; readonly shared?: SharedFlows } {
  return parts.cluster === undefined ? {} : { carried: new CarriedFiles(parts), shared: new SharedFlows(parts) };
}
