import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { request } from 'node:http';
import { join as joinPath } from 'node:path';
import t from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome, startTestService } from '../support/service.js';
import { readZip } from '../support/zip.js';
import { zipOf } from '../support/zip-of.js';

guardLeaks(t);
process.env.DOCKER_HOST = 'unix:///nonexistent/docker.sock';

const passed = {
  state: 'completed',
  startedAt: '2026-01-02T03:04:05.000Z',
  durationMs: 1500,
  sessionId: 'abcdefghijkl',
  failure: null,
  mayPassAgain: false,
};
const failed = {
  ...passed,
  state: 'failed',
  failure: { code: 'MATCH_FAILED', message: 'not the same' },
  mayPassAgain: true,
};
const ADMIN = { authorization: 'Bearer correct-horse' };
const zip = Buffer.from('PK\u0005\u0006'.padEnd(22, '\0'), 'latin1');

t.test('A joined batch', async (t) => {
  const service = await startTestService(t, { maxSessions: 1, warmSessions: 0 });
  const { call } = service;
  const join = (build: string, names: string[], more: object = {}) =>
    call('POST', '/api/batches/join', {
      build,
      hash: 'h1',
      jobs: names.map((name) => ({ name, flow: name })),
      ...more,
    });
  const claim = (id: string, more: object = {}) =>
    call('POST', `/api/batches/${id}/claim`, { machine: 'm', lease: 300, ...more });
  const finish = (id: string, token: string, result: object) =>
    call('POST', `/api/batches/${id}/claims/${token}/result`, result);
  const store = (id: string, token: string) =>
    call('PUT', `/api/batches/${id}/claims/${token}/artifacts`, undefined, { body: zip });
  const flowsOf = async (id: string) => (await call('GET', `/api/batches/${id}/results`)).body.flows;

  await t.test(
    'is made by the first machine of a build, and joined by the others that have the same flows',
    async (t) => {
      const [one, other] = await Promise.all([join('b1', ['a', 'b']), join('b1', ['b', 'a'])]);
      t.match([one, other], [{ status: 200 }, { status: 200 }]);
      t.equal(one.body.id, other.body.id);
      t.same([one.body.created, other.body.created].sort(), [false, true], 'at the same moment one of them makes it');
      t.match(one.body, { state: 'queued', join: { build: 'b1', hash: 'h1' }, counts: { total: 2, queued: 2 } });
      const differing = await join('b1', ['a'], { hash: 'h2' });
      t.match(differing, {
        status: 400,
        body: { code: 'INVALID_REQUEST', error: /build b1 was begun with other flows/ },
      });
      t.match(await join('b9', ['a', 'a']), { status: 400, body: { code: 'INVALID_REQUEST' } });
      t.match(await join('b9', []), { status: 400 });
      t.not((await join('b2', ['a'])).body.id, one.body.id, 'another build is another batch');
    },
  );

  await t.test('hands out each flow once, in order, until all have ended', async (t) => {
    const { id } = (await join('b3', ['a', 'b', 'c'])).body;
    const claims = await Promise.all(Array.from({ length: 4 }, () => claim(id)));
    const given = claims.filter(({ body }) => body.state === 'claimed').map(({ body }) => body);
    t.same(given.map(({ job }) => job.name).sort(), ['a', 'b', 'c']);
    t.match(claims.find(({ body }) => body.state !== 'claimed')?.body, { state: 'waiting', retryAfter: 2 });
    const [first, second, third] = given;
    t.match(first, { token: /^[\w-]{24}$/, lease: 300, job: { attempt: 1, retries: 0 } });
    const stored = await store(id, first.token);
    t.match(stored, { status: 200, body: { bytes: zip.length } });
    t.equal((await finish(id, first.token, passed)).status, 200);
    t.equal((await finish(id, first.token, failed)).status, 200, 'a result that is sent again is taken as what it was');
    await finish(id, second.token, failed);
    await finish(id, third.token, { ...passed, state: 'stopped' });
    t.match((await claim(id)).body, { state: 'ended' });
    const flows = await flowsOf(id);
    const of = (name: string) => flows.find((flow: { name: string }) => flow.name === name);
    t.match(of(first.job.name), { state: 'completed', machine: 'm', attempts: [{ attempt: 1, result: passed }] });
    t.match(of(second.job.name), { state: 'failed', attempts: [{ result: failed, artifacts: null }] });
    const file = await call('GET', of(first.job.name).attempts[0].artifacts);
    t.equal(file.status, 200);
    t.equal(file.headers.get('content-type'), 'application/zip');
    t.match((await call('GET', `/api/batches/${id}`)).body, {
      state: 'failed',
      endedAt: String,
      counts: { total: 3, queued: 0, running: 0, completed: 1, failed: 1, stopped: 1 },
    });
    t.match((await call('GET', '/api/batches')).body.batches[0], { id, counts: { completed: 1 } });
    t.match((await call('GET', `/api/stats?flow=${first.job.name}`)).body.flows, [{ passed: 1 }], 'history knows it');
  });

  await t.test('gives a failed flow out again as its retries say', async (t) => {
    const { id } = (await join('b4', [], { jobs: [{ name: 'a', retries: 1 }] })).body;
    await finish(id, (await claim(id)).body.token, failed);
    const again = (await claim(id)).body;
    t.match(again, { state: 'claimed', job: { name: 'a', attempt: 2, retries: 1 } });
    await finish(id, again.token, passed);
    t.match(await flowsOf(id), [{ state: 'completed', attempts: [{ attempt: 1 }, { attempt: 2 }] }]);
    t.match((await call('GET', `/api/batches/${id}`)).body.counts, { completed: 1, flaky: 1 });
    const mistake = (await join('b5', [], { jobs: [{ name: 'a', retries: 3 }] })).body.id;
    await finish(mistake, (await claim(mistake)).body.token, { ...failed, mayPassAgain: false });
    t.match(await flowsOf(mistake), [{ state: 'failed' }], 'not if it fails in the same way each time');
  });

  await t.test('takes the flow of a lost machine back: what that one sends then changes nothing', async (t) => {
    const jobs = [{ name: 'once' }, { name: 'twice', retries: 1 }];
    const { id } = (await join('b6', [], { jobs })).body;
    const [once, twice] = [await claim(id, { lease: 1 }), await claim(id)].map(({ body }) => body);
    const renewed = await call('POST', `/api/batches/${id}/claims/${twice.token}/renew`, { lease: 300 });
    t.match(renewed, { status: 200, body: { lease: 300 } });
    await eventually(
      'the claim that was not renewed has expired',
      async () => (await flowsOf(id))[0].state === 'failed',
    );
    t.match(await flowsOf(id), [{ attempts: [{ result: null, machine: 'm' }] }, { state: 'running', attempts: [] }]);
    await call('POST', `/api/batches/${id}/claims/${twice.token}/renew`, { lease: 1 });
    await eventually('the other one, too', async () => (await flowsOf(id))[1].state === 'queued');
    const second = (await claim(id, { machine: 'other' })).body;
    t.match(second, { state: 'claimed', job: { name: 'twice', attempt: 2 } });
    const before = await flowsOf(id);
    const lost = { status: 409, body: { code: 'CLAIM_LOST' } };
    for (const { token } of [once, twice, { token: 'x'.repeat(24) }, { token: 'short' }]) {
      t.match(await finish(id, token, passed), lost, token);
      t.match(await call('POST', `/api/batches/${id}/claims/${token}/renew`, {}), lost);
      t.match(await store(id, token), lost);
    }
    t.same(await flowsOf(id), before);
    await finish(id, second.token, passed);
    t.match(await flowsOf(id), [{ state: 'failed' }, { state: 'completed', machine: 'other' }]);
  });

  await t.test('is collected as one zip and one JUnit file, as other batches are', async (t) => {
    const { id } = (
      await join('c1', [], { jobs: [{ name: 'shop/buy', retries: 1 }, { name: 'login' }, { name: 'left' }] })
    ).body;
    const empty = await call('GET', `/api/batches/${id}/junit`);
    t.match(empty, { status: 200, body: '<testsuites name="troupe" tests="3" failures="0" errors="3"' });
    const run = async (result: object, files?: { readonly [name: string]: string }) => {
      const { token } = (await claim(id)).body;
      const sent = files === undefined ? null : { body: await zipOf(files) };
      if (sent !== null) await call('PUT', `/api/batches/${id}/claims/${token}/artifacts`, undefined, sent);
      await finish(id, token, result);
    };
    const screenshot = 'screenshots/001-buy.png';
    await run(
      { ...failed, failure: { ...failed.failure, screenshot } },
      { 'report.html': 'first', [screenshot]: 'picture' },
    );
    await run(
      { ...failed, mayPassAgain: false, failure: { ...failed.failure, screenshot } },
      { 'report.html': 'again' },
    );
    await run(passed, { 'report.html': 'login', 'report.json': '{}' });
    const files = await readZip(`${service.url}/api/batches/${id}/download`);
    t.same(
      [...files].map(([name, content]) => [name, String(content)]).sort(),
      [
        ['login/report.html', 'login'],
        ['login/report.json', '{}'],
        ['shop/buy/report.html', 'first'],
        ['shop/buy/retry-1/report.html', 'again'],
        [`shop/buy/${screenshot}`, 'picture'],
      ].sort(),
    );
    const junit = async (query = '') => (await call('GET', `/api/batches/${id}/junit${query}`)).body;
    t.match(await junit(), '<testsuites name="troupe" tests="3" failures="1" errors="1"');
    t.match(await junit(), /<failure type="MATCH_FAILED" message="not the same"/);
    t.match(await junit(), new RegExp(`Report: ${service.url}/api/batches/${id}/results/0-2-\\w{12}\\.zip`));
    t.match(await junit('?links=files&folder=out'), /Report: out\/shop\/buy\/retry-1\/report\.html/);
    t.match(await junit('?links=files&folder=out'), `[[ATTACHMENT|out/shop/buy/retry-1/${screenshot}]]`);
    t.notMatch(await junit('?links=none'), /Report: /);
  });

  await t.test('answers a claim that is sent again, after a lost answer, with the same flow', async (t) => {
    const { id } = (await join('b7', ['a', 'b'])).body;
    const token = randomBytes(18).toString('base64url');
    const [one, other] = [await claim(id, { token }), await claim(id, { token })];
    t.same(one.body, other.body);
    await finish(id, token, passed);
    t.match(await claim(id, { token }), { status: 409, body: { code: 'CLAIM_LOST' } }, 'a token is for one claim');
    t.match((await call('GET', `/api/batches/${id}`)).body.counts, { completed: 1, queued: 1, running: 0 });
  });

  await t.test('keeps the zip that came with the result, although another upload ends later', async (t) => {
    const { id } = (await join('u1', ['a'])).body;
    const { token } = (await claim(id)).body;
    const path = `/api/batches/${id}/claims/${token}/artifacts`;
    const slow = request(service.url + path, { method: 'PUT' });
    const answered = once(slow, 'response');
    slow.write(zip.subarray(0, 10));
    const folder = joinPath(service.home, 'batches', id, 'results');
    await eventually('the first upload has begun', () => existsSync(folder) && readdirSync(folder).length > 0);
    const whole = await zipOf({ 'report.html': 'the report' });
    t.match(await call('PUT', path, undefined, { body: whole }), { status: 200, body: { bytes: whole.length } });
    await finish(id, token, passed);
    slow.end(zip.subarray(10));
    const [response] = await answered;
    response.resume();
    t.equal(response.statusCode, 409, 'the claim has ended');
    const [{ attempts }] = await flowsOf(id);
    const kept = await readZip(service.url + attempts[0].artifacts);
    t.equal(String(kept.get('report.html')), 'the report');
    t.equal(readdirSync(folder).length, 1, 'nothing else is left');
  });

  await t.test('loses an upload that breaks, and nothing else', async (t) => {
    const { id } = (await join('u2', ['a'])).body;
    const { token } = (await claim(id)).body;
    const path = `/api/batches/${id}/claims/${token}/artifacts`;
    const broken = request(service.url + path, { method: 'PUT' });
    broken.on('error', () => undefined);
    broken.write(zip.subarray(0, 10));
    const folder = joinPath(service.home, 'batches', id, 'results');
    const files = () => (existsSync(folder) ? readdirSync(folder).length : 0);
    await eventually('the upload has begun', () => files() > 0);
    broken.destroy();
    await eventually('its part is removed', () => files() === 0);
    t.equal((await finish(id, token, passed)).status, 200);
    t.match(await flowsOf(id), [{ state: 'completed', attempts: [{ artifacts: null }] }]);
  });

  await t.test('refuses what it cannot keep in bounds, or has no meaning for', async (t) => {
    const { id } = (await join('u3', ['a'])).body;
    const { token } = (await claim(id)).body;
    const long = { ...failed, failure: { ...failed.failure, message: 'x'.repeat(70_000) } };
    t.match(await finish(id, token, long), { status: 413, body: { code: 'BODY_TOO_LARGE' } });
    t.match(await finish(id, token, { ...passed, state: 'running' }), { status: 400 });
    for (const path of ['x', '0-1-000000000000.zip', '0-1-000000000000.zip.part', '..%2f..%2ftroupe.json']) {
      const { status } = await call('GET', `/api/batches/${id}/results/${path}`);
      t.ok(status === 404 || status === 400, path);
    }
    t.match(await call('POST', `/api/batches/${id}/rerun`, {}), { status: 400, body: { error: /troupe run --join/ } });
    t.match(await call('GET', `/api/batches/${id}/events`), { status: 404, body: { error: /results has them/ } });
    t.match(await flowsOf(id), [{ state: 'running' }]);
  });

  await t.test('can be stopped and removed; other batches and unknown ones have nothing to claim', async (t) => {
    const { id } = (await join('b8', ['a', 'b'])).body;
    const { token } = (await claim(id)).body;
    t.match(await call('DELETE', `/api/batches/${id}`), {
      status: 200,
      body: { state: 'stopped', counts: { stopped: 2 } },
    });
    t.match(await finish(id, token, passed), { status: 409, body: { code: 'CLAIM_LOST' } });
    t.match((await claim(id)).body, { state: 'ended' });
    await call('DELETE', `/api/batches/${id}?purge=true`);
    t.match(await claim(id), { status: 404, body: { code: 'NOT_FOUND' } });
    t.match((await join('b8', ['a'])).body, { created: true }, 'the build is free again');
    t.match(await claim('aaaaaaaaaaaa'), { status: 404, body: { code: 'NOT_FOUND' } });
    t.match(await claim('no-id'), { status: 404 });
    const jobs = [{ prompt: 'x', flowFiles: ['none.js'], maxIterations: 0 }];
    const plain = await call('POST', '/api/batches', { jobs, flows: { 'none.js': '1' } });
    t.match(await claim(plain.body.id), { status: 404, body: { code: 'NOT_FOUND', error: /runs the jobs .* itself/ } });
    await call('DELETE', `/api/batches/${plain.body.id}?purge=true`);
  });
});

