import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { startShop } from '../../examples/shop/shop.mjs';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { openReader } from '../support/reader.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

/** What a new user asks, answered from the first page or `troupe --help` in two steps: each click or command is one. */
const shop = await startShop({ port: 0 });
t.teardown(() => shop.close());
const service = await startTestService(t, { maxSessions: 3, forward: [Number(new URL(shop.url).port)] });
const { page, shows } = await openReader(t);
const flows = {
  'shop/heading.js': `({ base }) => {\n  agent.go(base);\n  agent.expect('h1').toHaveText('Another shop', { timeout: 1 });\n};`,
  'shop/opens.js': '({ base }) => { agent.go(base) };',
};

async function nightly(name: string, more: object = {}): Promise<string> {
  const jobs = Object.keys(flows).map((path) => ({
    prompt: path,
    name: path.replace('.js', ''),
    flowFiles: [path],
    maxIterations: 0,
    args: { base: shop.url },
    ...more,
  }));
  return (await service.call('POST', '/api/batches', { name, labels: { branch: 'main' }, flows, jobs })).body.id;
}

const run = await nightly('Nightly', { video: 'on' });
await eventually('the run ends', async () => (await service.call('GET', `/api/batches/${run}`)).body.endedAt !== null);

const first = async () => {
  await page.goto('about:blank');
  await page.goto(`${service.url}/`);
  await shows('Nightly');
};
const link = (name: string | RegExp) => page.getByRole('link', { name, exact: typeof name === 'string' }).first();
const button = (name: string) => page.getByRole('button', { name, exact: true });

async function help(...words: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['dist/cli.js', ...words, '--help']);
  return stdout;
}

t.test("Why did last night's run fail?", async (t) => {
  await first();
  await link('Nightly').click();
  await shows('Another shop');
  await shows('shop/heading.js:3');
  t.match(await help(), /why +Show why the last run failed/);
});

t.test('How do I run only what failed?', async (t) => {
  await first();
  await link('Nightly').click();
  await button('Re-run failed').click();
  await shows('1 failed');
  await shows('0 of 1 passed');
  t.match(await help('run'), /--last-failed +Run only flows that failed/);
});

t.test('Where is its video?', async (t) => {
  await first();
  await link('Nightly').click();
  await link('Video of shop/heading').click();
  await eventually('it can be played', () => page.evaluate('document.querySelector("video")?.duration > 0'));
  const none = await service.live();
  await service.call('DELETE', `/api/sessions/${none.id}`);
  await page.goto(`${service.url}/#/sessions/${none.id}/video`);
  await shows('No video was kept of this session');
  t.match(await help('run'), /--video WHEN +Record a video/);
});

t.test('How do I give an agent a browser?', async (t) => {
  await first();
  await link('New').click();
  await shows(`claude mcp add --transport http troupe ${service.url}/mcp`);
  t.match(await help(), /mcp +Serve MCP/);
  t.match(await help('mcp'), /claude mcp add troupe -- \S.* mcp/);
});

t.test('How do I send this curl?', async (t) => {
  t.match(await help(), /requests +Send HTTP requests/);
  const text = await help('requests');
  t.match(text, /Opens a window: paste a curl command there/);
  t.match(text, /import +Read curl commands/);
});

t.test('Which flow is slow?', async () => {
  await first();
  await link('Statistics').click();
  await page.getByRole('region', { name: 'Slowest flows' }).getByRole('link', { name: 'shop/opens' }).waitFor();
});

t.test('Who is using the browsers?', async (t) => {
  const { id } = await service.live({ name: 'Looking around', labels: { team: 'cart' } });
  await first();
  await link('1 of 3 browsers').click();
  await shows('Looking around');
  await shows('team=cart');
  t.match(page.url(), 'state=running');
  await service.call('DELETE', `/api/sessions/${id}`);
});

t.test('How do I stop a run?', async () => {
  Object.assign(flows, { 'shop/opens.js': '() => agent.wait(300)' });
  await nightly('Endless');
  await first();
  await link('Endless').click();
  await button('Stop').click();
  await button('Re-run all').waitFor();
  await shows('stopped');
});

t.test('How do I change a flow?', async () => {
  await first();
  await link('Flows').click();
  await link('examples/login.js').click();
  await button('Edit').waitFor();
});

t.test('How do I upgrade?', async (t) => {
  t.match(await help(), /Upgrade: +\S.* setup --help/);
  t.match(await help('setup'), /To upgrade: stop the service, copy the home, install the new version/);
});
