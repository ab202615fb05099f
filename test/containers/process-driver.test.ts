import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { skipWithoutSandbox } from '../support/programs.js';
import {
  bounds,
  driverFixture,
  evaluateAt,
  inTime,
  openFolder,
  processes,
  processesOfLease,
  wish,
} from './driver-fixture.js';

guardLeaks(t);

t.test('A lease is a browser that answers CDP, in the size, language and folders asked for', async (t) => {
  const { driver, workDir } = await driverFixture(t);
  const lease = await driver.lease(wish('size', { locale: 'de-DE' }), bounds());
  const page = 'data:text/html,<title>Guten Tag</title>';
  const seen = await evaluateAt(lease, page, '[document.title, navigator.language, outerWidth, navigator.webdriver]');
  t.same(seen, ['Guten Tag', 'de-DE', 1000, true]);
  t.match(lease.endpoint.product, /^(Google )?Chrom(e|ium) [\d.]+$/);
  for (const folder of [lease.endpoint.downloadsDir, lease.endpoint.uploadsDir]) {
    t.ok(folder.startsWith(`${workDir}/`) && statSync(folder).isDirectory(), folder);
  }
  t.same(JSON.parse(JSON.stringify(lease.identity)), lease.identity, 'the identity is plain JSON');
  await lease.release();
});

t.test(
  'A browser runs as a normal user, with its sandbox, and knows nothing of the environment of the service',
  { skip: skipWithoutSandbox },
  async (t) => {
    const { driver } = await driverFixture(t);
    process.env.TROUPE_TEST_CANARY = 'canary-7f3a';
    t.teardown(() => delete process.env.TROUPE_TEST_CANARY);
    const lease = await driver.lease(wish('sandbox'), bounds());
    await evaluateAt(lease, 'data:text/html,<p>a page of its own', '1');
    const found = processesOfLease(lease);
    const renderers = found.filter((one) => one.commandLine.includes('--type=renderer'));
    t.ok(renderers.length > 0, 'there is a renderer');
    t.same(new Set(renderers.map((one) => one.seccomp)), new Set([2]), 'every renderer is behind a system call filter');
    const own = process.geteuid?.() ?? 0;
    t.same(new Set(found.map((one) => one.uid)), new Set([own === 0 ? 1000 : own]));
    t.notOk(found.some((one) => one.commandLine.includes('--no-sandbox')));
    const leader = found.find((one) => one.pid === lease.identity.pid);
    t.notMatch(readFileSync(`/proc/${leader?.pid}/environ`, 'utf8'), 'canary-7f3a');
    await lease.release();
  },
);

t.test(
  'A browser cannot write to what the service believes of it',
  { skip: process.geteuid?.() !== 0 && 'needs root' },
  async (t) => {
    const { driver } = await driverFixture(t);
    const lease = await driver.lease(wish('forged'), bounds());
    const folder = String(lease.identity.folder);
    for (const name of ['', 'identity.json', 'browser.log', 'uploads'])
      t.equal(statSync(join(folder, name)).uid, 0, name);
    for (const name of ['profile', 'downloads', 'tmp']) t.equal(statSync(join(folder, name)).uid, 1000, name);
    await lease.release();
  },
);

t.test('A release leaves no process and no folder, and a second one changes nothing', async (t) => {
  const { driver, workDir } = await driverFixture(t);
  const lease = await driver.lease(wish('gone'), bounds());
  t.ok(processesOfLease(lease).length > 3);
  await Promise.all([lease.release(), lease.release()]);
  t.same(processesOfLease(lease), []);
  t.same(readdirSync(workDir), []);
  await lease.release();
  t.match((await inTime(lease.exited)).reason, /released/);
  const again = await driver.lease(wish('gone'), bounds());
  t.equal(await evaluateAt(again, null, '1 + 1'), 2, 'its id may be used anew');
  await again.release();
});

t.test('Ten leases at once each have a browser of their own, and ten releases at once leave nothing', async (t) => {
  const { driver, workDir } = await driverFixture(t);
  const ids = Array.from({ length: 10 }, (_, index) => `many-${index}`);
  const leases = await Promise.all(ids.map((id) => driver.lease(wish(id), bounds(60_000))));
  const names = await Promise.all(leases.map((one, index) => evaluateAt(one, null, `window.name = 'n${index}'`)));
  t.same(
    names,
    ids.map((_, index) => `n${index}`),
  );
  t.equal(new Set(leases.map((one) => one.identity.leaseId)).size, 10);
  await Promise.all(leases.map((one) => one.release()));
  t.same(
    processes().filter((one) => one.commandLine.includes(workDir)),
    [],
  );
  t.same(readdirSync(workDir), []);
});

