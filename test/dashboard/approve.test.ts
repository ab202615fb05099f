import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { openReader } from '../support/reader.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

/** What the page's button says; the test changes it between runs. */
let label = 'Buy';
const site = createServer((_, response) => {
  response.setHeader('content-type', 'text/html');
  response.end(`<h1>Cart</h1><button>${label}</button>`);
});
await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
t.teardown(() => new Promise((resolve) => site.close(resolve)));
const { port } = site.address() as AddressInfo;
const service = await startTestService(t, { maxSessions: 2, forward: [port] });
const { page, shows, holds, problems } = await openReader(t);

t.test('A picture is compared with a slider and approved, and the repeated run passes', async (t) => {
  const ended = async (id: string) => (await service.call('GET', `/api/batches/${id}`)).body.endedAt !== null;
  const flow = `({ base }) => { agent.go(base); agent.expectScreenshot('cart', { timeout: 1500 }); }`;
  const args = { base: `http://127.0.0.1:${port}/` };
  const jobs = [{ prompt: 'cart', name: 'cart', flowFiles: ['cart.js'], maxIterations: 0, args }];
  const { id } = (await service.call('POST', '/api/batches', { name: 'Looks', flows: { 'cart.js': flow }, jobs })).body;
  await eventually('the run ends', () => ended(id), 60_000);
  await page.goto(`${service.url}/#/runs/${id}`);
  await page.getByRole('link', { name: 'cart', exact: true }).click();
  await shows('There is no baseline yet.');
  await page.getByRole('button', { name: 'Approve' }).click();
  await shows("in this run's copy of the flows, so Re-run uses it");
  await page.goBack();
  await page.getByRole('button', { name: 'Re-run failed' }).click();
  await shows('1 of 1 passed');

  label = 'Pay';
  const first = page.url();
  await page.getByRole('button', { name: 'Re-run all' }).click();
  await holds(`location.href !== ${JSON.stringify(first)}`);
  await shows('1 failed');
  await page.getByRole('link', { name: 'cart', exact: true }).click();
  const compared = page.getByRole('region', { name: 'Compared with the baseline' });
  for (const alt of ['Expected', 'Received', 'Difference']) await compared.getByAltText(alt).first().waitFor();
  const edge = () => page.evaluate('document.querySelector(".upper").style.clipPath');
  t.match(await edge(), '50%');
  await compared.getByRole('slider').press('End');
  t.match(await edge(), /inset\(0(px)? 0%/);
  await page.getByRole('button', { name: 'Approve' }).click();
  await shows('download it');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'download it' }).click(),
  ]);
  t.match(download.suggestedFilename(), /^cart\.process-\w+\.png$/);
  t.same(problems, []);
});
