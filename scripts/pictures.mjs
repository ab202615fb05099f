// `npm run pictures`: makes the README's pictures anew, from the example shop and a job that fails on it.
import { copyFile, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startShop } from '../examples/shop/shop.mjs';
import { prepare } from './prepare.mjs';

prepare();
const { readConfig } = await import('../dist/config.js');
const { startService } = await import('../dist/service.js');

const shop = await startShop({ port: 0 });
/** A service of its own, in a home of its own. */
async function start() {
  const home = await mkdtemp(join(tmpdir(), 'troupe-'));
  await cp('examples/flows', join(home, 'flows', 'examples'), { recursive: true });
  const config = readConfig({ port: '0', driver: 'process' }, { ...process.env, TROUPE_HOME: home });
  const service = await startService(config, { version: '0.0.0', log: console.error });
  const post = async (path, body) => {
    const response = await fetch(service.url + path, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return response.json();
  };
  const stop = async () => {
    await service.stop({ drainMs: 0 });
    await rm(home, { recursive: true, force: true });
  };
  return { home, url: service.url, post, stop };
}

const shown = await start();
const run = (name, labels, flowFiles, args = {}) =>
  shown.post('/api/sessions/run', {
    prompt: 'Buy two blue teapots and check the order',
    name,
    labels,
    flowFiles,
    maxIterations: 0,
    args: { base: shop.url, ...args },
  });
const nightly = { suite: 'nightly' };
await run('Nightly: search', nightly, ['examples/search.js']);
await run('Nightly: checkout validation', nightly, ['examples/checkout-validation.js']);
await run('Release 4.2: buy a teapot', { suite: 'release' }, ['examples/login.js', 'examples/buy.js']);
const failed = await run('Nightly: buy a teapot', nightly, ['examples/login.js', 'examples/buy.js'], {
  layout: 'split',
});
// Browsers that run while the pictures are taken, so that the list and the wall have something to show.
for (const [name, path] of [
  ['Exploring: the catalogue', ''],
  ['Exploring: a product', 'products/blue-teapot'],
  ['A login, by hand', 'login'],
  ['Looking for a lamp', 'search?q=lamp'],
]) {
  const { id } = await shown.post('/api/sessions', { name });
  await shown.post(`/sessions/${id}/proxy`, { js: `agent.go('${shop.url}/${path}'); agent.look().elements.length` });
}

// Another service takes the pictures: its browser is not in them.
const camera = await start();
const { id } = await camera.post('/api/sessions', { viewport: { width: 1280, height: 800 } });
await mkdir('docs/images', { recursive: true });
for (const [name, path] of [
  ['sessions', '#/'],
  ['session', `#/sessions/${failed.id}`],
  ['wall', '#/wall'],
  ['report', `api/sessions/${failed.id}/report`],
]) {
  const js = `agent.go('${shown.url}/${path}'); agent.wait('idle'); agent.wait(1500); agent.screenshot('${name}')`;
  const { file } = await camera.post(`/sessions/${id}/proxy`, { js });
  await copyFile(join(camera.home, 'sessions', id, 'screenshots', file), `docs/images/${name}.png`);
  console.log(`docs/images/${name}.png`);
}

// The request client, on the API of the service.
const { WindowServer } = await import('../dist/request-client/window/window-server.js');
const { Workspace } = await import('../dist/request-client/window/workspace.js');
const requestOf = (name, method, path, more = {}) => ({
  name,
  request: { method, header: [], url: { raw: `{{base}}${path}` }, ...more },
  response: [],
});
const tests = [
  "pm.test('is answered', () => pm.response.to.have.status(200));",
  "pm.test('has sessions', () => match(response.body, '#[_ > 0]'));",
];
const collection = {
  info: { name: 'Troupe', schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
  variable: [{ key: 'base', value: shown.url, type: 'string' }],
  item: [
    {
      name: 'Sessions',
      item: [
        {
          ...requestOf('List', 'GET', '/api/sessions?limit=2'),
          event: [{ listen: 'test', script: { type: 'text/javascript', exec: tests } }],
        },
        requestOf('Create', 'POST', '/api/sessions', { body: { mode: 'raw', raw: '{"name": "by hand"}' } }),
        requestOf('Delete', 'DELETE', '/api/sessions/{{id}}'),
      ],
    },
    {
      name: 'Jobs',
      item: [requestOf('Submit', 'POST', '/api/jobs'), requestOf('Report', 'GET', '/api/jobs/{{id}}/download')],
    },
  ],
};
const file = join(camera.home, 'shop.json');
await writeFile(file, JSON.stringify(collection));
const workspace = new Workspace({ openBrowser: async () => undefined });
await workspace.open(file);
const window = await WindowServer.start({ workspace, folder: camera.home, port: 0 });
const look = `agent.go('${window.url}'); agent.act('{^treeitem}GET List', 'click'); agent.act('{tab}After •', 'click');
  agent.act('{button}Import', 'click'); agent.act('{button}Send', 'click'); agent.wait('{^tab}Tests');
  agent.wait(500); agent.screenshot('request-client')`;
const { file: picture } = await camera.post(`/sessions/${id}/proxy`, { js: look });
await copyFile(join(camera.home, 'sessions', id, 'screenshots', picture), 'docs/images/request-client.png');
await window.close();
await workspace.close();

await camera.stop();
await shown.stop();
await shop.close();
