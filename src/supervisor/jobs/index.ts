// The door of this wing: whoever stands outside imports from here. Jobs: accepted, queued, admitted, tried.
export { FlowLibrary } from './flow-library.js';
export { JobScheduler, type ResumableSession } from './job-scheduler.js';
export { modelInfos } from './model-infos.js';
export { assertWebhook, flowFileCheck } from './request-check.js';
export { isRetried as beginsAgain, retriesLeft } from './retry.js';
export type { SubmissionKey } from './submissions.js';
