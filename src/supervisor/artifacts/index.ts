// The public interface of this wing: other wings import only from here. Sessions' files on disk: files, reports, zips,
// flows of batches.
export { ArtifactKeeper } from './artifact-keeper.js';
export { BatchArtifacts } from './batch-artifacts.js';
export { flowsDirOf, removeBatchFlows, requestsDirOf, writeBatchFlows } from './batch-flows.js';
export type { CarriedFiles } from './carried-files.js';
export { nodeFiles } from './node-files.js';
export { SessionArtifacts, type SessionNow } from './session-artifacts.js';
export { SessionBaselines } from './session-baselines.js';
export { keepDownloads } from './session-files.js';
export { batchFlowsRow, SharedBatchFlows } from './shared-batch-flows.js';
export type { SharedFlows } from './shared-flows.js';