t.test('All machines of a build use the same access token', async (t) => {
  const home = makeHome(t, { token: 'JOINED_TEST_TOKEN' });
  process.env.JOINED_TEST_TOKEN = 'correct-horse';
  t.teardown(() => delete process.env.JOINED_TEST_TOKEN);
  const { call } = await startTestService(t, {}, home);
  const as = (token: string) => (method: string, path: string, body: object) =>
    call(method, path, body, { headers: { authorization: `Bearer ${token}` } });
  const admin = as('correct-horse');
  const [one, other] = await Promise.all(
    ['one', 'other'].map(async (name) => as((await admin('POST', '/api/tokens', { name, role: 'run' })).body.token)),
  );
  if (one === undefined || other === undefined) return;
  const request = { build: 'b', hash: 'h', jobs: [{ name: 'a' }] };
  const { id } = (await one('POST', '/api/batches/join', request)).body;
  const refused = { status: 403, body: { code: 'FORBIDDEN', error: /begun with another access token/ } };
  for (const caller of [other, admin]) {
    t.match(await caller('POST', '/api/batches/join', request), refused);
    t.match(await caller('POST', `/api/batches/${id}/claim`, {}), refused);
  }
  t.match(await one('POST', '/api/batches/join', request), { status: 200, body: { id, created: false } });
  t.match(await one('POST', `/api/batches/${id}/claim`, {}), { body: { state: 'claimed' } });

  const suite = (await one('POST', '/api/batches/suite', { run: 'a-run-of-a-suite' })).body;
  const about = { suite: 'a.spec.ts', project: null, repeat: 0, file: 'a.spec.ts', line: 7, column: 1, tags: [] };
  const end = { attempt: 1, expectedStatus: 'passed', startedAt: passed.startedAt, durationMs: 5, sessionId: null };
  const failure = { code: 'MATCH_FAILED', message: 'not the same' };
  const of = (title: string, ...attempts: readonly object[]) => ({
    ...{ id: title, titlePath: [title], ...about, reason: null },
    attempts: attempts.map((attempt) => ({ ...end, failure: null, ...attempt })),
  });
  const tests = [
    of('passes', { status: 'passed' }),
    of('fails', { status: 'failed', failure }),
    of('is expected to fail', { status: 'failed', expectedStatus: 'failed' }),
    of('is flaky', { status: 'failed', failure }, { attempt: 2, status: 'passed' }),
    of('is skipped', { status: 'skipped', expectedStatus: 'skipped' }),
    of('is not run'),
  ];
  const report = { tests, whole: true, end: true };
  t.match(await other('POST', `/api/batches/${suite.id}/tests`, report), refused, 'a suite has one, too');
  t.equal((await one('POST', `/api/batches/${suite.id}/tests`, report)).status, 200);
  const record = (await call('GET', `/api/batches/${suite.id}`, undefined, { headers: ADMIN })).body;
  const counts = { total: 6, completed: 4, flaky: 1, failed: 1, skipped: 1, notRun: 1, queued: 0, running: 0 };
  t.match(record, { state: 'failed', suite: { whole: true }, counts });
  const junit = (await call('GET', `/api/batches/${suite.id}/junit`, undefined, { headers: ADMIN })).body;
  t.match(junit, /tests="6" failures="1" errors="1" skipped="1"/);
});
