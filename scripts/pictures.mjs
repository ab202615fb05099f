// `npm run pictures`: makes the README's pictures anew, from the example shop and a job that fails on it.
import { copyFile, cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startShop } from '../examples/shop/shop.mjs';
import { prepare } from './prepare.mjs';

prepare();
const { readConfig } = await import('../dist/config.js');
const { startService } = await import('../dist/service.js');

const home = await mkdtemp(join(tmpdir(), 'troupe-'));
const shop = await startShop({ port: 0 });
await cp('examples/flows', join(home, 'flows', 'examples'), { recursive: true });
const config = readConfig({ port: '0', driver: 'process' }, { ...process.env, TROUPE_HOME: home });
const service = await startService(config, { version: '0.0.0', log: console.error });
const post = async (path, body) => {
  const response = await fetch(service.url + path, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return response.json();
};

const job = await post('/api/sessions/run', {
  prompt: 'Buy two blue teapots and check the order',
  name: 'Nightly: buy a teapot',
  flowFiles: ['examples/login.js', 'examples/buy.js'],
  maxIterations: 0,
  args: { base: shop.url, layout: 'split' },
});
// A second one runs while the pictures are taken, so that the list and the wall have something to show.
const shopper = await post('/api/sessions', { name: 'A browser driven by hand' });
await post(`/sessions/${shopper.id}/proxy`, { js: `agent.go('${shop.url}'); agent.look().elements.length` });

const { id } = await post('/api/sessions', { name: 'Pictures', viewport: { width: 1280, height: 800 } });
await mkdir('docs/images', { recursive: true });
for (const [name, path] of [
  ['sessions', '#/'],
  ['session', `#/sessions/${job.id}`],
  ['report', `api/sessions/${job.id}/report`],
]) {
  const js = `agent.go('${service.url}/${path}'); agent.wait('idle'); agent.screenshot('${name}')`;
  const { file } = await post(`/sessions/${id}/proxy`, { js });
  await copyFile(join(home, 'sessions', id, 'screenshots', file), `docs/images/${name}.png`);
  console.log(`docs/images/${name}.png`);
}

await service.stop({ drainMs: 0 });
await shop.close();
await rm(home, { recursive: true, force: true });
