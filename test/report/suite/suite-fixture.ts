import type { Failure } from '#troupe/protocol/report/failure.js';
import type { FlowResult, SuiteResult } from '#troupe/report/suite/suite-result.js';

/** Text that must not become markup, a workflow command, or an attribute. */
export const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(2)</script>\n::error::</pre>%0A]]> \u202e\u0000 javascript:alert(3)`;

/** A failure with every field. */
export const FAILURE: Failure = {
  code: 'LOCATOR_NOT_FOUND',
  message: 'No visible element matches {button}Pay now. Did you mean {button}Pay?',
  flow: 'shop/pay',
  file: 'flows/shop/pay.js',
  line: 5,
  column: 9,
  frame:
    '  3 |   agent.go(base);\n  4 |   // Pay.\n> 5 |   agent.act("{button}Pay now", "click");\n    |         ^\n  6 | };',
  locator: '{button}Pay now',
  expected: 'Thank you',
  received: 'Your cart is empty',
  differences: [{ path: '$.total', message: 'expected 12, got 13' }],
  nearMisses: ['{button}Pay', '{button}Play now', '{link}Pay later'],
  console: [{ text: 'TypeError: cart is undefined', url: 'http://127.0.0.1:4500/cart.js' }],
  requests: [{ method: 'POST', url: 'http://127.0.0.1:4500/api/pay', status: 500 }],
  step: {
    index: 7,
    js: 'agent.act("{button}Pay now", "click")',
    url: 'http://127.0.0.1:4500/cart',
    title: 'Cart',
  },
  url: 'http://127.0.0.1:4500/cart',
  title: 'Cart',
  screenshot: 'screenshots/0007.png',
};

/** A flow that passed, unless `changes` say otherwise. */
export function flowResult(name: string, changes: Partial<FlowResult> = {}): FlowResult {
  return {
    name,
    file: `flows/${name}.js`,
    tags: [],
    outcome: 'passed',
    failure: null,
    notRun: null,
    attempts: 1,
    earlier: [],
    quarantine: null,
    startedAt: '2026-01-02T03:04:05.000Z',
    durationMs: 1234.5,
    queuedMs: 0,
    pausedMs: 0,
    sessionId: 'abcdefghijkl',
    report: `reports/${name}/report.html`,
    picture: null,
    history: null,
    again: null,
    ...changes,
  };
}

/** A run with a flow of each outcome, in file order. */
export function sampleSuite(flows: readonly FlowResult[] = sampleFlows()): SuiteResult {
  return {
    name: 'nightly',
    version: '0.1.0',
    startedAt: '2026-01-02T03:04:05.000Z',
    endedAt: '2026-01-02T03:05:05.000Z',
    labels: { commit: '1234567890abcdef1234567890abcdef12345678', branch: 'main' },
    build: {
      name: 'GitHub Actions',
      commit: '1234567890abcdef1234567890abcdef12345678',
      branch: 'main',
      repository: 'acme/shop',
      buildUrl: 'https://github.com/acme/shop/actions/runs/42',
      buildNumber: 42,
    },
    flows,
  };
}

export function sampleFlows(): readonly FlowResult[] {
  const earlier = [{ attempt: 1, failure: { code: 'MATCH_FAILED', message: '$ expected "good", got "bad"' } as const }];
  return [
    flowResult('login', { tags: ['@smoke'] }),
    flowResult('shop/coupon', {
      outcome: 'failed',
      failure: FAILURE,
      quarantine: { until: '2026-02-01', ticket: 'SHOP-7' },
    }),
    flowResult('shop/pay', {
      outcome: 'failed',
      tags: ['@smoke', '@checkout'],
      failure: FAILURE,
      earlier,
      picture: 'reports/shop/pay/screenshots/0007.png',
      history: { isNew: true, commit: 'abcdef0123456789abcdef0123456789abcdef01' },
      again: 'troupe run flows/shop/pay.js',
    }),
    flowResult('shop/search', { earlier }),
    flowResult('shop.v2/refund', {
      outcome: 'stopped',
      notRun: 'it was not started: the run was cancelled',
      startedAt: null,
      durationMs: 0,
      sessionId: null,
      report: null,
    }),
  ];
}
