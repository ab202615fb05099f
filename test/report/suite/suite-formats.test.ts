import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { validate } from 'ctrf';
import t from 'tap';
import { plainText } from '#troupe/base/plain-text.js';
import { RunProgress } from '#troupe/cli/run/run-progress.js';
import type { TestAttempt, TestState } from '#troupe/protocol/batches/suite.js';
import type { SessionRecord } from '#troupe/protocol/session.js';
import { renderCtrf } from '#troupe/report/suite/ctrf.js';
import { annotationsOf, renderJobSummary } from '#troupe/report/suite/github.js';
import { renderIndexHtml } from '#troupe/report/suite/index-html.js';
import { renderSuiteJUnit } from '#troupe/report/suite/suite-junit.js';
import { suiteTestResult } from '#troupe/report/suite/suite-test.js';
import { textDifference } from '#troupe/report/suite/text-difference.js';
import { junitFaults } from '../../support/junit-shape.js';
import { guardLeaks } from '../../support/leaks.js';
import { FAILURE, flowResult, HOSTILE, sampleSuite } from './suite-fixture.js';

guardLeaks(t);

const ID = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
const hostile = { ...FAILURE, message: HOSTILE, frame: HOSTILE, file: `flows/${HOSTILE}.js`, expected: HOSTILE };
const suiteTest = (state: TestState, ...statuses: readonly TestAttempt['status'][]) => {
  const about = { id: state, suite: HOSTILE, titlePath: [HOSTILE, state], project: HOSTILE, repeat: 1, file: HOSTILE };
  const startedAt = '2026-01-02T03:04:05.000Z';
  const attempts = statuses.map((status, index): TestAttempt => {
    const failure = status === 'failed' ? hostile : null;
    const common = { expectedStatus: 'passed', startedAt, durationMs: 5, sessionId: null, failure } as const;
    return { attempt: index + 1, status, ...common };
  });
  const test = { ...about, line: 3, column: 1, tags: [HOSTILE], reason: HOSTILE, name: HOSTILE, state, attempts };
  return suiteTestResult({ ...test, flaky: attempts.length > 1 && state === 'completed' }, 'http://127.0.0.1');
};
const suiteTests = [
  suiteTest('completed', 'passed'),
  suiteTest('completed', 'failed', 'passed'),
  suiteTest('failed', 'failed', 'failed', 'skipped'),
  suiteTest('skipped', 'skipped'),
  suiteTest('not run', 'skipped'),
  suiteTest('stopped', 'interrupted'),
];
const suites = {
  'of Playwright tests': sampleSuite(suiteTests),
  'of every outcome': sampleSuite(),
  'without flows': sampleSuite([]),
  'outside of CI': { ...sampleSuite(), build: null, labels: {} },
  'with hostile texts': {
    ...sampleSuite([flowResult(HOSTILE, { outcome: 'failed', failure: hostile, tags: [HOSTILE], again: HOSTILE })]),
    name: HOSTILE,
    labels: { [HOSTILE]: HOSTILE },
  },
} as const;

t.test('CTRF files are valid by the published schema', async (t) => {
  for (const [name, suite] of Object.entries(suites)) {
    const { errors } = validate(JSON.parse(renderCtrf(suite, ID)));
    t.same(errors ?? [], [], name);
  }
});

t.test('Tests of Playwright that were not run are neither passed nor skipped', async (t) => {
  const { results } = JSON.parse(renderCtrf(sampleSuite(suiteTests), ID));
  t.match(results.summary, { tests: 6, passed: 2, failed: 1, skipped: 1, other: 2, flaky: 1 });
  t.match(results.tests[4], { status: 'other', rawStatus: 'not run' });
  t.match(results.tests[2].retryAttempts, { length: 1 });
  t.match(renderSuiteJUnit(sampleSuite(suiteTests)), '<testsuites name="troupe" tests="6" failures="1" errors="2"');
});

