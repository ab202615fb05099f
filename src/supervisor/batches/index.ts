// The door of this wing: whoever stands outside imports from here. Batches: many jobs, one report.
export { BatchService, openGates } from './batch-service.js';
export { isRepeatedStop } from './repeated-stop.js';
