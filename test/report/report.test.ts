import t from 'tap';
import type { ErrorBody } from '#troupe/protocol/errors.js';
import type { JournalEvent } from '#troupe/protocol/events.js';
import { failureOfError } from '#troupe/protocol/report/failure-of-error.js';
import { Report } from '#troupe/protocol/report/report.js';
import type { SessionRecord } from '#troupe/protocol/session.js';
import { listFailures } from '#troupe/report/failures.js';
import { renderHtml } from '#troupe/report/html/html.js';
import { ReportBuilder } from '#troupe/report/report.js';
import { failureText } from '#troupe/report/suite/failure-text.js';
import { guardLeaks } from '../support/leaks.js';
import { failingEvents, failingRecord, journaled, passingEvents, sampleRecord } from './sample-session.js';

guardLeaks(t);

function buildReport(record: SessionRecord, events: readonly JournalEvent[], artifacts: Report['artifacts']): Report {
  const builder = new ReportBuilder(record);
  for (const event of events) builder.add(event);
  return builder.build(artifacts);
}

t.test('A report tells a passing job as its schema says', async (t) => {
  const report = buildReport(sampleRecord(), passingEvents, [{ path: 'session.json', bytes: 12 }]);
  t.same(Report.parse(report), report);
  t.equal(report.status, 'completed');
  t.equal(report.durationMs, 9_500);
  t.match(report.flows, [
    { path: 'shop/login', status: 'passed', durationMs: 1730 },
    { path: 'shop/buy', status: 'passed', durationMs: 6540 },
  ]);
  t.equal(report.flows.length, 2, 'a flow that a flow called is not listed beside it');
  t.equal(report.steps.length, 7);
  t.equal(report.steps[5]?.flow, 'shop/parts/choose');
  t.equal(report.steps[0]?.at, '2026-03-04T09:15:00.820Z');
  t.same(
    report.console.map(({ text }) => text),
    ['12 lamps found'],
  );
  t.equal(report.pageErrors.length, 1);
  t.same(listFailures(report), { failures: [], more: 0 });
});

t.test('A failure is told once, with its cause, its place, its page and its picture', async (t) => {
  const report = buildReport(failingRecord, failingEvents, []);
  t.match(report.flows[1], { status: 'failed', line: 9, error: { code: 'LOCATOR_NOT_FOUND' } });
  const { failures } = listFailures(report);
  t.equal(failures.length, 1);
  t.match(failures[0], {
    kind: 'flow',
    subject: 'shop/buy',
    failure: {
      code: 'LOCATOR_NOT_FOUND',
      file: 'flows/shop/buy.js',
      line: 9,
      column: 7,
      url: 'http://127.0.0.1:4500/lamps/3?layout=b',
      title: 'Brass lamp',
    },
    step: { index: 7, screenshot: '007-step.png' },
  });
});

t.test(
  'A failure in a flow that a flow called is told where it happened, and one that was caught is not told',
  async (t) => {
    const caught = { code: 'WAIT_TIMEOUT', error: 'No offer came' } as const;
    const error = { code: 'MATCH_FAILED', error: '$.total expected 3, got 4' } as const;
    const report = buildReport(
      failingRecord,
      journaled([
        { ms: 0, type: 'FlowStarted', data: { path: 'buy', depth: 1 } },
        { ms: 10, type: 'FlowStarted', data: { path: 'offer', depth: 2 } },
        finished(20, 'offer', 2, 5, caught),
        { ms: 30, type: 'FlowStarted', data: { path: 'pay', depth: 2 } },
        { ms: 40, type: 'FlowStarted', data: { path: 'total', depth: 3 } },
        finished(50, 'total', 3, 7, error),
        finished(60, 'pay', 2, 8, error),
        finished(70, 'buy', 1, 9, error),
      ]),
      [],
    );
    t.match(report.flows, [{ path: 'buy', line: 9 }]);
    t.match(listFailures(report).failures, [
      { subject: 'buy', failure: { code: 'MATCH_FAILED', file: 'flows/total.js', line: 7 } },
    ]);
  },
);

