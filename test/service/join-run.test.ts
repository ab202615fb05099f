import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { killProcess, processesWith } from '../support/processes.js';
import { makeHome, startTestService } from '../support/service.js';
import { runTroupe, startCommandWith } from '../support/service-process.js';
import { readZip } from '../support/zip.js';

guardLeaks(t);
process.env.DOCKER_HOST = 'unix:///nonexistent/docker.sock';

/** A checkout with these flows. */
function checkout(t: Test, flows: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'checkout-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const [path, text] of Object.entries(flows)) {
    mkdirSync(dirname(join(folder, 'flows', path)), { recursive: true });
    writeFileSync(join(folder, 'flows', path), text);
  }
  return folder;
}

interface Flow {
  readonly name: string;
  readonly state: string;
  readonly machine: string | null;
  readonly attempts: readonly { readonly result: object | null }[];
}

t.test('Machines that join a run share its flows; those of one that is killed follow their retries', async (t) => {
  const service = await startTestService(t, { maxSessions: 1, warmSessions: 0 });
  // On the machine that is killed the first flow does not end.
  const folder = checkout(t, {
    'a-hangs.js': "({ hang }) => { agent.go('about:blank'); if (hang) agent.wait(600000); }",
    'b.js': "// Passes.\n() => agent.go('data:text/html,<h1>b</h1>');",
    'c.js': '// Fails.\n() => match(1, 2);',
    'd.js': "() => agent.go('data:text/html,<h1>d</h1>');",
  });
  const words = (more: string[]) => [
    'run',
    join(folder, 'flows/*.js'),
    '--join',
    'build-1',
    '--url',
    service.url,
    '--retries',
    '1',
    '--parallel',
    '1',
    ...more,
  ];
  const batch = async () => (await service.call('GET', '/api/batches')).body.batches[0];
  const flowsOf = async (): Promise<readonly Flow[]> => {
    const { id } = (await batch()) ?? {};
    return id === undefined ? [] : (await service.call('GET', `/api/batches/${id}/results`)).body.flows;
  };
  // What its own service leaves behind is found by this folder, whose name is short: sockets are in it.
  const own = mkdtempSync('/tmp/j-');
  // The browsers' user must reach it.
  chmodSync(own, 0o755);
  t.teardown(() => {
    for (const { pid } of processesWith(own)) killProcess(pid);
    rmSync(own, { recursive: true, force: true });
  });
  const killed = startCommandWith({ TMPDIR: own }, makeHome(t), ...words(['--args', 'hang:=true']));
  const begun = async () => (await flowsOf())[0]?.state === 'running';
  await eventually('the machine runs its first flow', begun);
  killed.child.kill('SIGKILL');
  await once(killed.child, 'close');
  const out = (name: string) => join(folder, 'out', name);
  const reports = ['--report', out('r'), '--junit', out('j.xml')];
  const { code, output } = await runTroupe(makeHome(t), ...words(['--args', 'hang:=false', ...reports]));
  t.equal(code, 1, output);
  t.match(output, /Joined build build-1: run \w+ with 4 flows/);
  t.match(output, /3 passed \(1 flaky\), 1 failed/);
  const flows = await flowsOf();
  t.match(
    flows.map(({ name, state, attempts }) => ({ name, state, results: attempts.map(({ result }) => result !== null) })),
    [
      { name: 'a-hangs', state: 'completed', results: [false, true] },
      { name: 'b', state: 'completed', results: [true] },
      { name: 'c', state: 'failed', results: [true, true] },
      { name: 'd', state: 'completed', results: [true] },
    ],
  );
  t.match((await batch()).counts, { total: 4, completed: 3, flaky: 1, failed: 1, queued: 0, running: 0 });
  const html = readFileSync(out('r/index.html'), 'utf8');
  for (const name of ['a-hangs', 'b', 'c', 'd']) t.match(html, `<b>${name}</b>`);
  t.match(readFileSync(out('r/d/report.html'), 'utf8'), /<!doctype html>/i);
  t.match(readFileSync(out('r/c/retry-1/report.html'), 'utf8'), /<!doctype html>/i);
  t.match(readFileSync(out('j.xml'), 'utf8'), 'tests="4" failures="1"');
  const { id } = await batch();
  const files = await readZip(`${service.url}/api/batches/${id}/download`);
  for (const name of ['a-hangs/retry-1', 'b', 'c', 'c/retry-1', 'd']) t.ok(files.has(`${name}/report.html`), name);
  t.match((await service.call('GET', `/api/batches/${id}/junit`)).body, 'tests="4" failures="1"');
  const late = await runTroupe(makeHome(t), ...words([]));
  t.match(late, { code: 1, output: /3 passed \(1 flaky\), 1 failed/ }, 'one that comes late reports what there is');
});

t.test('A machine with other flows, or without a service, is refused', async (t) => {
  const service = await startTestService(t, { maxSessions: 1, warmSessions: 0 });
  const folder = checkout(t, { 'a.js': '1' });
  const jobs = [{ name: 'a' }];
  await service.call('POST', '/api/batches/join', { build: 'build-1', hash: 'of other flows', jobs });
  const flow = join(folder, 'flows/a.js');
  const differing = await runTroupe(makeHome(t), 'run', flow, '--join', 'build-1', '--url', service.url);
  t.match(differing, { code: 2, output: /build build-1 was begun with other flows \(of other flows, not \w{12}\)/ });
  const nowhere = await runTroupe(makeHome(t), 'run', flow, '--join', 'build-1');
  t.match(nowhere, { code: 2, output: /--join needs the service that hands out the flows/ });
  const both = await runTroupe(makeHome(t), 'run', flow, '--join', 'b', '--shard', '1/2', '--url', service.url);
  t.match(both, { code: 2, output: /--join and --shard do not go together/ });
});

const passed = {
  state: 'completed',
  startedAt: '2026-01-02T03:04:05.000Z',
  durationMs: 1500,
  sessionId: 'abcdefghijkl',
  failure: null,
  mayPassAgain: false,
};
const zip = Buffer.from('PK\u0005\u0006'.padEnd(22, '\0'), 'latin1');

t.test('A joined batch goes on after a restart of the service', async (t) => {
  const home = makeHome(t);
  const jobs = [{ name: 'a' }, { name: 'b' }];
  const first = await startTestService(t, {}, home);
  const { id } = (await first.call('POST', '/api/batches/join', { build: 'b', hash: 'h', jobs })).body;
  const { token } = (await first.call('POST', `/api/batches/${id}/claim`, {})).body;
  await first.stop(0);
  const { call } = await startTestService(t, {}, home);
  t.match(await call('POST', '/api/batches/join', { build: 'b', hash: 'h', jobs }), { body: { id, created: false } });
  t.equal((await call('PUT', `/api/batches/${id}/claims/${token}/artifacts`, undefined, { body: zip })).status, 200);
  t.equal((await call('POST', `/api/batches/${id}/claims/${token}/result`, passed)).status, 200);
  t.match((await call('POST', `/api/batches/${id}/claim`, {})).body, { state: 'claimed', job: { name: 'b' } });
});