t.test('CTRF tells flaky and quarantined flows from passed and failed ones', async (t) => {
  const { results } = JSON.parse(renderCtrf(sampleSuite(), ID));
  t.match(results.summary, { tests: 5, passed: 2, failed: 1, skipped: 0, other: 2, flaky: 1, duration: 60_000 });
  t.match(results.tests, [
    { name: 'login', status: 'passed', flaky: false, retries: 0 },
    { name: 'shop/coupon', status: 'other', rawStatus: 'quarantined', labels: { ticket: 'SHOP-7' } },
    {
      name: 'shop/pay',
      status: 'failed',
      suite: ['shop'],
      tags: ['@smoke', '@checkout'],
      filePath: 'flows/shop/pay.js',
      line: 5,
      snippet: FAILURE.frame,
      stderr: [
        'Similar on the page:',
        '  {button}Play now',
        '  {link}Pay later',
        'Page errors:',
        '  TypeError: cart is undefined',
        'Failed requests:',
        '  POST http://127.0.0.1:4500/api/pay 500',
        'Step 7: agent.act("{button}Pay now", "click")',
      ],
      trace: /\n {4}at flows\/shop\/pay\.js:5:9$/,
      retryAttempts: [{ attempt: 1, status: 'failed' }],
      attachments: [{ path: 'reports/shop/pay/screenshots/0007.png' }, {}],
      extra: { history: 'new since abcdef01', again: 'troupe run flows/shop/pay.js' },
    },
    { name: 'shop/search', status: 'passed', flaky: true, retries: 1 },
    { status: 'other', rawStatus: 'not run', message: 'Not run: it was not started: the run was cancelled' },
  ]);
  t.match(results.environment, { commit: /^1234567890ab/, branchName: 'main', buildNumber: 42 });
});

t.test('Repaired and skipped flows are apart from those that passed', async (t) => {
  const suite = sampleSuite([
    flowResult('login'),
    flowResult('pay', { outcome: 'repaired', failure: FAILURE }),
    flowResult('later', { outcome: 'skipped' }),
  ]);
  const ctrf = JSON.parse(renderCtrf(suite, ID));
  t.same(validate(ctrf).errors ?? [], []);
  t.match(ctrf.results.summary, { tests: 3, passed: 1, failed: 0, skipped: 1, other: 1 });
  t.match(ctrf.results.tests, [
    { status: 'passed' },
    { status: 'other', rawStatus: 'repaired', line: 5 },
    { status: 'skipped', rawStatus: 'skipped' },
  ]);
  const junit = renderSuiteJUnit(suite);
  const file = join(t.testdir({}), 'junit.xml');
  writeFileSync(file, junit);
  t.same(await junitFaults(file), []);
  t.match(junit, /<testsuites name="troupe" tests="3" failures="0" errors="0".*skipped="1"/s);
  t.match(junit, '<property name="repaired" value="1"/>');
  t.match(
    junit,
    /name="pay".*<system-out>Repaired in 1\.2 s after LOCATOR_NOT_FOUND at step 7, shop\/pay\.js:5: a model finished the run/,
  );
  t.match(junit, /name="later".*<skipped message="All tests of the flow were skipped"\/>/);
  t.match(
    renderJobSummary(suite),
    /0 failed · 1 passed · 0 flaky · 1 repaired · .*1 skipped.*pay<\/b> Repaired in 1\.2 s after LOCATOR_NOT_FOUND/s,
  );
  t.match(annotationsOf(suite, String), [/^::warning .*title=pay%3A Repaired in 1\.2 s .*::LOCATOR_NOT_FOUND/]);
});