t.test('A browser that is killed settles exited, and says how it ended', async (t) => {
  const { driver, workDir } = await driverFixture(t);
  const lease = await driver.lease(wish('killed'), bounds());
  process.kill(Number(lease.identity.pid), 'SIGKILL');
  const { reason } = await inTime(lease.exited);
  t.match(reason, /was ended by SIGKILL/);
  await lease.release();
  t.same(processesOfLease(lease), []);
  t.same(readdirSync(workDir), []);
});

t.test('A start that is given up leaves nothing, at whatever moment', async (t) => {
  const { driver, workDir } = await driverFixture(t);
  const starts = Array.from({ length: 6 }, async (_, index) => {
    const controller = new AbortController();
    const start = driver.lease(wish(`cut-${index}`), { signal: controller.signal, deadlineMs: 30_000 });
    if (index === 0) controller.abort();
    // From one that has just been spawned to some that still wait for their turn.
    else setTimeout(() => controller.abort(), index * 60);
    await t.rejects(start, { code: 'UNAVAILABLE', message: /cancelled/ });
  });
  await Promise.all(starts);
  t.same(
    processes().filter((one) => one.commandLine.includes(workDir)),
    [],
  );
  t.same(readdirSync(workDir), []);
});

t.test('A browser that is not ready by the deadline is refused, and nothing of it is left', async (t) => {
  const { driver, workDir } = await driverFixture(t);
  await t.rejects(driver.lease(wish('late'), bounds(1)), { code: 'UNAVAILABLE', message: /within 1 ms/ });
  t.same(
    processes().filter((one) => one.commandLine.includes(workDir)),
    [],
  );
  t.same(readdirSync(workDir), []);
});

t.test('Pages reach everything but the bypassed hosts through the proxy of their lease, loopback too', async (t) => {
  const { driver } = await driverFixture(t);
  const asked: string[] = [];
  const proxy = createServer((request, response) => {
    asked.push(String(request.url));
    response.end('<title>by proxy</title>');
  });
  const direct = createServer((_request, response) => response.end('<title>direct</title>'));
  for (const server of [proxy, direct]) {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    t.teardown(() => server.close());
  }
  const server = `http://127.0.0.1:${portOf(proxy)}`;
  const lease = await driver.lease(wish('proxied', { proxy: { server, bypass: '127.0.0.1' } }), bounds());
  const local = `http://localhost:${portOf(direct)}/`;
  for (const url of ['http://shop.invalid/cart', local]) {
    t.equal(await evaluateAt(lease, url, 'document.title'), 'by proxy', url);
    t.ok(asked.includes(url), url);
  }
  t.equal(await evaluateAt(lease, `http://127.0.0.1:${portOf(direct)}/`, 'document.title'), 'direct');
  await lease.release();
});

t.test(
  'Where its folder is closed to the browser, or has too long a path, it lives under the temporary folder',
  async (t) => {
    const closed = openFolder(t);
    chmodSync(closed, 0o700);
    const long = join(openFolder(t), 'a-name-that-is-far-too-long-for-a-socket');
    const root = process.geteuid?.() === 0;
    for (const [workDir, why] of root
      ? ([
          [closed, /cannot be reached/],
          [long, /longer/],
        ] as const)
      : ([[long, /longer/]] as const)) {
      const { driver, said } = await driverFixture(t, { workDir });
      t.match(said[0], why);
      const lease = await driver.lease(wish('moved'), bounds());
      t.equal(await evaluateAt(lease, 'data:text/html,<title>here</title>', 'document.title'), 'here');
      await lease.release();
      t.notOk(existsSync(dirname(String(lease.identity.folder))), 'the folder goes with its last browser');
    }
  },
);

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

t.test(
  'a driver whose browsers cannot live in the home leaves no folder elsewhere, with or without a browser',
  async (t) => {
    const tooLong = join(openFolder(t), 'x'.repeat(100));
    const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith('troupe-test'));
    const { driver } = await driverFixture(t, { workDir: tooLong });
    t.same(left(), []);
    const lease = await driver.lease(wish('a'), bounds());
    t.same(left(), ['troupe-test']);
    await lease.release();
    t.same(left(), []);
  },
);
