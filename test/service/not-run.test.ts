import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { useService } from '#troupe/cli/own-service.js';
import { eventually } from '../support/eventually.js';
import { junitFaults } from '../support/junit-shape.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome, startTestService } from '../support/service.js';
import { runTroupe, startCommand, startServiceProcess } from '../support/service-process.js';

guardLeaks(t);
process.env.DOCKER_HOST = 'unix:///nonexistent/docker.sock';

const FLOWS = {
  'a-ok.js': '() => 1;',
  'b-slow.js': '() => agent.wait(60000);',
  'c-later.js': '() => 1;',
};

/** A checkout with flows, and what a run of them wrote. */
function checkout(t: Test, flows: { readonly [path: string]: string } = FLOWS) {
  const folder = mkdtempSync(join(tmpdir(), 'not-run-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(flows)) {
    mkdirSync(dirname(join(folder, 'flows', path)), { recursive: true });
    writeFileSync(join(folder, 'flows', path), text);
  }
  const out = (name: string) => join(folder, 'out', name);
  return {
    folder,
    out,
    flows: join(folder, 'flows/**/*.js'),
    reports: ['--junit', out('j.xml'), '--ctrf', out('c.json'), '--html', out('html')],
    /** The state of each flow in CTRF, once JUnit and the index are found to say the same. */
    async states() {
      const { results } = JSON.parse(readFileSync(out('c.json'), 'utf8'));
      const tests: { name: string; status: string; rawStatus: string; message?: string }[] = results.tests;
      const notRun = tests.filter(({ rawStatus }) => rawStatus === 'not run');
      const junit = readFileSync(out('j.xml'), 'utf8');
      t.same(await junitFaults(out('j.xml')), []);
      t.match(junit, new RegExp(`<testsuites [^>]*tests="${tests.length}" [^>]*errors="${notRun.length}"`));
      t.notMatch(junit, '<skipped');
      t.equal(results.summary.skipped, 0);
      t.equal(readFileSync(out('html/index.html'), 'utf8').match(/title="not run"/g)?.length ?? 0, notRun.length);
      return Object.fromEntries(tests.map(({ name, rawStatus }) => [name, rawStatus]));
    },
    junit: () => readFileSync(out('j.xml'), 'utf8'),
  };
}

const REST_NOT_RUN = { 'a-ok': 'passed', 'b-slow': 'not run', 'c-later': 'not run' };

t.test('When the service is killed, what has ended is reported, and the rest as not run', async (t) => {
  const { flows, reports, states, junit } = checkout(t);
  const home = makeHome(t, { warmSessions: 0 });
  const service = await startServiceProcess(t, home);
  const words = ['run', flows, '--url', service.url, '--parallel', '1', ...reports];
  const { child, output } = startCommand(makeHome(t), ...words);
  const closed = once(child, 'close');
  await eventually('the second one runs', async () => {
    const running = await (await fetch(`${service.url}/api/sessions?state=running`)).text();
    return running.includes('b-slow');
  });
  await service.end('SIGKILL');
  t.same(await closed, [2, null], output());
  t.match(output(), /Not run\n {2}b-slow {2}it .*: No service .*\n {2}c-later {2}it may not have started: No service/);
  t.match(output(), /1 passed, 2 not run/);
  t.same(await states(), REST_NOT_RUN);
  t.match(junit(), /name="b-slow"[^>]*><error type="NOT_RUN" message="Not run: it .*: No service answers at /);
  // Takes the browsers over, and ends them.
  const next = await startServiceProcess(t, home);
  const left: unknown = await (await fetch(`${next.url}/api/sessions?mode=auto`)).json();
  const batch = Array.isArray(left) ? left[0]?.batch : undefined;
  await fetch(`${next.url}/api/batches/${batch}`, { method: 'DELETE' });
  await next.end('SIGTERM');
});

t.test('On one service', async (t) => {
  const service = await startTestService(t, { maxSessions: 2, warmSessions: 0 });
  const run = (...words: string[]) => startCommand(makeHome(t), 'run', '--url', service.url, ...words);
  const running = async (name: string) => {
    const { body } = await service.call('GET', '/api/sessions?state=running');
    return body.find((record: { name: string }) => record.name === name)?.id;
  };

  await t.test('a run that is killed leaves no report of an earlier run', async (t) => {
    // How it differs: the command itself is gone, and writes nothing more.
    const { flows, reports, states, out } = checkout(t);
    const passed = run(flows, '--grep', 'a-ok', ...reports, '--report', out('r'));
    t.same(await once(passed.child, 'close'), [0, null], passed.output());
    const { child, output } = run(flows, '--parallel', '1', ...reports, '--report', out('r'));
    const closed = once(child, 'close');
    await eventually('the first one has ended', () => /✓ a-ok {2}Passed/.test(output()));
    await eventually('the second one runs', async () => (await running('b-slow')) !== undefined);
    child.kill('SIGKILL');
    await closed;
    t.same(await states(), { 'a-ok': 'not run', 'b-slow': 'not run', 'c-later': 'not run' });
    await service.call('DELETE', `/api/sessions/${await running('b-slow')}`);
  });

  await t.test('a run that is cancelled twice reports what it knows', async (t) => {
    // How it differs: the ends of the jobs are not waited for.
    const { flows, reports, states } = checkout(t);
    const { child, output } = run(flows, '--parallel', '1', ...reports);
    const closed = once(child, 'close');
    await eventually('the second one runs', async () => (await running('b-slow')) !== undefined);
    child.kill('SIGINT');
    child.kill('SIGINT');
    t.same(await closed, [2, null], output());
    t.same(await states(), REST_NOT_RUN);
  });

  await t.test('jobs that somebody else stops are not run', async (t) => {
    // How it differs: the run is not told to end, and goes on.
    const { flows, reports, states } = checkout(t);
    const { child, output } = run(flows, '--parallel', '1', ...reports);
    const closed = once(child, 'close');
    await eventually('it runs', async () => (await running('b-slow')) !== undefined);
    await service.call('DELETE', `/api/sessions/${await running('b-slow')}`);
    t.same(await closed, [1, null], output());
    t.same(await states(), { 'a-ok': 'passed', 'b-slow': 'not run', 'c-later': 'passed' });
  });

  await t.test('flows of a setup that failed are not run, and say which one', async (t) => {
    // How it differs: they are never submitted.
    const { flows, reports, states, junit } = checkout(t, {
      'shop/_setup.js': '() => match(1, 2);',
      'shop/buy.js': '() => 1;',
    });
    const { child } = run(flows.replace('**/*', 'shop/buy'), ...reports);
    t.same(await once(child, 'close'), [1, null]);
    t.same(await states(), { 'shop/_setup': 'failed', 'shop/buy': 'not run' });
    t.match(junit(), 'Not run: it was not started: the setup shop/_setup did not pass');
  });

  await t.test('--max-failures that is reached while a flow is retried leaves no flow passed or skipped', async (t) => {
    // How it differs: the flow has failed once, and its last attempt has no result (microsoft/playwright 7112).
    const { flows, reports, states, junit } = checkout(t, {
      'a-again.js': "() => { agent.go('about:blank'); agent.wait(1500); match(1, 2); };",
      'b-fails.js': '({ n = 0 } = {}) => { agent.wait(2500); match(n, 1); };',
    });
    const { child, output } = run(
      flows,
      '--parallel',
      '2',
      '--repeat-each',
      '2',
      '--retries',
      '3',
      '--max-failures',
      '1',
      ...reports,
    );
    t.same(await once(child, 'close'), [1, null], output());
    const found = Object.values(await states());
    t.notMatch(found, ['passed']);
    t.ok(found.includes('failed'), output());
    t.match(junit(), /<testsuites [^>]*tests="4"/);
  });

  await t.test('a quarantined flow without a result fails the run', async (t) => {
    // How it differs: a failure of the flow would be excused.
    const quarantine = JSON.stringify([{ flow: 'b-slow', until: '2999-12-31', ticket: 'SHOP-7' }]);
    const { flows, reports, states } = checkout(t, { 'b-slow.js': FLOWS['b-slow.js'], 'quarantine.json': quarantine });
    const { child, output } = run(flows, '--run-timeout', '4', ...reports);
    t.same(await once(child, 'close'), [1, null], output());
    t.same(await states(), { 'b-slow': 'not run' });
  });

  await t.test('a job whose time is over has its other flows as errors', async (t) => {
    // How it differs: several flows in one job, whose report the service makes (bazelbuild/bazel 3763).
    writeFileSync(join(service.home, 'flows', 'slow.js'), FLOWS['b-slow.js']);
    writeFileSync(join(service.home, 'flows', 'later.js'), '() => 1;');
    const { id } = await service.job({ flowFiles: ['slow.js', 'later.js'], maxIterations: 0, hardTimeout: 3 });
    const junit = String((await service.call('GET', `/api/sessions/${id}/artifacts/report.junit.xml`)).body);
    t.match(junit, /skipped="0"/);
    t.match(junit, /name="later"[^>]*><error type="NOT_RUN"/);
  });

  await t.test('the JUnit of a batch that was stopped has errors, also before it has ended', async (t) => {
    // How it differs: the service makes it, of jobs without reports.
    const wait = { prompt: 'x', flowFiles: ['b-slow.js'], maxIterations: 0 };
    const { body } = await service.call('POST', '/api/batches', { flows: FLOWS, parallel: 1, jobs: [wait, wait] });
    const junit = async () => String((await service.call('GET', `/api/batches/${body.id}/junit`)).body);
    t.match(await junit(), 'tests="2" failures="0" errors="2" skipped="0"');
    await service.call('DELETE', `/api/batches/${body.id}`);
    await eventually(
      'all have ended',
      async () => (await service.call('GET', `/api/batches/${body.id}`)).body.endedAt !== null,
    );
    t.match(await junit(), 'tests="2" failures="0" errors="2" skipped="0"');
  });

  await t.test('a report that cannot be written at the end is said, and the others are written', async (t) => {
    const { flows, reports, out, states, folder } = checkout(t);
    // A link can be replaced by a file in one step, whatever the run writes meanwhile.
    const real = join(folder, 'real');
    mkdirSync(real);
    mkdirSync(out('.'));
    symlinkSync(real, out('r'));
    writeFileSync(out('file'), 'a file in place of the folder');
    const { child, output } = run(
      flows,
      '--grep',
      'a-ok|b-slow',
      '--run-timeout',
      '8',
      '--report',
      out('r'),
      ...reports,
    );
    const closed = once(child, 'close');
    await eventually('it runs', async () => (await running('b-slow')) !== undefined);
    renameSync(out('file'), out('r'));
    t.same(await closed, [2, null], output());
    t.match(output(), /1 passed, 1 not run/);
    t.match(output(), /troupe: \S*out\/r\/run\.json cannot be written: /);
    t.same(await states(), { 'a-ok': 'passed', 'b-slow': 'not run' });
    t.ok(existsSync(folder));
  });

  await t.test('one that cannot be written at the start ends the run before it begins', async (t) => {
    const { flows } = checkout(t);
    const before = (await service.call('GET', '/api/sessions')).body.length;
    const { code, output } = await runTroupe(makeHome(t), 'run', flows, '--url', service.url, '--junit', '/dev/full');
    t.equal(code, 2);
    t.match(output, /^troupe: \/dev\/full cannot be written: ENOSPC/m);
    t.equal((await service.call('GET', '/api/sessions')).body.length, before);
  });
});

t.test('A run that finds no service reports all flows as not run', async (t) => {
  const { flows, reports, states } = checkout(t);
  const words = ['run', flows, '--url', 'http://127.0.0.1:1', ...reports];
  const { code, output } = await runTroupe(makeHome(t), ...words);
  t.equal(code, 2);
  t.match(output, /a-ok {2}No service answers at http:\/\/127\.0\.0\.1:1\n/);
  t.same(await states(), { 'a-ok': 'not run', 'b-slow': 'not run', 'c-later': 'not run' });
});

t.test('A service that is starting is waited for; one that fails is not', async (t) => {
  let asked = 0;
  const starting = { error: 'The service is starting', code: 'UNAVAILABLE' };
  const server = createServer((_, response) => {
    asked += 1;
    response.writeHead(asked < 5 ? 503 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(asked < 5 ? starting : { version: 'x', capacity: {} }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const service = await useService({ url, sessions: 1 });
  t.equal(service.client.url, url);
  t.ok(asked >= 5);
  asked = 0;
  const ended = AbortSignal.abort(new Error('cancelled'));
  await t.rejects(useService({ url, sessions: 1, signal: ended }), { message: 'cancelled' });
  Object.assign(starting, { details: { status: 'failing' } });
  asked = 0;
  await useService({ url, sessions: 1 });
  t.ok(asked < 5);
});
