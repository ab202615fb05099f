import type { SuiteBatch, SuiteReport, SuiteRequest, SuiteTests } from '../../protocol/batches/suite.js';

/**
 * Runs of Playwright suites: the suite's own processes report what becomes of its tests. Calls reject with a TroupeError: an
 * unknown id is NOT_FOUND, another access token than that of the first call is FORBIDDEN.
 */
export interface Suites {
  /**
   * Makes the batch of a run, or returns the one that another process of the suite has made.
   * @param caller of the request, as `RouteRequest.caller`
   */
  begin(request: SuiteRequest, caller: string): Promise<SuiteBatch>;
  /** Stores what is reported; a report that is sent again changes nothing. CLAIM_LOST if the run was stopped. */
  report(batch: string, report: SuiteReport, caller: string): Promise<void>;
  tests(batch: string): Promise<SuiteTests>;
  /** The tests in the Common Test Report Format, as JSON. @param base the service's address as its client sees it */
  ctrf(batch: string, base: string): Promise<string>;
}
