import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { SessionRecord } from '#troupe/protocol/session.js';
import { recordText } from '#troupe/protocol/state-text.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { done, startModelServer } from '../support/model-server.js';
import { openReader } from '../support/reader.js';
import { startTestService } from '../support/service.js';
import { runTroupe, startCommand } from '../support/service-process.js';

guardLeaks(t);
process.env.DOCKER_HOST = 'unix:///nonexistent/docker.sock';

/**
 * What is known of each flow before it runs: its state, its attempts, the sleeps of all attempts together in milliseconds,
 * and its sentence. The service has one browser at a time, so a retry waits for the flows before it.
 */
const TABLE = {
  'a-passes': { state: 'passed', attempts: 1, sleeps: 1_000, text: /^Passed in TIME$/ },
  'b-fails': {
    state: 'failed',
    attempts: 2,
    sleeps: 800,
    text: /^Failed in TIME at step 1, b-fails\.js:3: MATCH_FAILED \(attempt 2 of 2\)$/,
  },
  // How it differs: the second attempt passes.
  'c-flaky': { state: 'flaky', attempts: 2, sleeps: 1_200, text: /^Flaky: passed in TIME \(attempt 2 of 2\)$/ },
  // How it differs: a mistake in the flow's code is not retried.
  'd-mistake': {
    state: 'failed',
    attempts: 1,
    sleeps: 300,
    text: /^Failed in TIME at d-mistake\.js:4: SCRIPT_ERROR \(attempt 1 of 2\)$/,
  },
  'e-skipped': { state: 'skipped', attempts: 1, sleeps: 0, text: /^Skipped: all of its tests were skipped$/ },
  // How it differs: a helper sleeps, too.
  'f-calls': { state: 'passed', attempts: 1, sleeps: 900, text: /^Passed in TIME$/ },
  // How it differs: somebody stops it.
  'g-stopped': { state: 'not run', attempts: 1, sleeps: 0, text: /^Not run: it started and did not end$/ },
} as const;

const flows = (base: string) => ({
  'a-passes.js': '() => {\n  agent.wait(1000);\n};',
  'b-fails.js': '() => {\n  agent.wait(400);\n  match(1, 2);\n};',
  'c-flaky.js': `() => {\n  agent.go('${base}');\n  agent.wait(600);\n  match(agent.text('h1'), 'second');\n};`,
  'd-mistake.js': '() => {\n  agent.wait(300);\n  const user = undefined;\n  user.name;\n};',
  'e-skipped.js':
    "import { test } from '@playwright/test';\ntest.describe.skip('all', () => {\n  test('one', () => {});\n});",
  'f-calls.js': "() => {\n  agent.wait(400);\n  Flow.run('lib/sleeps');\n};",
  'g-stopped.js': '() => agent.wait(60000);',
  'lib/sleeps.js': '() => agent.wait(500);',
});

const unescaped = (text: string) => text.replaceAll('&lt;', '<').replaceAll('&#39;', "'").replaceAll('&amp;', '&');

