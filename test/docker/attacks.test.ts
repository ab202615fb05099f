import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { createServer as createSite } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { ContainerCreateOptions } from 'dockerode';
import t from 'tap';
import { z } from 'zod';
import { browserAtSocket } from '#troupe/containers/chromium/devtools-endpoint.js';
import { containerSpec } from '#troupe/containers/docker/container-spec.js';
import { valuesOf } from '#troupe/containers/docker/engine-streams.js';
import { WorkerFolder } from '#troupe/containers/docker/worker-folder.js';
import { tarFile } from '#troupe/containers/docker/worker-image.js';
import type { BrowserLease } from '#troupe/containers/driver.js';
import { bounds, evaluateAt, openFolder, wish } from '../containers/driver-fixture.js';
import { containerOf, type DockerFixture, dockerFixture, runInside, skipWithoutDocker } from '../support/docker.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { screenSize } from '../support/rfb-client.js';
import { startTestService } from '../support/service.js';
import { listenAt } from '../support/unix-socket.js';

guardLeaks(t);
const options = { skip: skipWithoutDocker };

t.test('A container that puts links in place of its sockets leads nobody to another socket', options, async (t) => {
  const { driver, another } = await dockerFixture(t);
  const host = await listenAt(t, join(openFolder(t), 'host'), 'host');
  const [own, next] = await Promise.all([
    driver.lease(wish('links'), bounds()),
    driver.lease(wish('next', { viewport: { width: 600, height: 400 } }), bounds()),
  ]);
  await evaluateAt(own, 'data:text/html,<title>own page</title>', '1');
  const size = await screenSize(String(own.endpoint.desktopSocket));
  t.notSame(await screenSize(String(next.endpoint.desktopSocket)), size);
  const isOwn = async (lease: BrowserLease, what: string) => {
    t.same(await screenSize(String(lease.endpoint.desktopSocket)), size, `${what}: the desktop`);
    t.equal(await evaluateAt(lease, null, 'document.title'), 'own page', `${what}: the browser`);
  };
  const sockets = join(String(own.identity.folder), 's');
  for (const target of [host.path, String(next.endpoint.desktopSocket), '../../b-next/own/rfb']) {
    const command = `cd $TROUPE_SOCKETS && rm -rf rfb cdp; ln -s ${target} rfb; ln -s ${target} cdp`;
    t.not((await runInside(own.identity.containerId, command)).code, 0, 'the folder is closed to it');
    // As if it had not been.
    for (const name of ['cdp', 'rfb']) {
      rmSync(join(sockets, name), { force: true });
      symlinkSync(target, join(sockets, name));
    }
    await isOwn(own, target);
  }
  const later = await (await another()).adopt(JSON.parse(JSON.stringify(own.identity)));
  t.ok(later, 'it is adopted');
  if (later !== null) await isOwn(later, 'after a restart');
  t.equal(host.connections, 0);
  await Promise.all([own.release(), next.release()]);
  await later?.release();
});

t.test(
  'A container cannot replace its folders, the doors in them, or reach what was taken from it',
  options,
  async (t) => {
    const { driver } = await dockerFixture(t);
    const lease = await driver.lease(wish('folders'), bounds());
    const folder = new WorkerFolder(String(lease.identity.folder));
    const commands = [
      'rmdir $TROUPE_SOCKETS',
      'mv -f $TROUPE_SOCKETS /tmp/s',
      'rm -rf $TROUPE_GATE',
      'rm -f $TROUPE_GATE/net && test ! -e $TROUPE_GATE/net',
      'mv -f $TROUPE_GATE/net /tmp/net',
      'ln -sfn /tmp/x $TROUPE_GATE/net',
      'ln $TROUPE_GATE/net $TROUPE_SOCKETS/cdp',
      `ln $TROUPE_GATE/net ${folder.downloads}/net`,
      'touch $TROUPE_GATE/x',
      'chmod 0 $TROUPE_GATE/net',
      'chmod 777 $TROUPE_SOCKETS',
      'touch $TROUPE_SOCKETS/x',
      `ls ${dirname(folder.socket('cdp'))}`,
      `ls ${folder.path}/s/../own`,
      `ln -sfn /tmp ${folder.path}`,
    ];
    const each = commands.map((command, index) => `(${command}) >/dev/null 2>&1; echo ${index} $?`);
    const inside = async (command: string) => (await runInside(lease.identity.containerId, command)).text;
    const codes = (await inside(each.join('\n'))).split('\n');
    for (const [index, command] of commands.entries()) t.match(codes[index], /^\d+ [1-9]/, command);
    t.notMatch(await inside(`ls ${folder.path} $TROUPE_GATE $TROUPE_SOCKETS`), /\b(own|cdp|rfb)\b/);
    await lease.release();
  },
);

