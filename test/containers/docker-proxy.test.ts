import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readConfig } from '#troupe/config.js';
import { containerStates } from '#troupe/containers/docker/container-states.js';
import { DockerDriver } from '#troupe/containers/docker/docker-driver.js';
import { recordDesktop } from '#troupe/containers/docker/docker-video.js';
import { removeLeftoverContainers } from '#troupe/containers/orphans.js';
import { bridgeAddress, usableDocker } from '#troupe/service/choose-driver.js';
import { ENGINE_20_10, ENGINE_29, type EngineAnswer, fakeEngine } from '../support/fake-engine.js';
import { guardLeaks } from '../support/leaks.js';
import { bounds, openFolder, testGate, wish } from './driver-fixture.js';

guardLeaks(t);

/** Whether deploy/docker-proxy.cfg lets a call through: its rules are `allow if <names of acls>`, then `deny`. */
function proxy(): (method: string, path: string) => boolean {
  const lines = readFileSync('deploy/docker-proxy.cfg', 'utf8').split('\n');
  const acls = new Map<string, ((method: string, path: string) => boolean)[]>();
  const rules: string[][] = [];
  for (const words of lines.map((line) => line.trim().split(/\s+/))) {
    const [keyword, name = '', kind, ...values] = words;
    if (keyword === 'acl') {
      const pattern = new RegExp(values[0] ?? '');
      const holds = (method: string, path: string) =>
        kind === 'method' ? values.includes(method) : pattern.test(path);
      acls.set(name, [...(acls.get(name) ?? []), holds]);
    }
    if (keyword === 'http-request' && name === 'allow') rules.push(words.slice(3));
  }
  acls.set('METH_POST', [(method) => method === 'POST']);
  acls.set('method-DELETE', [(method) => method === 'DELETE']);
  const names = (rule: readonly string[]) => rule.join(' ').replace('{ method DELETE }', 'method-DELETE').split(' ');
  return (method, path) =>
    rules.some((rule) => names(rule).every((name) => acls.get(name)?.some((holds) => holds(method, path)) === true));
}

const REFUSED = [
  'POST /v1.41/build',
  'POST /v1.41/images/create',
  'POST /v1.41/exec/0a1b/resize',
  'GET /v1.41/exec/0a1b/start',
  'POST /v1.41/containers/0a1b/attach',
  'PUT /v1.41/containers/0a1b/archive',
  'POST /v1.41/volumes/create',
  'DELETE /v1.41/images/0a1b',
  'POST /v1.41/swarm/init',
];

t.test('The proxy before the engine lets through every call that the service makes, videos too', async (t) => {
  for (const release of [ENGINE_20_10, ENGINE_29]) {
    const { socketPath, urls, calls } = await fakeEngine(t, endingEngine(), release);
    await useEverything(t, socketPath);
    const passes = proxy();
    const made = urls.map((url) => url.replace(/\?.*/, ''));
    t.same(
      made.filter((call) => !passes(...(call.split(' ') as [string, string]))),
      [],
    );
    const kinds = new Set(calls.map((call) => call.replace(/\/troupe-\w+-\w+$|c0ffee|beef/, '*').replace('x:1', '*')));
    t.same([...kinds].sort(), [
      'DELETE /containers/*',
      'GET /containers/*/logs',
      'GET /containers/json',
      'GET /events',
      'GET /images/*/json',
      'GET /info',
      'GET /networks/bridge',
      'POST /containers/*/exec',
      'POST /containers/*/start',
      'POST /containers/create',
      'POST /exec/*/start',
    ]);
  }
});

t.test('The proxy before the engine lets nothing else through', (t) => {
  const passes = proxy();
  t.same(
    REFUSED.filter((call) => passes(...(call.split(' ') as [string, string]))),
    [],
  );
  t.end();
});

const CONTAINER = { Id: 'c0ffee', State: 'running', Labels: { 'troupe.lease': 'left', 'troupe.instance': 'fake' } };

/** An engine whose containers end as soon as they are started. */
function endingEngine(): EngineAnswer {
  const followers = new Set<ServerResponse>();
  const died = `${JSON.stringify({ Action: 'die', Actor: { ID: 'c0ffee', Attributes: { exitCode: '1' } } })}\n`;
  let hasEnded = false;
  return (call, response) => {
    if (call === 'GET /events') {
      response.writeHead(200).flushHeaders();
      followers.add(response);
      // The call for the events may arrive after the one that starts the container.
      if (hasEnded) response.write(died);
      return undefined;
    }
    if (call.endsWith('/start') && call.includes('containers')) {
      hasEnded = true;
      for (const one of followers) one.write(died);
    }
    if (call === 'GET /containers/json') return [CONTAINER];
    if (call === 'GET /networks/bridge') return { IPAM: { Config: [{ Gateway: '172.17.0.1' }] } };
    if (call.endsWith('/exec')) return { Id: 'beef' };
    return { Id: 'c0ffee' };
  };
}

/** Everything that a service with the docker driver, and one without, asks of an engine. */
async function useEverything(t: Test, socketPath: string): Promise<void> {
  const docker = await usableDocker({
    dockerSocket: socketPath,
    worker: { ...readConfig({}, {}).worker, image: 'x:1' },
  });
  if ('why' in docker) throw new Error(docker.why);
  const { engine } = docker;
  t.equal(await bridgeAddress(engine), '172.17.0.1');
  const workDir = join(openFolder(t), 'w');
  const gate = testGate();
  const driver = await DockerDriver.create({
    engine,
    gate,
    workDir,
    instance: 'fake',
    imageId: docker.image.id,
    seccomp: '{}',
    labelsFiles: false,
    remapsUsers: false,
    maxPauseMs: 1_000,
    limits: { memoryMb: 64, pids: 10, cpus: 1, downloadsMb: 1, scale: 1 },
  });
  await t.rejects(driver.lease(wish('a'), bounds()), { message: /ended before its browser/ });
  t.same(await driver.sweep(new Set()), ['left']);
  const video = await recordDesktop(engine, 'c0ffee', AbortSignal.timeout(60_000));
  video.on('error', () => undefined).resume();
  t.same(await containerStates(engine, 'fake'), new Map([['running', 1]]));
  t.equal(await removeLeftoverContainers(engine, { workDir, instance: 'fake' }), 1);
}