t.test('JUnit files have a suite for each folder, and collectors accept them', async (t) => {
  const folder = t.testdir({});
  for (const [name, suite] of Object.entries(suites)) {
    const file = join(folder, `${name}.xml`);
    writeFileSync(file, renderSuiteJUnit(suite));
    if (suite.flows.length > 0) t.same(await junitFaults(file), [], name);
  }
  const junit = renderSuiteJUnit(sampleSuite());
  t.match(junit, '<testsuites name="troupe" tests="5" failures="1" errors="1" time="60.000">');
  t.match(junit, /<testsuite name="flows" tests="1"/);
  t.match(junit, /<testsuite name="flows\.shop" tests="3" failures="1" errors="0" skipped="1"/);
  t.match(junit, /<testsuite name="flows\.shop_v2" tests="1"/, 'a dot in a folder makes no package');
  t.match(
    junit,
    /<testcase name="pay" classname="flows\.shop" time="1\.23[45]"><failure type="LOCATOR_NOT_FOUND" message=/,
  );
  t.match(junit, '&gt; 5 |   agent.act', 'the frame');
  t.match(junit, 'This failure is new since abcdef01');
  t.match(junit, /\[\[ATTACHMENT\|reports\/shop\/pay\/screenshots\/0007\.png\]\]<\/system-out>/, 'the last line');
  t.match(junit, /name="coupon".*<skipped message="Quarantined until 2026-02-01 \(SHOP-7\): /);
  t.match(junit, /name="refund"[^>]*><error type="NOT_RUN" message="Not run: it was not started: the run was/);
  t.match(
    junit,
    /name="search".*<flakyFailure type="MATCH_FAILED".*<system-out>Flaky: passed in 1\.2 s \(attempt 2 of 2\)/,
  );
  t.match(junit, '<property name="label.branch" value="main"/>');
});

t.test('What was not run is no success, whatever else there is', async (t) => {
  const lost = { code: 'NODE_LOST', message: 'The node a was lost' } as const;
  const unrun = { outcome: 'stopped', startedAt: null, report: null } as const;
  const quarantine = { until: '2026-02-01', ticket: 'SHOP-7' };
  const suite = sampleSuite([
    flowResult('passes'),
    flowResult('waits', { ...unrun, notRun: 'it was not started' }),
    // Quarantine excuses a failure, and says nothing of a flow that has no result.
    flowResult('known', { ...unrun, notRun: 'it was not started', quarantine }),
    flowResult('lost', { ...unrun, notRun: lost.message, failure: lost, quarantine }),
  ]);
  const junit = renderSuiteJUnit(suite);
  t.match(junit, '<testsuites name="troupe" tests="4" failures="0" errors="3"');
  t.notMatch(junit, '<skipped');
  t.match(junit, /name="lost"[^>]*><error type="NODE_LOST" message="Not run: The node a was lost"/);
  const { results } = JSON.parse(renderCtrf(suite, ID));
  t.match(results.summary, { passed: 1, failed: 0, skipped: 0, other: 3 });
  const html = [...renderIndexHtml(suite, String)].join('');
  t.match(html, '<title>nightly · 3 not run</title>');
  t.match(html, /<b>waits<\/b>.*Not run: it was not started/s);
  t.match(renderJobSummary(suite), /❌ 0 failed .* 3 not run .*<b>lost<\/b>/s);
});

t.test('GitHub gets an error for each failure, and a warning for what is flaky or quarantined', async (t) => {
  t.match(
    annotationsOf(sampleSuite(), (file) => `web/${file}`),
    [
      /^::error file=web\/flows\/shop\/pay\.js,line=5,col=9,title=shop\/pay%3A Failed in 1\.2 s at step 7%2C shop\/pay\.js%3A5%3A LOCATOR_NOT_FOUND \(attempt 2 of 2\)::LOCATOR_NOT_FOUND: .*%0A/,
      /^::error file=web\/flows\/shop\.v2\/refund\.js,title=shop\.v2\/refund%3A Not run::Not run: it was not started/,
      /^::warning file=web\/flows\/shop\/pay\.js,.*title=shop\/coupon%3A Failed .* \(quarantined\)::/,
      /^::warning file=web\/flows\/shop\/search\.js,title=shop\/search%3A Flaky%3A passed in 1\.2 s \(attempt 2 of 2\)::MATCH_FAILED/,
    ],
  );
  const many = Array.from({ length: 30 }, (_, n) => flowResult(`f${n}`, { outcome: 'failed', failure: FAILURE }));
  t.equal(annotationsOf(sampleSuite(many), String).length, 10, 'no more than GitHub shows');
  for (const line of annotationsOf(suites['with hostile texts'], String)) {
    t.notMatch(line, /[\r\n]/);
    const [, properties = ''] = /^::error (.*?)::/.exec(line) ?? [];
    t.same(
      properties.split(',').map((one) => one.replace(/=.*/, '')),
      ['file', 'line', 'col', 'title'],
    );
  }
});

t.test('The job summary shows texts of pages as text, and stays within the limit of GitHub', async (t) => {
  const summary = renderJobSummary(sampleSuite());
  t.match(summary, '❌ 1 failed · 2 passed · 1 flaky · 1 quarantined · 1 not run · 5 flows in 1 min 00 s');
  t.match(summary, 'Run it again: troupe run flows/shop/pay.js');
  t.match(summary, 'Flaky: passed in 1.2 s (attempt 2 of 2)');
  const text = renderJobSummary(suites['with hostile texts']);
  t.notMatch(text, /<(img|script)|<\/pre>%0A/);
  const long = { ...FAILURE, message: '<'.repeat(3_000) };
  const many = Array.from({ length: 2_000 }, (_, n) => flowResult(`f${n}`, { outcome: 'failed', failure: long }));
  const large = renderJobSummary(sampleSuite(many));
  t.ok(Buffer.byteLength(large) < 1024 * 1024);
  t.match(large, /more flows failed or were not run; the reports have all/);
});

/** A page's text: colors, a bell, "clear the screen", the window's title, the clipboard, C1, an override, half a character. */
const COLORED =
  '\u001b[31mred\u001b[0m \u0007 \u001b[2J\u001b]0;title\u0007\u001b]52;c;eA==\u0007\u009b2J\rover\u202e\ud800 end';
const SHOWN = 'red \ufffd \ufffdover\ufffd\ufffd end';

/** What a run prints on a terminal, or in a log. */
function printed(suite: ReturnType<typeof sampleSuite>, isTTY: boolean): string {
  let text = '';
  const write = (piece: string) => {
    text += piece;
    return true;
  };
  const out = { isTTY, columns: 200, write } as unknown as NodeJS.WriteStream;
  const progress = new RunProgress(out, { total: 1, colours: isTTY });
  const record = {
    status: 'failed',
    startedAt: null,
    endedAt: null,
    error: { code: 'FLOW_FAILED', error: COLORED },
    flowFiles: [],
  } as unknown as SessionRecord;
  progress.say(`said ${COLORED}`);
  progress.started(0, `running ${COLORED}`);
  progress.ended(0, `flow\n✓ forged ${COLORED}`, [record], { attempt: 1, attempts: 1, note: COLORED });
  progress.summary(suite, [`note ${COLORED}`]);
  return text;
}

t.test('Control sequences of a page reach neither a terminal nor a report', async (t) => {
  const failure = {
    ...FAILURE,
    message: COLORED,
    expected: 'green',
    received: COLORED,
    title: COLORED,
    console: [{ text: COLORED, url: COLORED }],
    requests: [{ method: 'GET', url: 'http://a/', status: 500, body: COLORED }],
    nearMisses: [COLORED],
  };
  const suite = {
    ...sampleSuite([
      flowResult(`shop/${COLORED}`, { outcome: 'failed', failure, again: COLORED, tags: [COLORED] }),
      flowResult('quarantined', { outcome: 'failed', failure, quarantine: { until: COLORED, ticket: COLORED } }),
    ]),
    name: COLORED,
    labels: { branch: COLORED },
  };
  const outputs = {
    log: printed(suite, false),
    terminal: withoutOwn(printed(suite, true)),
    JUnit: renderSuiteJUnit(suite),
    CTRF: Object(JSON.parse(renderCtrf(suite, ID))),
    annotations: annotationsOf(suite, (file) => file).join('\n'),
    summary: renderJobSummary(suite),
    index: [...renderIndexHtml(suite, String)].join(''),
  };
  for (const [name, output] of Object.entries(outputs)) {
    const texts = typeof output === 'string' ? [output] : textsIn(output);
    for (const text of texts) t.equal(plainText(text), text, name);
    t.ok(texts.join('\n').includes(SHOWN), `${name} has what is left`);
    t.notMatch(texts.join('\n'), /\[31m|\[2J|title\ufffd|eA==/, name);
  }
  t.notMatch(outputs.log, /^✓ forged/m, 'a name is one line');
  t.match(outputs.terminal, /✗ flow ✓ forged red/);
  t.same(validate(outputs.CTRF).errors ?? [], []);
});

t.test('Texts that differ only in what is not shown are said to', (t) => {
  t.same(textDifference('red', '\u001b[31mred\u001b[0m'), [
    'Expected: red',
    'Received: red',
    'They differ in control characters, which are not shown',
  ]);
  t.same(textDifference('a green', '\u001b[1ma red'), ['Expected: a green', 'Received: a red', `${' '.repeat(12)}^`]);
  t.same(textDifference('a\nb', 'a\r\nb').at(-1), 'They differ in control characters, which are not shown');
  t.end();
});

/** Without what a terminal is told to do by the command itself: to clear a line, and its colors. */
function withoutOwn(text: string): string {
  return ['\r\u001b[K', '\u001b[31m', '\u001b[33m', '\u001b[0m'].reduce((rest, own) => rest.replaceAll(own, ''), text);
}

/** All texts of a JSON value, paths of files aside. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === 'path' || name === 'filePath' ? [] : textsIn(member),
  );
}