t.test('Terminal, page, index, JUnit and CTRF say of each flow what is known before it runs', async (t) => {
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    response.setHeader('content-type', 'text/html').end(`<h1>${asked === 1 ? 'first' : 'second'}</h1>`);
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await eventually('it listens', async () => server.listening);
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const folder = mkdtempSync(join(tmpdir(), 'known-times-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'flows/lib'), { recursive: true });
  for (const [path, text] of Object.entries(flows(base))) writeFileSync(join(folder, 'flows', path), text);
  const service = await startTestService(t, { maxSessions: 1, warmSessions: 0 });
  const out = (name: string) => join(folder, 'out', name);
  const { child, output } = startCommand(
    service.home,
    ...['run', join(folder, 'flows/*.js'), '--url', service.url, '--retries', '1', '--name', 'known'],
    ...['--junit', out('j.xml'), '--ctrf', out('c.json'), '--report', out('r')],
  );
  const closed = new Promise((resolve) => child.once('close', resolve));
  await eventually('the last one is stopped', async () => {
    const { body } = await service.call('GET', '/api/sessions?state=running');
    const stopped = body.find(({ name }: SessionRecord) => name === 'g-stopped');
    if (stopped !== undefined) await service.call('DELETE', `/api/sessions/${stopped.id}`);
    return stopped !== undefined;
  });
  t.equal(await closed, 1, output());

  const { body } = await service.call('GET', '/api/sessions?mode=auto');
  const records = new Map(
    SessionRecord.array()
      .parse(body)
      .map((record) => [record.name ?? '', record]),
  );
  const ctrf = JSON.parse(readFileSync(out('c.json'), 'utf8')).results;
  const junit = readFileSync(out('j.xml'), 'utf8');
  const index = readFileSync(out('r/index.html'), 'utf8');
  const { page } = await openReader(t);
  for (const [name, { state, attempts, sleeps, text }] of Object.entries(TABLE)) {
    const record = records.get(name);
    if (record === undefined) throw new Error(`${name} has no session`);
    const report = (await service.call('GET', `/api/sessions/${record.id}/report.json`)).body;
    const test = ctrf.tests.find((one: { name: string }) => one.name === name);
    const [, junitTime, case_ = ''] =
      new RegExp(`name="${name}"[^>]* time="([\\d.]+)">(.*?)</testcase>`, 's').exec(junit) ?? [];
    const [, row = ''] = new RegExp(`<b>${name}</b>.*?<span class="state text"[^>]*>([^<]*)<`, 's').exec(index) ?? [];
    const ran = attemptsOf(await (await fetch(`${service.url}/api/sessions/${record.id}/events`)).text());

    t.equal(test.rawStatus, state, `${name}: the state in CTRF`);
    t.equal(record.attempt, attempts, `${name}: attempts`);
    t.equal(ran.length, attempts, `${name}: attempts in its events`);
    const sum = ran.reduce((total, ms) => total + ms, 0);
    if (state === 'not run') t.match(unescaped(row), text);
    else {
      // The same number everywhere: the attempts together, as the events have them, and at least what they slept.
      t.equal(test.duration, Math.round(report.durationMs), `${name}: CTRF and report.json`);
      t.equal(Math.round(Number(junitTime) * 1000), report.durationMs, `${name}: JUnit and report.json`);
      t.ok(report.durationMs >= sleeps, `${name}: at least its sleeps`);
      t.ok(Math.abs(report.durationMs - sum) < 200, `${name}: ${report.durationMs} told, attempts of ${ran}`);
      t.equal(report.pausedMs, test.extra.pausedMs);
      t.equal(report.queuedMs, test.extra.queuedMs);
      const told = unescaped(row);
      t.match(told.replace(/\bin [\d.]+ m?s/, 'in TIME'), text, `${name}: the index`);
      t.equal(report.stateText, told, `${name}: report.json`);
      t.ok(unescaped(case_).includes(told), `${name}: JUnit`);
      t.equal(test.extra.state, told, `${name}: CTRF`);
      // Of the terminal, the line at the end of the flow does not know the step.
      const line = recordText(record, 0);
      t.ok(output().includes(` ${name}  ${line}\n`), `${name}: ${line} in the terminal`);
      if (state === 'failed') t.ok(output().includes(`) ${name}  ${told}\n`), `${name}: the failure in the terminal`);
      await page.goto(`${service.url}/#/sessions/${record.id}`);
      await page.getByText(told, { exact: true }).waitFor();
      await page.goto(`${service.url}/#/runs/${record.batch}`);
      const item = page.locator('li', { has: page.locator(`a:text-is("${name}")`) });
      // Those that passed are in a list that is closed at first.
      await item.first().getByText(line, { exact: true }).waitFor({ state: 'attached' });
    }
  }
  const [longest] = [...records.values()].map(({ pausedMs = 0 }) => pausedMs).sort((a, b) => b - a);
  t.ok((longest ?? 0) > 1_000, 'a retry waited while others ran, and that is no time of its flow');
  t.match(ctrf.summary, { tests: 7, passed: 3, flaky: 1, failed: 2, skipped: 1, other: 1 });
  t.match(output(), /3 passed \(1 flaky\), 2 failed, 1 skipped, 1 not run/);
  t.match(junit, /<testsuites [^>]*tests="7" failures="2" errors="1"/);
  t.match(output(), /Waited: [\d.]+ s in the queue/);

  const { flows: counted } = (await service.call('GET', '/api/stats')).body;
  const of = (name: string) => counted.find(({ flow }: { flow: string }) => flow === name);
  t.match(of('a-passes'), { runs: 1, passed: 1, flakiness: 0 });
  t.match(of('b-fails'), { runs: 1, passed: 0, failed: 1, flakiness: 0 });
  t.match(of('c-flaky'), { runs: 1, passed: 1, flakiness: 1, changes: 0 });
  t.ok(of('c-flaky').durationMs.p50 >= TABLE['c-flaky'].sleeps, 'statistics count both attempts');
});

t.test('A flow that a model completed, and the job’s page', async (t) => {
  const model = await startModelServer(t, [done(true, 'Done by hand')]);
  const service = await startTestService(t, {
    models: ['scripted/m'],
    providers: { scripted: { baseURL: model.baseURL } },
    warmSessions: 0,
  });
  const folder = t.testdir({ flows: { 'wrong.js': '() => {\n  agent.wait(300);\n  match(1, 2);\n};' } });
  const words = ['--url', service.url, '--model', 'scripted/m', '--prompt', 'Do it', '--ctrf', join(folder, 'c.json')];
  const { code, output } = await runTroupe(service.home, 'run', join(folder, 'flows/wrong.js'), ...words);
  t.equal(code, 0, output);
  const [record] = SessionRecord.array().parse((await service.call('GET', '/api/sessions?mode=auto')).body);
  if (record === undefined) throw new Error('There is no session');
  const { body: report } = await service.call('GET', `/api/sessions/${record.id}/report.json`);
  t.match(
    report.stateText,
    /^Repaired in [\d.]+ m?s after MATCH_FAILED at step 1, wrong\.js:3: a model finished the run$/,
  );
  t.match(JSON.parse(readFileSync(join(folder, 'c.json'), 'utf8')).results.tests, [
    { extra: { state: report.stateText } },
  ]);
  const { flows: counted } = (await service.call('GET', '/api/stats')).body;
  t.match(counted, [{ flow: 'wrong', runs: 1, passed: 0, failed: 0, repaired: 1, flakiness: 0 }]);
});

/** How long each attempt took by the times of its events, in milliseconds. */
function attemptsOf(stream: string): readonly number[] {
  let from: number | null = null;
  return stream.split('\n').flatMap((line) => {
    if (!line.startsWith('data: ')) return [];
    const { type, at } = JSON.parse(line.slice(6));
    if (type === 'SessionStarted') from = Date.parse(at);
    if ((type !== 'AttemptFailed' && type !== 'SessionEnded') || from === null) return [];
    const ms = Date.parse(at) - from;
    from = null;
    return [ms];
  });
}
