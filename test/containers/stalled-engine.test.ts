import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DockerDriver } from '#troupe/containers/docker/docker-driver.js';
import { DockerEngine } from '#troupe/containers/docker/docker-engine.js';
import { leaseFolderPath } from '#troupe/containers/lease-name.js';
import { guardLeaks } from '../support/leaks.js';
import { bounds, openFolder, testGate, wish, within } from './driver-fixture.js';

guardLeaks(t);

/** What is not meant to be waited for ends long before the engine's own deadline of 30 s. */
const PATIENCE_MS = 15_000;

/** An engine whose answers are a test's; undefined lets the call hang. */
async function fakeEngine(t: Test, answer: (call: string, response: ServerResponse) => unknown) {
  const folder = openFolder(t);
  const calls: string[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer((request: IncomingMessage, response) => {
    const call = `${request.method} ${new URL(request.url ?? '/', 'http://x').pathname.replace('/v1.41', '')}`;
    calls.push(call);
    const said = answer(call, response);
    if (said !== undefined) response.end(JSON.stringify(said));
  });
  server.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)));
  const path = join(folder, 's');
  await new Promise<void>((resolve) => server.listen(path, resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const engine = new DockerEngine(path);
  const workDir = join(folder, 'w');
  const gate = testGate();
  // Its thread takes a moment to start, which is not what is measured here.
  await gate.open('first', { port: null }, { kind: 'socks' });
  // The doors of a start whose container was not removed are closed by a sweep.
  t.teardown(() => Promise.all(['first', 'late', 'cut'].map((leaseId) => gate.close(leaseId))));
  const driver = await DockerDriver.create({
    engine,
    gate,
    workDir,
    instance: 'fake',
    imageId: 'none',
    seccomp: '{}',
    labelsFiles: false,
    remapsUsers: false,
    maxPauseMs: 1_000,
    limits: { memoryMb: 64, pids: 10, cpus: 1, downloadsMb: 1, scale: 1 },
  });
  return { engine, driver, calls, workDir };
}

const container = (leaseId: string) => ({ Id: `id-${leaseId}`, Labels: { 'troupe.lease': leaseId } });

t.test('A start answers by its deadline, also where the engine takes the call and never answers', async (t) => {
  const { driver, calls } = await fakeEngine(t, () => undefined);
  const startedAt = performance.now();
  const start = driver.lease(wish('late'), bounds(2_000));
  await t.rejects(within(PATIENCE_MS, start), { code: 'UNAVAILABLE', message: 'No browser was ready within 2000 ms' });
  t.comment(`answered after ${Math.round(performance.now() - startedAt)} ms`);
  t.ok(calls.includes('POST /containers/create'));
});

t.test('A start that is given up while the engine stalls ends at once', async (t) => {
  const { driver } = await fakeEngine(t, (call) => (call.startsWith('DELETE') ? {} : undefined));
  const giveUp = new AbortController();
  const start = driver.lease(wish('cut'), { signal: giveUp.signal, deadlineMs: 60_000 });
  giveUp.abort();
  await t.rejects(within(PATIENCE_MS, start), { code: 'UNAVAILABLE', message: /given up/ });
});

t.test('A container that a stalled engine makes after all is removed by the next sweep', async (t) => {
  let isThere = false;
  const { driver, calls } = await fakeEngine(t, (call) => {
    if (call === 'GET /containers/json') return isThere ? [container('late')] : [];
    return call.startsWith('DELETE') ? {} : undefined;
  });
  await t.rejects(within(PATIENCE_MS, driver.lease(wish('late'), bounds(1_000))), { code: 'UNAVAILABLE' });
  t.ok(calls.includes('DELETE /containers/troupe-fake-late'), 'it is removed by its name, in case it was made');
  isThere = true;
  t.same(await driver.sweep(new Set()), ['late']);
  t.ok(calls.includes('DELETE /containers/id-late'));
});

t.test('All adoptions of a start share one listing of containers', async (t) => {
  const ids = Array.from({ length: 20 }, (_, index) => `s${index}`);
  const { driver, calls, workDir } = await fakeEngine(t, (call) =>
    call === 'GET /containers/json' ? ids.map(container) : {},
  );
  const adoptions = ids.map((leaseId) =>
    driver.adopt({
      driver: 'docker',
      leaseId,
      containerId: `id-${leaseId}`,
      folder: leaseFolderPath(workDir, leaseId),
      cdpUrl: 'ws+unix:/nowhere:/devtools/browser/x',
      product: 'Chromium',
    }),
  );
  t.same(
    await Promise.all(adoptions),
    ids.map(() => null),
  );
  t.same(calls, ['GET /containers/json']);
});

t.test('An engine that begins an answer and does not end it fails the call by its deadline', async (t) => {
  const { engine } = await fakeEngine(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('[');
    return undefined;
  });
  const call = engine.call('GET', '/containers/json', { deadlineMs: 300 });
  await t.rejects(within(PATIENCE_MS, call), { code: 'UNAVAILABLE', message: /did not end in time/ });
});

const STARTS = ['POST /containers/create', 'GET /events', 'POST /containers/id-cut/start', 'DELETE /containers/id-cut'];

for (const cutCall of STARTS) {
  t.test(`A start whose connection for ${cutCall} is cut once leaves no container`, async (t) => {
    let cuts = 0;
    const removed = new Set<string>();
    const { driver } = await fakeEngine(t, (call, response) => {
      if (call === cutCall && cuts++ === 0) return void response.socket?.destroy();
      if (call === 'GET /events') return void response.writeHead(200).flushHeaders();
      if (call === 'GET /containers/json') return removed.size === 0 ? [container('cut')] : [];
      if (call.startsWith('DELETE')) removed.add(call.slice('DELETE /containers/'.length));
      if (call.endsWith('/start')) response.statusCode = 500;
      return call === 'POST /containers/create' ? { Id: 'id-cut' } : { message: 'it cannot be started; try again' };
    });
    const start = driver.lease(wish('cut'), bounds(10_000));
    await t.rejects(within(PATIENCE_MS, start), { code: 'UNAVAILABLE', message: /try again/ });
    if (removed.size === 0) t.same(await driver.sweep(new Set()), ['cut'], 'the next sweep removes it');
    t.ok(cuts > 0, 'it was cut');
    t.ok(removed.size > 0, 'nothing is left');
  });
}

t.test('A container that ends at once is removed, also where its last words cannot be read', async (t) => {
  const { driver, calls } = await fakeEngine(t, (call, response) => {
    if (call === 'GET /events') {
      response.writeHead(200);
      const actor = { ID: 'id-cut', Attributes: { exitCode: '1' } };
      return void response.write(`${JSON.stringify({ Action: 'die', Actor: actor })}\n`);
    }
    if (call.endsWith('/logs')) return void response.socket?.destroy();
    if (call === 'POST /containers/create') return { Id: 'id-cut' };
    return call === 'GET /containers/json' ? [container('cut')] : {};
  });
  const start = driver.lease(wish('cut'), bounds(10_000));
  await t.rejects(within(PATIENCE_MS, start), { code: 'UNAVAILABLE', message: /ended before its browser/ });
  t.ok(calls.includes('DELETE /containers/id-cut'));
});
