import t from 'tap';
import { chooseServer } from '#troupe/gateway/choose-server.js';
import { openHouse } from '../support/house.js';
import { httpCall } from '../support/http-call.js';
import { guardLeaks } from '../support/leaks.js';
import { everyServer } from '../support/tested-server.js';

guardLeaks(t);

const node = `Node ${process.versions.node.split('.')[0]}`;
/** The package's sentence, which is the same for every failure. */
const refusal = (why: string) => async () => {
  throw new Error(`This version of uWS.js supports only Node.js versions 16 and 18.\n\nError: ${why}`);
};
const GLIBC =
  "/lib/x86_64-linux-gnu/libm.so.6: version `GLIBC_2.38' not found (required by /srv/uws_linux_x64_127.node)";
const NONE = "Cannot find module './uws_linux_x64_147.node'\nRequire stack:\n- /srv/node_modules/uWebSockets.js/uws.js";
const MUSL = 'Error relocating /srv/uws_linux_x64_115.node: __malloc_hook: symbol not found';

t.test('If uWebSockets.js cannot be loaded, node:http is used, and the reason is reported', async (t) => {
  const reasons: { readonly [why: string]: string } = {
    [GLIBC]: `the binary of uWebSockets.js for ${node} needs glibc 2.38 or later`,
    [NONE]: `uWebSockets.js has no binary for ${node} on this system (${process.platform} ${process.arch})`,
    [MUSL]: `uWebSockets.js cannot be loaded: Error: ${MUSL}`,
    "Cannot find package 'uWebSockets.js' imported from x": 'uWebSockets.js is not installed',
  };
  for (const [why, fallbackReason] of Object.entries(reasons)) {
    const description = `node:http (${fallbackReason})`;
    t.match(await chooseServer('auto', refusal(why)), { name: 'node', description, fallbackReason });
    await t.rejects(chooseServer('uws', refusal(why)), {
      code: 'UNAVAILABLE',
      message: `The HTTP server cannot be "uws": ${fallbackReason}. Set "server" in troupe.json to "auto" or "node", or use Node 20`,
    });
  }
});

t.test('If node:http is configured, uWebSockets.js is not loaded', async (t) => {
  const never = () => Promise.reject(new Error('loaded'));
  t.match(await chooseServer('node', never), {
    name: 'node',
    fallbackReason: null,
    description: /^node:http, set by "server"/,
  });
});

t.test('GET /api/health names the HTTP server', async (t) => {
  const house = await openHouse(t);
  for (const server of await everyServer()) {
    const gateway = await house.listen({ server });
    t.equal(gateway.server.name, server);
    t.match(await httpCall(gateway.url, { method: 'GET', path: '/api/health' }), { status: 200, json: { server } });
  }
});
