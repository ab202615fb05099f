import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readLastRun, storeLastRun } from '#troupe/cli/run/last-run.js';
import { writeRunReports } from '#troupe/cli/run/write-run-reports.js';
import { describeRun, lastRunFailures, runFileFailures } from '#troupe/cli/why-run.js';
import type { SuiteResult } from '#troupe/report/suite/suite-result.js';
import { unrunFlow } from '#troupe/report/suite/suite-result.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const failure = (message: string) => ({
  code: 'MATCH_FAILED' as const,
  message,
  flow: 'pay',
  file: 'flows/pay.js',
  line: 3,
});
const passed = {
  ...unrunFlow('ok', ''),
  outcome: 'passed' as const,
  notRun: null,
  startedAt: '2026-01-01T10:00:00.000Z',
};

function suite(...flows: SuiteResult['flows']): SuiteResult {
  const times = { startedAt: '2026-01-01T10:00:00.000Z', endedAt: '2026-01-01T10:01:00.000Z' };
  return { name: 'troupe run', version: '1', ...times, labels: {}, build: null, flows };
}

const RUN = suite(
  passed,
  {
    ...passed,
    name: 'pay',
    file: 'flows/pay.js',
    outcome: 'failed',
    failure: failure('Expected 1'),
    report: 'out/pay/report.html',
    picture: 'out/pay/screenshots/001.png',
    again: 'troupe run flows/pay.js',
  },
  { ...passed, name: 'shaky', earlier: [{ attempt: 1, failure: failure('Too early') }], attempts: 2 },
  unrunFlow('late', 'the run was cancelled'),
);

function caches(t: Test): string {
  const before = process.env.XDG_CACHE_HOME;
  process.env.XDG_CACHE_HOME = t.testdir({});
  t.teardown(() => {
    if (before === undefined) delete process.env.XDG_CACHE_HOME;
    else process.env.XDG_CACHE_HOME = before;
  });
  return join(process.env.XDG_CACHE_HOME, 'troupe', 'runs');
}

t.test('Without an argument the failures of the last run from here are told', async (t) => {
  const folder = caches(t);
  await t.rejects(lastRunFailures(), { code: 'NOT_FOUND', message: /No run from .* is known on this machine/ });
  await storeLastRun(process.cwd(), suite(passed), null);
  await storeLastRun(process.cwd(), RUN, null);
  await storeLastRun('/elsewhere', suite(passed), null);
  const failures = await lastRunFailures();
  t.match(failures.counts, { total: 4, passed: 2, flaky: 1, failed: 1, notRun: 1 });
  t.same(
    failures.flows.map(({ name }) => name),
    ['pay', 'shaky', 'late'],
  );
  const text = describeRun(failures);
  t.match(text, /^Run of 2026-01-01 10:00 UTC: 2 passed \(1 flaky\), 1 failed, 1 not run\n/);
  for (const line of [
    'MATCH_FAILED: Expected 1',
    'Screenshot: out/pay/screenshots/001.png',
    'Run it again: troupe run flows/pay.js',
    'late  the run was cancelled',
    'Too early',
  ])
    t.ok(text.includes(line), `${line}\n${text}`);
  for (const name of readdirSync(folder))
    t.equal(statSync(join(folder, name)).mode & 0o077, 0, 'others cannot read it');
});

t.test('The run of a folder above counts, and is named', async (t) => {
  caches(t);
  await storeLastRun('/w/shop', RUN, null);
  t.match(await readLastRun('/w/shop/flows/pay'), { folder: '/w/shop', run: { flows: { length: 4 } } });
  t.equal(await readLastRun('/w/other'), null);
  const here = process.cwd();
  const shop = join(process.env.XDG_CACHE_HOME ?? '', 'shop');
  mkdirSync(join(shop, 'flows'), { recursive: true });
  await storeLastRun(shop, RUN, null);
  process.chdir(join(shop, 'flows'));
  t.teardown(() => process.chdir(here));
  t.equal(
    describeRun(await lastRunFailures()).split('\n')[0],
    `Run of 2026-01-01 10:00 UTC in ${shop}: 2 passed (1 flaky), 1 failed, 1 not run`,
  );
});

t.test('A run in which nothing failed says so', async (t) => {
  caches(t);
  await storeLastRun(process.cwd(), suite(passed), null);
  t.equal(describeRun(await lastRunFailures()), 'Run of 2026-01-01 10:00 UTC: 1 passed\nNothing failed\n');
});

t.test('Of very many folders the newest runs are kept, and what was cut off is no run', async (t) => {
  const folder = caches(t);
  mkdirSync(folder, { recursive: true });
  for (let n = 0; n < 120; n += 1) {
    const file = join(folder, `${String(n).padStart(16, '0')}.json`);
    writeFileSync(file, '{"format":');
    utimesSync(file, 1_000 + n, 1_000 + n);
  }
  await storeLastRun('/w/new', RUN, null);
  t.equal(readdirSync(folder).length, 100);
  t.match(await readLastRun('/w/new'), { folder: '/w/new' });
  for (const name of readdirSync(folder)) writeFileSync(join(folder, name), '{"format":');
  t.equal(await readLastRun('/w/new'), null);
});

t.test('The report folder of a run tells its failures, with paths from here', async (t) => {
  const report = join(t.testdir({}), 'out');
  const flows = RUN.flows.map((flow) => ({
    ...flow,
    report: flow.report && join(report, 'pay/report.html'),
    picture: flow.picture && join(report, 'pay/screenshots/001.png'),
  }));
  await writeRunReports({ report, html: undefined, junit: undefined, ctrf: undefined }, { ...RUN, flows }, null);
  const failures = await runFileFailures(join(report, 'run.json'));
  t.match(failures.flows[0], { name: 'pay', report: /out\/pay\/report\.html$/ });
  t.match(describeRun(failures), /2 passed \(1 flaky\), 1 failed.*Screenshot: \S*out\/pay\/screenshots\/001\.png\n/s);
  await t.rejects(runFileFailures('package.json'), {
    code: 'INVALID_REQUEST',
    message: /is not the run\.json of a run/,
  });
});
