import type { SuiteResult } from './suite-result.js';
export function* renderIndexHtml(suite: SuiteResult, _link: (path: string) => string): Generator<string> {
  yield suite.name;
}
