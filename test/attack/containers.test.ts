import { rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { BrowserLease } from '#troupe/containers/driver.js';
import { bounds, evaluateAt, openFolder, wish } from '../containers/driver-fixture.js';
import { dockerFixture, runInside, skipWithoutDocker } from '../support/docker.js';
import { guardLeaks } from '../support/leaks.js';
import { screenSize } from '../support/rfb-client.js';

guardLeaks(t);
const options = { skip: skipWithoutDocker };

/** A unix socket of the host that no container may reach, and how often it was connected to. */
async function hostSocket(t: Test): Promise<{ readonly path: string; connections: number }> {
  const counted = { path: join(openFolder(t), 'host'), connections: 0 };
  const server = createServer((socket) => {
    counted.connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(counted.path, resolve));
  t.teardown(() => server.close());
  return counted;
}

t.test('A container that puts links in place of its sockets leads nobody to another socket', options, async (t) => {
  const { driver, another } = await dockerFixture(t);
  const host = await hostSocket(t);
  const [own, other] = await Promise.all([
    driver.lease(wish('links'), bounds()),
    driver.lease(wish('next', { viewport: { width: 600, height: 400 } }), bounds()),
  ]);
  await evaluateAt(own, 'data:text/html,<title>own page</title>', '1');
  const size = await screenSize(String(own.endpoint.desktopSocket));
  const s = join(String(own.identity.folder), 's');
  const isOwn = async (lease: BrowserLease, what: string) => {
    t.same(await screenSize(String(lease.endpoint.desktopSocket)), size, `${what}: the desktop`);
    t.equal(await evaluateAt(lease, null, 'document.title'), 'own page', `${what}: the browser`);
  };
  for (const target of [host.path, String(other.endpoint.desktopSocket), '../../b-next/own/rfb']) {
    const { text } = await runInside(
      own.identity.containerId,
      `cd $TROUPE_SOCKETS; ls; rm -rf rfb cdp; ln -s ${target} rfb; ln -s ${target} cdp`,
    );
    t.comment(text);
    await isOwn(own, `by the container, ${target}`);
    for (const name of ['cdp', 'rfb']) {
      rmSync(join(s, name), { force: true });
      symlinkSync(target, join(s, name));
    }
    await isOwn(own, target);
    const adopted = await (await another()).adopt(JSON.parse(JSON.stringify(own.identity)));
    t.ok(adopted, `it is adopted, ${target}`);
    if (adopted !== null) await isOwn(adopted, `after a restart, ${target}`);
  }
  t.equal(host.connections, 0);
  await Promise.all([own.release(), other.release()]);
});
