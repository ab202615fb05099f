// `npm run pictures`: makes the README's pictures anew, from the example shop and a job that fails on it.
import { copyFile, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startShop } from '../examples/shop/shop.mjs';
import { prepare } from './prepare.mjs';

await prepare();
const { readConfig } = await import('../dist/config.js');
const { startService } = await import('../dist/service.js');

/** What is to be ended, the last first, however this ends. */
const started = [];
try {
  const shop = await startShop({ port: 0 });
  started.push(() => shop.close());
  const shown = await start();
  const camera = await start();
  const { failed, run } = await useTheShop(shop, shown);
  const { id } = await camera.post('/api/sessions', { viewport: { width: 1280, height: 800 } });
  await mkdir('docs/images', { recursive: true });
  await pictureDashboard(shown, { failed, run }, camera, id);
  await pictureRequestClient(shown, camera, id);
} finally {
  for (const end of started.reverse()) await end();
}

/** A service of its own, in a home of its own. */
async function start() {
  const home = await mkdtemp(join(tmpdir(), 'troupe-'));
  await cp('examples/flows', join(home, 'flows', 'examples'), { recursive: true });
  const config = readConfig({ port: '0', driver: 'process' }, { ...process.env, TROUPE_HOME: home });
  started.push(() => rm(home, { recursive: true, force: true }));
  const service = await startService(config, { version: '0.0.0', log: console.error });
  started.push(() => service.stop({ drainMs: 0 }));
  const post = async (path, body) => {
    const response = await fetch(service.url + path, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return response.json();
  };
  return { home, url: service.url, post };
}

/** Leaves a failed job, which is answered, passed ones, and running sessions for the list and the wall. */
async function useTheShop(shop, shown) {
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
  for (const [name, path] of [
    ['Exploring: the catalogue', ''],
    ['Exploring: a product', 'products/blue-teapot'],
    ['A login, by hand', 'login'],
    ['Looking for a lamp', 'search?q=lamp'],
  ]) {
    const { id } = await shown.post('/api/sessions', { name });
    await shown.post(`/sessions/${id}/proxy`, { js: `agent.go('${shop.url}/${path}'); agent.look().elements.length` });
  }
  return { failed: failed.id, run: await runNightly(shop, shown) };
}

/** Two runs of the same name: in the second one a flow fails that passed in the first. */
async function runNightly(shop, shown) {
  let run = '';
  for (const [commit, layout] of [
    ['8c1f2ab', 'a'],
    ['d40e97c', 'split'],
  ]) {
    const jobs = [['login'], ['search'], ['checkout-validation'], ['login', 'buy']].map((flows) => ({
      prompt: flows.join(', '),
      name: flows.at(-1),
      flowFiles: flows.map((flow) => `examples/${flow}.js`),
      maxIterations: 0,
      args: { base: shop.url, layout: flows.includes('buy') ? layout : 'a' },
    }));
    const batch = await shown.post('/api/batches', { name: 'Nightly', labels: { branch: 'main', commit }, jobs });
    run = batch.id;
    const ended = async () => (await (await fetch(`${shown.url}/api/batches/${run}`)).json()).endedAt !== null;
    for (const until = Date.now() + 120_000; !(await ended()); await setTimeout(250))
      if (Date.now() > until) throw new Error(`The run ${run} does not end`);
  }
  return run;
}

/** The camera is another service: its browser is not in the pictures. */
async function pictureDashboard(shown, { failed, run }, camera, id) {
  for (const [name, path] of [
    ['runs', '#/'],
    ['run', `#/runs/${run}`],
    ['sessions', '#/sessions'],
    ['session', `#/sessions/${failed}`],
    ['wall', '#/wall'],
    ['report', `api/sessions/${failed}/report`],
  ]) {
    const js = `agent.go('${shown.url}/${path}'); agent.wait('idle'); agent.wait(1500); agent.screenshot('${name}')`;
    const { file } = await camera.post(`/sessions/${id}/proxy`, { js });
    await copyFile(join(camera.home, 'sessions', id, 'screenshots', file), `docs/images/${name}.png`);
    console.log(`docs/images/${name}.png`);
  }
}

/** The request client, on the API of the service. */
async function pictureRequestClient(shown, camera, id) {
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
  started.push(() => workspace.close());
  await workspace.open(file);
  const window = await WindowServer.start({ workspace, folder: camera.home, port: 0 });
  started.push(() => window.close());
  const look = `agent.go('${window.url}'); agent.act('{^treeitem}GET List', 'click'); agent.act('{tab}After •', 'click');
    agent.act('{button}Import', 'click'); agent.act('{button}Send', 'click'); agent.wait('{^tab}Tests');
    agent.wait(500); agent.screenshot('request-client')`;
  const { file: picture } = await camera.post(`/sessions/${id}/proxy`, { js: look });
  await copyFile(join(camera.home, 'sessions', id, 'screenshots', picture), 'docs/images/request-client.png');
}
