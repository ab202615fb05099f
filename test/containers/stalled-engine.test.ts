import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DockerDriver } from '#troupe/containers/docker/docker-driver.js';
import { DockerEngine } from '#troupe/containers/docker/docker-engine.js';
import { findImage } from '#troupe/containers/docker/worker-image.js';
import { leaseFolderPath } from '#troupe/containers/lease-name.js';
import { type EngineAnswer, fakeEngine } from '../support/fake-engine.js';
import { guardLeaks } from '../support/leaks.js';
import { bounds, inTime, openFolder, testGate, wish } from './driver-fixture.js';

guardLeaks(t);

/** A driver of an engine whose answers are a test's; undefined lets a call hang. */
async function driverOf(t: Test, answer: EngineAnswer, deadlineMs?: number) {
  const { socketPath, calls } = await fakeEngine(t, answer);
  const engine = new DockerEngine(socketPath, deadlineMs);
  const workDir = join(openFolder(t), 'w');
  const gate = testGate();
  // Its thread takes a moment to start, which is not what is measured here.
  await gate.open('first', { port: null }, { kind: 'socks' });
  // The ways of a start whose container was not removed are closed by a sweep.
  t.teardown(() => Promise.all(['first', 'late', 'cut'].map((leaseId) => gate.close(leaseId))));
  const said: string[] = [];
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
    log: (line) => void said.push(line),
  });
  return { engine, driver, calls, workDir, said };
}

const container = (leaseId: string) => ({ Id: `id-${leaseId}`, Labels: { 'troupe.lease': leaseId } });

t.test('A start answers by its deadline, also where the engine takes the call and never answers', async (t) => {
  const { driver, calls } = await driverOf(t, () => undefined);
  const startedAt = performance.now();
  const start = driver.lease(wish('late'), bounds(2_000));
  await t.rejects(inTime(start), { code: 'UNAVAILABLE', message: 'No browser was ready within 2000 ms' });
  t.comment(`answered after ${Math.round(performance.now() - startedAt)} ms`);
  t.ok(calls.includes('POST /containers/create'));
});

t.test('A start that is given up while the engine stalls ends at once', async (t) => {
  const { driver } = await driverOf(t, (call) => (call.startsWith('DELETE') ? {} : undefined));
  const giveUp = new AbortController();
  const start = driver.lease(wish('cut'), { signal: giveUp.signal, deadlineMs: 60_000 });
  giveUp.abort();
  await t.rejects(inTime(start), { code: 'UNAVAILABLE', message: /cancelled/ });
});

t.test('A container that a stalled engine makes after all is removed by the next sweep', async (t) => {
  let isThere = false;
  const { driver, calls } = await driverOf(t, (call) => {
    if (call === 'GET /containers/json') return isThere ? [container('late')] : [];
    return call.startsWith('DELETE') ? {} : undefined;
  });
  await t.rejects(inTime(driver.lease(wish('late'), bounds(1_000))), { code: 'UNAVAILABLE' });
  t.ok(calls.includes('DELETE /containers/troupe-fake-late'), 'it is removed by its name, in case it was made');
  isThere = true;
  t.same(await driver.sweep(new Set()), ['late']);
  t.ok(calls.includes('DELETE /containers/id-late'));
});

t.test('All adoptions of a start share one listing of containers', async (t) => {
  const ids = Array.from({ length: 20 }, (_, index) => `s${index}`);
  const { driver, calls, workDir } = await driverOf(t, (call) =>
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
  const { engine } = await driverOf(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('[');
    return undefined;
  });
  const call = (await engine.docker({ deadlineMs: 300 })).listContainers();
  await t.rejects(inTime(call), { code: 'UNAVAILABLE', message: /did not end in time/ });
});

/** Answers but for one call, which hangs, or whose body ends in the middle. */
function stallsAt(stalled: string, part: '' | '['): EngineAnswer {
  return (call, response) => {
    if (call !== stalled) return call === 'GET /containers/json' ? [container('late')] : { Id: 'id-late' };
    if (part !== '') response.writeHead(200, { 'content-type': 'application/json' }).write(part);
    return undefined;
  };
}

