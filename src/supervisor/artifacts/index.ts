// The door of this wing: whoever stands outside imports from here. What sessions leave on disk: files, reports, zips, flows of batches.
export { ArtifactKeeper } from './artifact-keeper.js';
export { BatchArtifacts } from './batch-artifacts.js';
export { flowsDirOf, removeBatchFlows, writeBatchFlows } from './batch-flows.js';
export { SessionArtifacts, type SessionNow } from './session-artifacts.js';
export { keepDownloads } from './session-files.js';
