// The public interface of this wing: other wings import only from here. Batches: many jobs, one report.
export { BatchService, openGates } from './batch-service.js';
export { isRepeatedStop } from './repeated-stop.js';
