import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { workerImageName } from '#troupe/containers/docker/worker-image.js';
import { containersOf, skipWithoutDocker } from '../support/docker.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { startOwnEngine } from '../support/own-engine.js';
import { makeHome, startTestService } from '../support/service.js';

guardLeaks(t);

/** A pool that cannot start anything looks again after half a minute at most. */
const REFILLED_MS = 90_000;

t.test(
  'An engine that is stopped costs its sessions, which are told WORKER_LOST; once it is there again the pool refills',
  { skip: skipWithoutDocker },
  async (t) => {
    const engine = await startOwnEngine(t, await workerImageName());
    const dockerHost = process.env.DOCKER_HOST;
    process.env.DOCKER_HOST = engine.host;
    t.teardown(() => {
      if (dockerHost === undefined) delete process.env.DOCKER_HOST;
      else process.env.DOCKER_HOST = dockerHost;
    });
    const settings = { driver: 'docker', warmSessions: 2, maxSessions: 4, createTimeout: 10 };
    const home = makeHome(t, settings);
    writeFileSync(join(home, 'flows', 'hold.js'), 'agent.go("data:text/html,held"); agent.wait(600000)');
    const service = await startTestService(t, settings, home);
    const recordOf = async (id: string) => (await service.call('GET', `/api/sessions/${id}`)).body;
    const warm = async () => (await service.call('GET', '/api/health')).body.capacity.warm;

    await eventually('browsers wait', async () => (await warm()) === 2, REFILLED_MS);
    const { id } = await service.live();
    const job = await service.call('POST', '/api/jobs', {
      prompt: 'hold on',
      flowFiles: ['hold.js'],
      maxIterations: 0,
    });
    t.equal(job.status, 201, JSON.stringify(job.body));
    await service.seen(job.body.id, 'SessionStarted');
    const before = (await containersOf('troupe.lease', engine.engine)).map(({ Id }) => Id);
    t.ok(before.length >= 2);

    const stoppedAt = performance.now();
    await engine.stop();
    await eventually('both have failed', async () => {
      const states = await Promise.all([id, job.body.id].map(recordOf));
      return states.every(({ state }) => state === 'failed');
    });
    t.comment(`known ${Math.round(performance.now() - stoppedAt)} ms after the engine was told to stop`);
    for (const lost of [id, job.body.id]) t.match(await recordOf(lost), { error: { code: 'WORKER_LOST' } });
    const asked = await service.call('POST', '/api/sessions', { viewport: { width: 800, height: 600 } });
    t.match(asked, { status: 503, body: { code: 'UNAVAILABLE' } }, 'a create is told at once');
    t.match(await service.call('GET', '/api/health'), { status: 200 });

    await engine.start();
    await eventually('the pool has refilled', async () => (await warm()) === 2, REFILLED_MS);
    const { id: next } = await service.live();
    t.match(await service.run(next, 'agent.go("data:text/html,<title>again</title>").title'), { body: 'again' });
    await service.call('DELETE', `/api/sessions/${next}`);
    await eventually(
      'nothing is left of the lost ones',
      async () => (await containersOf('troupe.lease', engine.engine)).every(({ Id }) => !before.includes(Id)),
      30_000,
    );
    await service.stop(0);
    t.same(await containersOf('troupe.lease', engine.engine), []);
  },
);