t.test('A flow that the time limit ended fails with HARD_TIMEOUT, at the call that was ended', async (t) => {
  const cause = { code: 'WAIT_TIMEOUT', error: 'No offer came', details: { flow: 'buy', line: 3, frame: '> 3 | x' } };
  const failure = failureOfError({
    code: 'HARD_TIMEOUT',
    error: 'The session reached its time limit in buy, after line 3: No offer came',
    details: { flow: 'buy', line: 3, column: null, cause },
  });
  t.match(failure, { code: 'HARD_TIMEOUT', message: /time limit/, flow: 'buy', line: 3, frame: '> 3 | x' });
  t.match(failureText(failure), /^HARD_TIMEOUT: [^\n]*\nafter buy:3\n/);
});

t.test('The last step before a failure that is none of a step is told once', async (t) => {
  const step = { index: 4, number: 2, js: 'agent.go("/")', url: '', title: '', before: true } as const;
  const failure = { code: 'SCRIPT_ERROR', message: 'Error: no', step } as const;
  t.equal(failureText(failure), 'SCRIPT_ERROR: Error: no\nLast step 2: agent.go("/")');
  const earlierSteps = [{ index: 4, js: step.js, outcome: 'done' }];
  const text = 'SCRIPT_ERROR: Error: no\nPrevious steps:\n  2. agent.go("/"): done';
  t.equal(failureText({ ...failure, earlierSteps }), text);
});

t.test('A flow that began and never ended is interrupted, also when the job begins it again', async (t) => {
  const lost = { code: 'INTERRUPTED', error: 'The service stopped in the middle of a flow' } as const;
  const record = sampleRecord({ status: 'failed', state: 'failed', error: lost });
  const report = buildReport(
    record,
    journaled([
      { ms: 0, type: 'SessionStarted', data: { driver: 'process', browser: 'Chromium', thread: 0 } },
      { ms: 100, type: 'FlowStarted', data: { path: 'a', depth: 1 } },
      { ms: 200, type: 'FlowStarted', data: { path: 'inner', depth: 2 } },
      { ms: 1100, type: 'SessionStarted', data: { driver: 'process', browser: 'Chromium', thread: 0 } },
      { ms: 1200, type: 'FlowStarted', data: { path: 'a', depth: 1 } },
      { ms: 1500, type: 'FlowFinished', data: { path: 'a', depth: 1, status: 'passed', durationMs: 300 } },
      { ms: 2000, type: 'FlowStarted', data: { path: 'b', depth: 1 } },
    ]),
    [],
  );
  t.same(report.flows, [
    { path: 'a', status: 'interrupted', startedAt: '2026-03-04T09:15:00.100Z', durationMs: 1000 },
    { path: 'a', status: 'passed', startedAt: '2026-03-04T09:15:01.200Z', durationMs: 300 },
    { path: 'b', status: 'interrupted', startedAt: '2026-03-04T09:15:02.000Z', durationMs: 7500 },
  ]);
  t.same(
    listFailures(report).failures.map(({ kind, failure }) => [kind, failure.code]),
    [
      ['session', 'INTERRUPTED'],
      ['interrupted', 'INTERRUPTED'],
      ['interrupted', 'INTERRUPTED'],
    ],
  );
});

t.test('What a session says without end is bounded in its report', async (t) => {
  const report = buildReport(
    sampleRecord({ status: 'running', state: 'running', endedAt: null }),
    journaled([
      ...Array.from(
        { length: 5_000 },
        (_, n) => ({ ms: n, type: 'ConsoleWritten', data: { level: 'log', text: `${n}` } }) as const,
      ),
      {
        ms: 6_000,
        type: 'StepFinished',
        data: {
          index: 1,
          kind: 'script',
          js: 'x',
          result: 'y'.repeat(1_000_000),
          url: '',
          title: '',
          durationMs: 1,
          screenshot: null,
        },
      },
    ]),
    [],
  );
  t.equal(report.console.length, 1_000);
  t.equal(report.console.at(-1)?.text, '4999');
  t.ok(JSON.stringify(report.steps).length < 20_000);
  t.equal(report.durationMs, 6_000, 'of a session that runs: so far');
});

