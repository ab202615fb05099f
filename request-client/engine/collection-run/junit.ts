import { type CaseResult, type TestCase, writeJUnit } from '#troupe/report/junit-writer.js';
import type { RequestResult } from './result.js';

/** A test case for each test; one for the request itself if it has no tests or failed. No bodies are kept. */
export function junitCases(collection: string, { path, request, tests, error, durationMs }: RequestResult): TestCase[] {
  const caseOf = (name: string, result: CaseResult, ms = 0): TestCase => ({
    name,
    classname: [collection, ...path].join(' / '),
    durationMs: ms,
    result,
    earlier: [],
    output: [],
  });
  const own =
    tests.length > 0 && error === null
      ? []
      : [
          caseOf(
            request.name,
            // It got no answer, or a script failed, which no test reports.
            error === null ? PASSED : { outcome: 'error', type: error.code, message: error.error, text: '' },
            durationMs,
          ),
        ];
  return [
    ...own,
    ...tests.map(({ name, status, message }, index) => {
      const result: CaseResult =
        status === 'passed'
          ? PASSED
          : status === 'skipped'
            ? { outcome: 'skipped', message: 'Skipped' }
            : { outcome: 'failure', type: 'MATCH_FAILED', message: message || 'failed', text: '' };
      return caseOf(name, result, index === 0 && own.length === 0 ? durationMs : 0);
    }),
  ];
}

const PASSED: CaseResult = { outcome: 'passed' };

/** The `junit.xml` of a run, for CI servers. @param startedAt ISO 8601 */
export function collectionJUnit(collection: string, startedAt: string, cases: readonly TestCase[]): string {
  const durationMs = cases.reduce((sum, one) => sum + one.durationMs, 0);
  return writeJUnit([{ name: collection, id: 'collection', durationMs, startedAt, properties: [], cases }], durationMs);
}
