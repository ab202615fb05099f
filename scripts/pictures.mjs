// `npm run pictures`: makes the README's pictures anew, from the example shop and a job that fails on it.
import { copyFile, cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
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
const config = readConfig({ port: '0' }, { ...process.env, TROUPE_HOME: home });
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
await (await fetch(service.url + job.links.download)).arrayBuffer();
const report = await readFile(join(home, 'sessions', job.id, 'report.html'));
const page = createServer((_, response) => response.setHeader('content-type', 'text/html').end(report));
await new Promise((resolve) => page.listen(0, '127.0.0.1', resolve));

const { id } = await post('/api/sessions', { viewport: { width: 1100, height: 900 } });
await post(`/sessions/${id}/proxy`, { js: `agent.go('http://127.0.0.1:${page.address().port}/')` });
const { file } = await post(`/sessions/${id}/proxy`, { js: `agent.screenshot('report')` });
await mkdir('docs/images', { recursive: true });
await copyFile(join(home, 'sessions', id, 'screenshots', file), 'docs/images/report.png');
console.log('docs/images/report.png');

page.close();
await service.stop({ drainMs: 0 });
await shop.close();
await rm(home, { recursive: true, force: true });