for (const part of ['', '['] as const) {
  const how = part === '' ? 'never answers' : 'stops in the middle of its answer';

  t.test(`A removal of an engine that ${how} ends by its deadline, and is done by a later sweep`, async (t) => {
    let stalls = true;
    const stalling = stallsAt('DELETE /containers/id-late', part);
    const answer: EngineAnswer = (...call) => (stalls ? stalling : stallsAt('none', ''))(...call);
    const { driver, said } = await driverOf(t, answer, 300);
    t.same(await inTime(driver.sweep(new Set())), []);
    t.match(said, [/could not be removed: Docker engine at .*(no answer within|did not end in time)/]);
    stalls = false;
    t.same(await driver.sweep(new Set()), ['late']);
  });

  t.test(`A sweep fails by its deadline when the engine's list of containers ${how}`, async (t) => {
    const { driver } = await driverOf(t, stallsAt('GET /containers/json', part), 300);
    await t.rejects(inTime(driver.sweep(new Set())), { code: 'UNAVAILABLE' });
  });

  t.test(`A start ends by its deadline when the engine's answer to it ${how}`, async (t) => {
    for (const call of ['POST /containers/create', 'POST /containers/id-late/start']) {
      const { driver } = await driverOf(t, stallsAt(call, part), 300);
      await t.rejects(inTime(driver.lease(wish('late'), bounds())), { code: 'UNAVAILABLE' }, call);
    }
  });

  t.test(`The look for the worker image fails by its deadline when the engine ${how}`, async (t) => {
    const { socketPath } = await fakeEngine(t, stallsAt('GET /images/x/json', part));
    const engine = new DockerEngine(socketPath, 300);
    await t.rejects(inTime(findImage(engine, 'x')), { code: 'UNAVAILABLE' });
  });
}

t.test('An answer without end is refused, and its connection closed', async (t) => {
  const { engine } = await driverOf(t, (_, response) => {
    const more = Buffer.alloc(1_048_576, 'x');
    const write = (): void => {
      while (!response.destroyed && response.write(more));
    };
    response.on('drain', write);
    write();
    return undefined;
  });
  const call = (await engine.docker()).listContainers();
  await t.rejects(inTime(call), { code: 'UNAVAILABLE', message: /endless response/ });
});

const STARTS = ['POST /containers/create', 'GET /events', 'POST /containers/id-cut/start', 'DELETE /containers/id-cut'];

for (const cutCall of STARTS) {
  t.test(`A start whose connection for ${cutCall} is cut once leaves no container`, async (t) => {
    let cuts = 0;
    const removed = new Set<string>();
    const { driver } = await driverOf(t, (call, response) => {
      if (call === cutCall && cuts++ === 0) return void response.socket?.destroy();
      if (call === 'GET /events') return void response.writeHead(200).flushHeaders();
      if (call === 'GET /containers/json') return removed.size === 0 ? [container('cut')] : [];
      if (call.startsWith('DELETE')) removed.add(call.slice('DELETE /containers/'.length));
      if (call.endsWith('/start')) response.statusCode = 500;
      return call === 'POST /containers/create' ? { Id: 'id-cut' } : { message: 'it cannot be started; try again' };
    });
    const start = driver.lease(wish('cut'), bounds(10_000));
    await t.rejects(inTime(start), { code: 'UNAVAILABLE', message: /try again/ });
    if (removed.size === 0) t.same(await driver.sweep(new Set()), ['cut'], 'the next sweep removes it');
    t.ok(cuts > 0, 'it was cut');
    t.ok(removed.size > 0, 'nothing is left');
  });
}

t.test('A container that ends at once is removed, also where its last words cannot be read', async (t) => {
  const { driver, calls } = await driverOf(t, (call, response) => {
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
  await t.rejects(inTime(start), { code: 'UNAVAILABLE', message: /ended before its browser/ });
  t.ok(calls.includes('DELETE /containers/id-cut'));
});
