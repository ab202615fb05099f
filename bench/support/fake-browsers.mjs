import { fork } from 'node:child_process';
import { once } from 'node:events';

/** A driver whose browsers cost nothing, for what is to be measured without them. Give it back with `close`. */
export async function fakeBrowsers() {
  const child = fork(new URL('./fake-browsers.process.mjs', import.meta.url));
  const [port] = await once(child, 'message');
  const lease = (leaseId) => ({
    identity: { driver: 'process', leaseId },
    endpoint: {
      product: 'Fake/1',
      downloadsDir: '/nonexistent',
      uploadsDir: '/nonexistent',
    },
    exited: new Promise(() => undefined),
    devTools: () => ({ kind: 'socket', url: `ws://127.0.0.1:${port}/devtools/browser/${leaseId}` }),
    permit: () => undefined,
    release: async () => undefined,
  });
  const driver = {
    name: 'process',
    offers: new Set(),
    lease: async ({ leaseId }) => lease(leaseId),
    adopt: async () => null,
    sweep: async () => [],
  };
  return {
    choice: { driver, description: 'browsers that are none' },
    async close() {
      const closed = once(child, 'close');
      child.kill();
      await closed;
    },
  };
}
