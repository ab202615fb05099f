import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { Collection } from '#request-client/engine/collection/collection.js';
import { CollectionRunner } from '#request-client/engine/collection-run/collection-runner.js';
import { exposedModules } from '#request-client/engine/collection-run/postman-modules.js';
import { TokenStore } from '#request-client/engine/oauth/token-store.js';
import { freePorts } from '../../../../test/support/free-ports.js';
import { guardLeaks } from '../../../../test/support/leaks.js';

guardLeaks(t);

const SCRIPTS = 500;
const PER_RUN = 50;

const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ list: Array.from({ length: 50 }, (_, id) => ({ id, name: `name ${id}` })) }));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
t.teardown(() => {
  server.closeAllConnections();
  server.close();
});
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

/** A script that loads two modules and leaves suspended functions and cycles behind, while tests read what is kept. */
function scriptOf(nth: number, modules: readonly string[]): string {
  const [first, second] = [nth, nth * 7 + 3].map((index) => modules[index % modules.length]);
  return `
    const loaded = [require('${first}'), require('${second}')];
    const body = pm.response.json();
    const kept = [];
    for (let n = 0; n < 200; n++) {
      const cycle = { body, n };
      function* names() { const own = { n }; cycle.read = () => own.n; kept.push(cycle.read); yield own; }
      const waits = async (wait) => { const own = { n }; kept.push(() => own.n); cycle.own = () => own; await wait; };
      cycle.names = names(); cycle.names.next(); cycle.waits = waits(new Promise((resolve) => { cycle.resolve = resolve; }));
    }
    const other = JSON.parse(JSON.stringify(Array.from({ length: 500 }, (_, id) => ({ id, list: body.list.slice(0, 5) }))));
    pm.test('modules', () => pm.expect(loaded.every((one) => one !== undefined && one !== null)).to.be.true);
    pm.test('what is kept', () => pm.expect(kept.map((read) => read())).to.eql(kept.map((_, at) => Math.floor(at / 2))));
    pm.test('values', () => pm.expect(other[499]).to.have.nested.property('list[4].name', 'name 4'));
    pm.test('later', (done) => setTimeout(() => { pm.expect(kept[399]()).to.equal(199); done(); }, 1));
    pm.variables.set('last', ${nth});
  `;
}

t.test(`${SCRIPTS} scripts that load Postman's modules have right values, and none fails in its engine`, async (t) => {
  const modules = exposedModules();
  const callbackPorts = await freePorts(1);
  let passed = 0;
  for (let from = 0; from < SCRIPTS; from += PER_RUN) {
    const item = Array.from({ length: PER_RUN }, (_, index) => ({
      name: `script ${from + index}`,
      event: [{ listen: 'test', script: { exec: [scriptOf(from + index, modules)] } }],
      request: url,
    }));
    const collection = Collection.parse(JSON.stringify({ info: { name: 'c' }, item }));
    const tokens = new TokenStore({ openBrowser: async () => undefined, callbackPorts });
    const runner = new CollectionRunner({ collection, environment: new Map(), folder: '.', tokens });
    try {
      await runner.runAll(collection.items, async ({ path, error, tests, response }) => {
        await response?.dispose();
        if (error === null && tests.length === 4 && tests.every(({ status }) => status === 'passed')) passed += 1;
        else t.fail(`${path.join()}: ${error?.error ?? JSON.stringify(tests)}`);
        return undefined;
      });
    } finally {
      await runner.close();
    }
  }
  t.equal(passed, SCRIPTS);
});
