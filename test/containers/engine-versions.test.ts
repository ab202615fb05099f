import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { apiVersion, isPodman } from '#troupe/containers/docker/api-version.js';
import { DockerEngine } from '#troupe/containers/docker/docker-engine.js';
import { findImage } from '#troupe/containers/docker/worker-image.js';
import { ENGINE_20_10, ENGINE_28, ENGINE_29, fakeEngine, PODMAN } from '../support/fake-engine.js';
import { guardLeaks } from '../support/leaks.js';
import { openFolder } from './driver-fixture.js';

guardLeaks(t);

const image = { Id: 'sha256:1' };
const OLD = { Version: '19.03.15', ApiVersion: '1.40', MinAPIVersion: '1.12' };

t.test('The API version is the oldest one that Troupe and the engine take', (t) => {
  const cases: readonly [string, string | undefined, string | null][] = [
    ['1.40', '1.12', null],
    ['1.9', '1.9', null],
    ['1.41', '1.12', '1.41'],
    ['1.41', undefined, '1.41'],
    ['1.51', '1.24', '1.41'],
    ['1.52', '1.44', '1.44'],
    ['1.100', '1.60', '1.60'],
    ['2.0', '2.0', '2.0'],
  ];
  for (const [ApiVersion, MinAPIVersion, version] of cases) {
    t.equal(apiVersion({ Version: 'x', ApiVersion, MinAPIVersion }), version, `${MinAPIVersion} to ${ApiVersion}`);
  }
  t.equal(isPodman({ ...PODMAN, Components: [...(PODMAN.Components ?? [])] }), true);
  t.equal(isPodman({ ...ENGINE_28, Components: [{ Name: 'Engine' }] }), false);
  t.end();
});

for (const [release, version] of [
  [ENGINE_20_10, '1.41'],
  [ENGINE_28, '1.41'],
  [ENGINE_29, '1.44'],
  [PODMAN, '1.41'],
] as const) {
  t.test(`Engine ${release.Version} is asked in API version ${version}`, async (t) => {
    const { socketPath, urls } = await fakeEngine(t, () => image, release);
    const engine = new DockerEngine(socketPath);
    t.same(await engine.version(), { version: release.Version });
    t.match(await findImage(engine, 'x'), { id: 'sha256:1' });
    await findImage(engine, 'x');
    t.same(urls, ['GET /version', ...Array(2).fill(`GET /v${version}/images/x/json`)], 'and asked for it once');
  });
}

t.test('An engine before 20.10 is refused with its version and what to do', async (t) => {
  const { socketPath } = await fakeEngine(t, () => image, OLD);
  const engine = new DockerEngine(socketPath);
  const message = /it is version 19\.03\.15, and 20\.10 or later is needed; upgrade Docker/;
  t.match(await engine.version(), { why: message });
  await t.rejects(findImage(engine, 'x'), { code: 'UNAVAILABLE', message });
});

t.test('An engine that was upgraded or replaced is asked in the version that it takes now', async (t) => {
  const fake = await fakeEngine(t, () => image, ENGINE_20_10);
  const engine = new DockerEngine(fake.socketPath);
  await findImage(engine, 'x');
  fake.become(ENGINE_29);
  await t.rejects(findImage(engine, 'x'), {
    code: 'UNAVAILABLE',
    message:
      /client version 1\.41 is too old\. Minimum supported API version is 1\.44.*\(GET \/images\/x\/json answered 400\)/,
  });
  t.match(await findImage(engine, 'x'), { id: 'sha256:1' });
});

t.test('What is no engine is said in one line', async (t) => {
  const folder = openFolder(t);
  writeFileSync(join(folder, 'file'), '');
  t.match(await new DockerEngine(join(folder, 'none')).version(), { why: /there is no such socket$/ });
  t.match(await new DockerEngine(join(folder, 'file')).version(), { why: /no engine is listening/ });
  const { socketPath } = await fakeEngine(t, () => image, { Version: 'x' } as never);
  t.match(await new DockerEngine(socketPath).version(), {
    why: /does not answer as an engine does; check DOCKER_HOST$/,
  });
});
