import type { AccessTokens } from '../auth/access-tokens.js';
import type { Journal } from '../journal/journal.js';
import type { ReportPool } from '../report/report-pool.js';
import type { ArtifactKeeper } from './artifacts/index.js';
import type { SessionDependencies } from './sessions/index.js';

/** What the supervisor is built from. */
export interface SupervisorParts extends SessionDependencies {
  readonly journal: Journal;
  readonly tokens: AccessTokens;
  readonly artifacts: ArtifactKeeper;
  readonly reports: ReportPool;
  readonly version: string;
  /** See `NodeWork`. */
  renewed?(state: { readonly doesChores: boolean }): void;
}
