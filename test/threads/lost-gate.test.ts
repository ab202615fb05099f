import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { BroadcastChannel } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { NetworkGate } from '#troupe/containers/gate/network-gate.js';
import { threadFaults } from '#troupe/threads/thread-faults.js';
import { inTime, openFolder } from '../containers/driver-fixture.js';
import { NO_RULES } from '../support/egress-setting.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

// Of threads that are started from here on.
setFlagsFromString('--max-old-space-size=64');

/** A gate whose thread ends when it is told, and whose file can be taken away. */
function mortal(t: Test) {
  const folder = openFolder(t);
  const name = `troupe-test-${folder}`;
  const entry = join(folder, 'gate.thread.mjs');
  const real = pathToFileURL(join(process.cwd(), 'dist', 'containers', 'gate', 'gate.thread.js')).href;
  writeFileSync(
    entry,
    `import { setFlagsFromString } from 'node:v8';
import { BroadcastChannel } from 'node:worker_threads';
     const orders = new BroadcastChannel(${JSON.stringify(name)});
     orders.unref();
     orders.onmessage = ({ data }) => {
       if (data === 'exit') process.exit(4);
       const kept = [];
       for (;;) kept.push(new Array(1_000_000).fill(data));
     };
     await import(${JSON.stringify(real)});`,
  );
  const orders = new BroadcastChannel(name);
  t.teardown(() => orders.close());
  const gate = new NetworkGate(NO_RULES, (line) => t.comment(line), pathToFileURL(entry));
  const open = async (lease: string) => {
    const path = join(folder, lease);
    t.teardown(() => gate.close(lease));
    await gate.open(lease, { madeAt: `${path}.made`, path }, { kind: 'socks' });
    return path;
  };
  return { entry, open, end: (order: 'exit' | 'fill') => orders.postMessage(order) };
}

/** Whether a SOCKS server answers there. */
async function answers(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    socket.write(Buffer.from([5, 1, 0]));
    const [chunk]: Buffer[] = await inTime(once(socket, 'data'));
    return chunk?.[0] === 5;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

for (const order of ['exit', 'fill'] as const) {
  t.test(
    `A gate that ends by ${order} is started again with every listener, also if another is opened meanwhile`,
    async (t) => {
      const { open, end } = mortal(t);
      const paths = [await open('one'), await open('two')];
      const old = connect(paths[0] ?? '');
      old.on('error', () => undefined);
      await once(old, 'connect');
      end(order);
      await eventually('the connection is cut', () => old.closed);
      // The first ones may meet the thread that has just ended; each is a browser that is not started.
      let tries = 0;
      await eventually('another listener is opened', async () => {
        tries += 1;
        const path = await open(`more ${tries}`).catch(() => null);
        if (path !== null) paths.push(path);
        return path !== null;
      });
      for (const path of paths) await eventually(`${path} answers`, () => answers(path));
    },
  );
}

t.test('A gate that cannot start fails who opens a listener, by name, and serves all once it can', async (t) => {
  const { open, end, entry } = mortal(t);
  const one = await open('one');
  t.same(threadFaults(), []);
  renameSync(entry, `${entry}.old`);
  end('exit');
  await eventually('it is reported', () => threadFaults().some(({ part }) => part === 'network of browsers'));
  await t.rejects(open('two'), { code: 'UNAVAILABLE', message: /^The network gate ended: Cannot find module/ });
  renameSync(`${entry}.old`, entry);
  await eventually('the first one answers', () => answers(one));
  t.ok(await answers(await open('three')));
  await eventually('nothing is reported', () => threadFaults().length === 0);
});
