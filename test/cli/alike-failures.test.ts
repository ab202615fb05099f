import { PassThrough } from 'node:stream';
import t from 'tap';
import { RunProgress } from '#troupe/cli/run/run-progress.js';
import { describeSuite, type SuiteFailures } from '#troupe/cli/why-suite.js';
import { alikeLine, failureKey, groupAlike } from '#troupe/protocol/report/alike-failures.js';
import type { Failure } from '#troupe/protocol/report/failure.js';
import { annotationsOf } from '#troupe/report/suite/github.js';
import { FAILURE, flowResult, sampleSuite } from '../report/suite/suite-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const BASE: Failure = {
  code: 'ACTION_FAILED',
  message: 'http://127.0.0.1:3000/ did not answer',
  flow: 'shop/buy',
  line: 2,
  frame: '  1 | () => {\n> 2 |   agent.go(args.base);\n    |         ^\n  3 | }',
};

t.test('Failures are alike by what they say, and not by what varies', async (t) => {
  const alike: { readonly [how: string]: Partial<Failure> } = {
    'another port': { message: 'http://127.0.0.1:41873/ did not answer' },
    // The same helper line, further down in a longer file.
    'another line number': { line: 40, frame: '> 40 | agent.go(args.base);' },
    'another flow': { flow: 'shop/pay' },
    'another page, title and time': {
      url: 'http://127.0.0.1/x',
      title: 'x',
      waitedMs: 7,
      screenshot: 'screenshots/x.png',
    },
  };
  for (const [how, change] of Object.entries(alike)) t.equal(failureKey({ ...BASE, ...change }), failureKey(BASE), how);
  const other: { readonly [how: string]: Partial<Failure> } = {
    'another code': { code: 'MATCH_FAILED' },
    'another host': { message: 'http://shop.test:3000/ did not answer' },
    'the text of another line': { frame: "> 2 |   agent.go('/login');" },
    'no line that is known': { frame: undefined },
  };
  for (const [how, change] of Object.entries(other)) t.not(failureKey({ ...BASE, ...change }), failureKey(BASE), how);

  const said = (message: string, flow = 'a') => failureKey({ code: 'X', message, flow });
  t.equal(
    said('job 0194b0a1-7c3e-7a5b-9f10-a1b2c3d4e5f6 is gone'),
    said('job ffffffff-aaaa-bbbb-cccc-dddddddddddd is gone'),
  );
  t.equal(said('commit 1a2b3c4d5e6f'), said('commit deadbeef0000'));
  t.not(said('a decade'), said('a facade'), 'words of hex digits are words');
  t.equal(said("flow 'shop/buy' returned", 'shop/buy'), said("flow 'home' returned", 'home'));
  t.equal(said('home.js returned', 'home'), said('shop/buy.js returned', 'shop/buy'));
  t.equal(said('a cat', 'a'), said('a cat', 'b'), 'a name of one letter is no part of the text');
  // Without a source there is only the number of the line.
  t.not(failureKey({ code: 'X', message: 'm', line: 3 }), failureKey({ code: 'X', message: 'm', line: 4 }));
});

t.test('Groups are in the order of their first, and what has no key is alone', async (t) => {
  const groups = groupAlike([1, 2, 3, 4, 5, 6], (n) => (n > 4 ? null : String(n % 2)));
  t.same(groups, [[1, 3], [2, 4], [5], [6]]);
  t.same(
    groupAlike([], () => 'x'),
    [],
  );
  t.equal(alikeLine([], 'flow'), null);
  t.equal(alikeLine(['a'], 'test'), 'and 1 more test failed in the same way: a');
  const many = Array.from({ length: 60 }, (_, n) => `f${n}`);
  t.match(alikeLine(many, 'flow'), /^and 60 more flows failed in the same way: f0, .*, f49, …$/);
});

t.test('A run tells one of sixty equal failures, and each line and annotation stays', async (t) => {
  const failed = (n: number, message = `http://127.0.0.1:${3000 + n}/ did not answer`) =>
    flowResult(`shop/f${n}`, {
      outcome: 'failed',
      failure: { ...BASE, message, flow: `shop/f${n}` },
      again: `troupe run shop/f${n}.js`,
    });
  const flows = [
    ...Array.from({ length: 60 }, (_, n) => failed(n)),
    failed(60, 'The certificate is wrong'),
    // Quarantined: it does not fail the run, and is listed apart.
    { ...failed(61), quarantine: { until: '2026-12-31', ticket: 'SHOP-7' } },
    // No reason is known: it is alone, though two are so.
    flowResult('lost-1', { outcome: 'failed', failure: null }),
    flowResult('lost-2', { outcome: 'failed', failure: null }),
  ];
  const suite = sampleSuite(flows);
  const out = new PassThrough();
  const progress = new RunProgress(Object.assign(out, { isTTY: false }) as never, {
    total: flows.length,
    colours: false,
  });
  progress.summary(suite, []);
  const text = String(out.read());
  const [failures = ''] = text.split('Quarantined');
  t.equal(failures.match(/did not answer/g)?.length, 1);
  t.match(
    failures,
    /\n {2}1\) shop\/f0 .*and 59 more flows failed in the same way: shop\/f1, shop\/f2, .*, shop\/f50, …\n/s,
  );
  t.match(failures, /\n {2}2\) shop\/f60 .*certificate is wrong/s);
  t.match(failures, /\n {2}3\) lost-1 .*\n {2}4\) lost-2 /s);
  t.notMatch(failures, 'shop/f61');
  t.match(text, /Quarantined[^\n]*\n {2}shop\/f61/);
  const annotations = annotationsOf(suite, (file) => file).filter((line) => line.startsWith('::error '));
  t.equal(new Set(annotations).size, 10, 'GitHub shows ten of a step, one for each flow');
});

t.test('`troupe why` of a suite tells one of the tests that failed alike in all of their attempts', async (t) => {
  const test = (
    name: string,
    messages: readonly string[],
    state: SuiteFailures['tests'][number]['state'] = 'failed',
  ) => ({
    name,
    state,
    flaky: false,
    text: 'Failed',
    failures: messages.map((message, at) => ({ attempt: at + 1, sessionId: null, failure: { ...FAILURE, message } })),
  });
  const tests = [
    test('a', ['x 1', 'y']),
    test('b', ['x 2', 'y']),
    test('c', ['x 3', 'z']),
    test('d', [], 'not run'),
    test('e', [], 'not run'),
  ];
  const text = describeSuite({ runId: 'r', counts: {}, tests });
  t.match(text, /\n\na: Failed\n.*and 1 more test failed in the same way: b\n\nc: Failed\n/s);
  t.notMatch(text, 'x 2');
  t.match(text, /\n\nd: Failed\n\ne: Failed\n/);
});