t.test(
  'A container that makes a link instead of a socket does not start, and the error says why',
  options,
  async (t) => {
    const { setting, engine, another, containers } = await dockerFixture(t);
    const host = await listenAt(t, join(openFolder(t), 'host'), 'host');
    const honest = 'socat UNIX-LISTEN:$TROUPE_SOCKETS/cdp,mode=0666 - &';
    const worker = `#!/bin/sh\n${honest}\nln -s ${host.path} $TROUPE_SOCKETS/rfb\nsleep 60\n`;
    const tar = await tarFile([
      {
        name: 'Dockerfile',
        mode: 0o644,
        content: Buffer.from(`FROM ${setting.imageId}\nCOPY worker /usr/local/bin/\n`),
      },
      { name: 'worker', mode: 0o755, content: Buffer.from(worker) },
    ]);
    const name = `troupe-attack:${setting.instance}`;
    const docker = await engine.docker();
    const progress = await docker.buildImage(Readable.from([tar]), { t: name, rm: true, forcerm: true });
    for await (const line of valuesOf(progress)) t.notMatch(line, { error: /./ });
    t.teardown(() => docker.getImage(name).remove({ force: true }));
    const { Id } = await docker.getImage(name).inspect();
    await t.rejects((await another(Id)).lease(wish('liar'), bounds()), {
      code: 'UNAVAILABLE',
      message: /socket "rfb" cannot be trusted: there is a symbolic link in its place/,
    });
    t.same(await containers(), []);
    t.equal(host.connections, 0);
  },
);

t.test(
  'A container of an earlier version is adopted with its sockets, which are taken and checked then',
  options,
  async (t) => {
    const fixture = await dockerFixture(t);
    const site = createSite((_request, response) => response.end('<title>here</title>'));
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    t.teardown(() => site.close().closeAllConnections());
    const { port } = site.address() as AddressInfo;
    const [good, linked, closed] = await Promise.all(
      ['good', 'linked', 'closed'].map((id) => startAsBefore(fixture, id)),
    );
    if (good === undefined || linked === undefined || closed === undefined) return;
    const host = await listenAt(t, join(openFolder(t), 'host'), 'host');
    const inside = 'cd $TROUPE_SOCKETS && rm -f rfb && ';
    t.match(await runInside(linked.containerId, `${inside} ln -s ${host.path} rfb`), { code: 0 });
    t.match(await runInside(closed.containerId, 'cd $TROUPE_SOCKETS && rm -rf net && mkdir net net/x'), { code: 0 });

    const leases: BrowserLease[] = [];
    for (const restart of [1, 2]) {
      const lease = await (await fixture.another()).adopt(good);
      t.ok(lease, `adopted, ${restart}`);
      if (lease === null) return;
      leases.push(lease);
      lease.permit({ forward: [port] });
      t.equal(
        await evaluateAt(lease, `http://localhost:${port}/`, 'document.title'),
        'here',
        `its way out, ${restart}`,
      );
      t.same(await screenSize(String(lease.endpoint.desktopSocket)), { width: 1001, height: 788 }, `${restart}`);
      t.match(lease.devTools(), { kind: 'socket', url: /\/own\/cdp:/ });
    }
    for (const identity of [linked, closed]) {
      t.equal(await fixture.driver.adopt(identity), null, `${identity.leaseId} is not adopted`);
    }
    t.match(fixture.said.join('\n'), /The container of linked is not taken up again: .*symbolic link/);
    t.match(fixture.said.join('\n'), /The container of closed is not taken up again: /);
    t.equal(host.connections, 0);
    for (const lease of leases) await lease.release();
  },
);

