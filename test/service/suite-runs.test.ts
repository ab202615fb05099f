import { execFile } from 'node:child_process';
import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);
process.env.DOCKER_HOST = 'unix:///nonexistent/docker.sock';

const attempt = (status: string, more: object = {}) => {
  const common = { attempt: 1, expectedStatus: 'passed', startedAt: '2026-01-02T03:04:05.000Z', durationMs: 1500 };
  return { ...common, status, sessionId: null, failure: null, ...more };
};
const test = (title: string, ...attempts: readonly object[]) => {
  const about = { suite: 'a.spec.ts', project: null, repeat: 0, file: 'tests/a.spec.ts', line: 7, column: 1 };
  return { id: title, titlePath: ['shop', title], ...about, tags: [], reason: null, attempts };
};
const failure = {
  code: 'MATCH_FAILED',
  message: 'expect(total).toBe(13)',
  file: 'tests/a.spec.ts',
  line: 9,
  column: 3,
};

/** Runs a command of Troupe. */
function runTroupe(
  ...words: string[]
): Promise<{ readonly code: number; readonly out: string; readonly said: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['dist/cli.js', ...words], (error, out, said) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, said }),
    );
  });
}

t.test('A run of a suite', async (t) => {
  const service = await startTestService(t, { maxSessions: 1, warmSessions: 0 });
  const { call } = service;
  const begin = (run: string, more: object = {}) => call('POST', '/api/batches/suite', { run, ...more });
  const report = (id: string, body: object) => call('POST', `/api/batches/${id}/tests`, body);

  await t.test('is one, whatever process of the suite begins it', async (t) => {
    const both = await Promise.all([
      begin('run-of-both-1', { name: 'shop' }),
      begin('run-of-both-1', { name: 'shop' }),
    ]);
    t.equal(both[0].body.id, both[1].body.id);
    t.same(both.map(({ body }) => body.created).sort(), [false, true]);
    t.match(both[0].body, { state: 'running', endedAt: null, suite: { whole: false }, counts: { total: 0 } });
    t.not((await begin('run-of-both-2')).body.id, both[0].body.id);
    t.match(await begin('short'), { status: 400, body: { code: 'INVALID_REQUEST' } });
  });

  await t.test('is in the list and the reports, and says why tests failed', async (t) => {
    const { id } = (await begin('run-with-failure', { name: 'shop' })).body;
    const session = await service.live({ labels: { run: id, retry: '0' } });
    const failed = test('sums up', attempt('failed', { failure, sessionId: session.id }));
    await report(id, { tests: [test('adds', attempt('passed')), failed, test('ships')], whole: true, end: true });
    const { batches } = (await call('GET', '/api/batches?name=shop&limit=1')).body;
    t.match(batches, [{ id, state: 'failed', counts: { total: 3, completed: 1, failed: 1, notRun: 1, skipped: 0 } }]);
    t.equal(batches[0].links.jobs, `/api/sessions?label=run=${id}`);
    const why = await runTroupe('why', id, '--url', service.url);
    t.equal(why.code, 0, why.said);
    t.match(why.out, /1 passed, 1 failed, 1 not run/);
    t.match(
      why.out,
      /a\.spec\.ts › shop › sums up: Failed in 1\.5 s at tests\/a\.spec\.ts:9: MATCH_FAILED\nMATCH_FAILED: expect\(total\)\.toBe\(13\)\nat tests\/a\.spec\.ts:9:3/,
    );
    t.match(why.out, /a\.spec\.ts › shop › ships: Not run/);
    const ofSession = await runTroupe('why', session.id, '--url', service.url, '--json');
    t.match(JSON.parse(ofSession.out), { runId: id, tests: [{ state: 'failed', failures: [{ failure }] }] });
    t.match((await call('GET', `/api/batches/${id}/download`)).headers.get('content-type'), 'application/zip');
    t.match(await call('GET', `/api/batches/${id}/events`), { status: 404 });
    t.match(await call('POST', `/api/batches/${id}/rerun`, {}), { status: 400, body: { code: 'INVALID_REQUEST' } });
    t.match(await call('POST', `/api/batches/${id}/claim`, {}), { status: 404 });
    await call('DELETE', `/api/sessions/${session.id}?purge=true`);
  });

  await t.test('takes no reports once it was stopped or removed', async (t) => {
    const { id } = (await begin('run-to-be-stopped')).body;
    await report(id, { tests: [test('adds', attempt('running')), test('ships')] });
    t.match(await call('DELETE', `/api/batches/${id}`), { status: 200, body: { state: 'stopped' } });
    t.match(await report(id, { tests: [] }), { status: 409, body: { code: 'CLAIM_LOST' } });
    t.equal((await call('DELETE', `/api/batches/${id}?purge=true`)).status, 200);
    t.match(await report(id, { tests: [] }), { status: 404 });
    t.match(await begin('run-to-be-stopped'), { status: 200, body: { created: true } });
  });

  await t.test('refuses what is no report, and knows no tests of other batches', async (t) => {
    const { id } = (await begin('run-with-nonsense')).body;
    t.match(await report(id, { tests: [{ ...test('a'), attempts: [{}] }] }), { status: 400 });
    t.match(await report(id, { tests: Array(201).fill(test('a')) }), { status: 400 });
    const join = { build: '1', hash: 'h', jobs: [{ name: 'a' }] };
    const joined = (await call('POST', '/api/batches/join', join)).body;
    for (const path of ['tests', 'ctrf'])
      t.match(await call('GET', `/api/batches/${joined.id}/${path}`), { status: 404 });
  });
});
