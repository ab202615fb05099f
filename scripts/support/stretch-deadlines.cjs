// Required by test files and the processes that they start, through NODE_OPTIONS (deadline-factor.mjs): hands the factor of
// their limits to src/base/deadline.ts. As environment data it reaches every thread, also one without environment variables.
const { setEnvironmentData } = require('node:worker_threads');

setEnvironmentData('troupe.deadlineFactor', Number(process.env.TROUPE_TEST_DEADLINE_FACTOR));
