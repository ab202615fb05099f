import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DockerDriver } from '#troupe/containers/docker/docker-driver.js';
import { DockerEngine } from '#troupe/containers/docker/docker-engine.js';
import { bounds, inTime, openFolder, testGate, wish } from '../containers/driver-fixture.js';
import { dockerFixture, engineInUse, skipWithoutDocker } from '../support/docker.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test(
  'The end of a session fails by its deadline while the engine stalls, and leaves nothing once it answers again',
  { skip: skipWithoutDocker },
  async (t) => {
    const { driver, setting, workDir, containers } = await dockerFixture(t);
    const first = await driver.lease(wish('stalls'), bounds());
    const way = await stallable(t, engineInUse().socketPath);
    const engine = new DockerEngine(way.path, 2_000);
    const gate = testGate();
    const parts = { ...setting, engine, gate, workDir, maxPauseMs: 1_000 };
    const lease = await (await DockerDriver.create(parts)).adopt(first.identity);
    way.stall();
    await t.rejects(inTime(Promise.resolve(lease?.release())), {
      code: 'UNAVAILABLE',
      message: /no answer within \d+ ms/,
    });
    t.equal((await containers()).length, 1);
    way.goOn();
    await lease?.release();
    t.same(await containers(), []);
    await first.release();
  },
);

/** A way to a socket, which can be made to take connections and to answer nothing. */
async function stallable(t: Test, target: string) {
  const sockets = new Set<Socket>();
  let stalls = false;
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    if (stalls) return;
    const there = connect(target).on('error', () => socket.destroy());
    sockets.add(there);
    socket.pipe(there).pipe(socket);
  });
  const path = join(openFolder(t), 's');
  await new Promise<void>((resolve) => server.listen(path, resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    path,
    stall() {
      stalls = true;
    },
    goOn() {
      stalls = false;
    },
  };
}
