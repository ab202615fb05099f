export * from '@playwright/test';
export { expect } from '@playwright/test';
export type { TroupeOptions } from './farm.js';
export { type TroupeTestArgs, type TroupeWorkerArgs, test } from './fixtures.js';
