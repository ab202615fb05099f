// The public interface of this wing: other wings import only from here. Sessions' files on disk: files, reports, zips,
// flows of batches.
export { ArtifactKeeper } from './artifact-keeper.js';
export { BatchArtifacts } from './batch-artifacts.js';
export { flowsDirOf, removeBatchFlows, writeBatchFlows } from './batch-flows.js';
export { SessionArtifacts, type SessionNow } from './session-artifacts.js';
export { SessionBaselines } from './session-baselines.js';
export { keepDownloads } from './session-files.js';