function finished(ms: number, path: string, depth: number, line: number, error: ErrorBody) {
  return {
    ms,
    type: 'FlowFinished',
    data: { path, depth, status: 'failed', durationMs: 1, error, flow: path, line },
  } as const;
}

t.test('What a model was asked, said and was told stands in the report, and none of it is markup', async (t) => {
  const tokens = { input: 100, cached: 50, output: 10 };
  const about = { attempt: 1, model: 'a/b', durationMs: 500, tokens };
  const script = { id: 'c1', name: 'agent_eval', arguments: JSON.stringify({ js: 'agent.go("/<img>")' }) };
  const odd = { id: 'c2', name: 'agent_eval', arguments: '{"js": <b>' };
  const events = journaled([
    {
      ms: 600,
      type: 'ModelCallFinished',
      data: { ...about, call: 1, text: 'I <b>go</b>', toolCalls: [script, odd], finish: 'stop' },
    },
    {
      ms: 700,
      type: 'ToolAnswered',
      data: { call: 1, id: 'c1', tool: 'agent_eval', ok: true, text: '<script>', page: null, print: '' },
    },
    { ms: 710, type: 'ModelNudged', data: { call: 1, text: 'Be brief' } },
    {
      ms: 1500,
      type: 'ModelCallFinished',
      data: { ...about, call: 2, text: '', toolCalls: [], finish: null, error: { code: 'MODEL_ERROR', error: '429' } },
    },
  ]);
  const report = buildReport(sampleRecord({ model: 'a/b' }), events, []);
  t.same(Report.parse(report), report);
  const html = [...renderHtml(report, () => null)].join('');
  t.match(report.modelCalls, [
    {
      call: 1,
      startedAt: '2026-03-04T09:15:00.100Z',
      tools: [
        { source: 'agent.go("/<img>")', answer: { ok: true, text: '<script>' } },
        { source: '{"js": <b>', answer: null },
      ],
      nudges: ['Be brief'],
    },
    { call: 2, error: { code: 'MODEL_ERROR' } },
  ]);
  t.match(html, /2 model calls/);
  t.notMatch(html.slice(html.indexOf('<body>')), /<b>|<img>|<script/);
  t.notMatch(html, '✗ failed');
  const refused = events.map((event) =>
    event.type === 'ToolAnswered' ? { ...event, data: { ...event.data, ok: false } } : event,
  );
  const told = [...renderHtml(buildReport(sampleRecord({ model: 'a/b' }), refused, []), () => null)].join('');
  t.match(told, '<p class="bad">✗ failed</p><pre class="wrong">');
});

t.test('The bar of a failed step is taller than others, so that it can be told without its colour', (t) => {
  const html = [...renderHtml(buildReport(failingRecord, failingEvents, []), () => null)].join('');
  const [overview = ''] = /<svg class="overview".*?<\/svg>/s.exec(html) ?? [];
  const heights = (bars: RegExp) => new Set([...overview.matchAll(bars)].map(([, height]) => height));
  t.same(heights(/<rect class="bad"[^>]* height="(\d+)"/g), new Set(['26']));
  t.same(heights(/<rect x[^>]* height="(\d+)"/g), new Set(['17']));
  t.end();
});

t.test("A model's later failure with the same call is not the flow's", (t) => {
  const [failedStep] = failingEvents.filter(({ type }) => type === 'StepFinished').slice(-1);
  const later = failingEvents.slice(0, -1);
  if (failedStep?.type !== 'StepFinished') throw new Error('The sample has no failed step');
  const at = new Date(Date.parse(failedStep.at) + 60_000).toISOString();
  const data = { ...failedStep.data, index: 8, kind: 'model' as const, startedAt: at, screenshot: '008-step.png' };
  const report = buildReport(failingRecord, [...later, { ...failedStep, data, at }, ...failingEvents.slice(-1)], []);
  const failure = report.flows.find(({ status }) => status === 'failed')?.failure;
  t.match(failure, {
    code: 'LOCATOR_NOT_FOUND',
    flow: 'shop/buy',
    file: 'flows/shop/buy.js',
    line: 9,
    step: { index: 7 },
    screenshot: 'screenshots/007-step.png',
  });
  t.same(report.failure, failure);
  t.end();
});