t.test(
  'Links, FIFOs and devices among the downloads of a container are neither listed, read, zipped nor kept',
  options,
  async (t) => {
    const service = await startTestService(t, { driver: 'docker' });
    const { id } = await service.live();
    const traps = ['link', 'relative', 'environ', 'fifo', 'folder', 'loop'];
    const command = `cd "$(dirname $TROUPE_SOCKETS)/downloads" && echo real >real.txt && ln -s /etc/passwd link &&
    ln -s ../../../../../../../../etc/passwd relative && ln -s /proc/self/environ environ && mkfifo fifo &&
    mkdir folder && ln -s /etc/passwd folder/passwd && ln -s loop loop`;
    t.match(await runInside(await containerOf(id), command), { code: 0, text: '' });
    const isSafe = async (when: string) => {
      const { body } = await service.call('GET', `/api/sessions/${id}/files`);
      t.match(body, [{ name: 'real.txt', bytes: 5 }], when);
      t.equal(body.length, 1, when);
      for (const name of traps) {
        t.match(await service.call('GET', `/api/sessions/${id}/files/${name}`), { status: 404 }, `${name}, ${when}`);
      }
      const zip = await fetch(`${service.url}/api/sessions/${id}/download`);
      const bytes = Buffer.from(await zip.arrayBuffer()).toString('latin1');
      t.match(bytes, 'downloads/real.txt', when);
      for (const name of traps) t.notMatch(bytes, `downloads/${name}`, `${name}, ${when}`);
    };
    await isSafe('while it runs');
    await service.call('DELETE', `/api/sessions/${id}`);
    await eventually('its container is gone', async () => (await containerOf(id)) === '');
    await isSafe('afterwards');
  },
);

/** A container as the version before started it: one folder of sockets for both sides, open to it for good. */
async function startAsBefore({ workDir, setting, engine, instance }: DockerFixture, leaseId: string) {
  const folder = new WorkerFolder(join(workDir, `b-${leaseId}`));
  mkdirSync(folder.path, { mode: 0o700 });
  for (const part of [folder.downloads, folder.uploads, folder.sockets]) {
    mkdirSync(part);
    chmodSync(part, 0o777);
  }
  const Spec = z.looseObject({ HostConfig: z.looseObject({ Binds: z.array(z.string()) }), Env: z.array(z.string()) });
  const spec = Spec.parse(containerSpec(setting, wish(leaseId), folder));
  const json = {
    ...spec,
    Env: spec.Env.map((one) => (one.startsWith('TROUPE_GATE=') ? `TROUPE_GATE=${folder.sockets}` : one)),
    HostConfig: { ...spec.HostConfig, Binds: spec.HostConfig.Binds.filter((one) => !one.startsWith(folder.gate)) },
  };
  const docker = await engine.docker();
  const query = { name: `troupe-${instance}-${leaseId}` };
  const order: ContainerCreateOptions & { _query: object; _body: object } = { _query: query, _body: json };
  const container = await docker.createContainer(order);
  const Id = container.id;
  await container.start();
  const cdp = join(folder.sockets, 'cdp');
  let browser = { cdpUrl: '', product: '' };
  await eventually('its browser answers', async () => {
    browser = await browserAtSocket(cdp, AbortSignal.timeout(2_000)).catch(() => browser);
    return browser.cdpUrl !== '';
  });
  return { driver: 'docker', leaseId, containerId: Id, folder: folder.path, ...browser };
}
