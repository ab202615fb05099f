import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import t, { type Test } from 'tap';
import { startShop } from '../../examples/shop/shop.mjs';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { openReader } from '../support/reader.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const shop = await startShop({ port: 0 });
t.teardown(() => shop.close());
const service = await startTestService(t, {
  maxSessions: 3,
  models: ['scripted/m'],
  providers: unreachable(),
  forward: [Number(new URL(shop.url).port)],
});
const { page, shows, holds, problems, hosts } = await openReader(t);
const job = { prompt: 'Log in', flowFiles: ['examples/login.js'], maxIterations: 0 };
const [passed, failed] = [
  await service.job({ ...job, name: 'Passes', labels: { suite: 'a11y' }, args: { base: shop.url } }),
  await service.job({ ...job, name: 'Fails', args: { base: 'http://127.0.0.1:1' } }),
];
const run: string = (
  await service.call('POST', '/api/batches', {
    name: 'Nightly',
    labels: { branch: 'main', commit: '0123456789abcdef' },
    flows: {
      'wrong.js': `({ base }) => {\n  agent.go(base);\n  agent.wait(1500);\n  agent.expect('h1').toHaveText('No', { timeout: 1 });\n};`,
    },
    jobs: [{ prompt: 'x', name: 'wrong', flowFiles: ['wrong.js'], maxIterations: 0, args: { base: shop.url } }],
  })
).body.id;
await eventually('the run ends', async () => (await service.call('GET', `/api/batches/${run}`)).body.endedAt !== null);
const [inRun] = (await service.call('GET', `/api/sessions?batch=${run}`)).body;
const live = await service.live({ name: 'Driven' });
await service.run(live.id, `agent.go('${shop.url}'); console.log('here')`);

/** A provider that no test calls. */
function unreachable() {
  return { scripted: { baseURL: 'http://127.0.0.1:9/v1' } };
}

/** What axe reports for the current page: rules with the elements that violate them. */
async function findings(only: readonly string[] = []): Promise<readonly string[]> {
  await page.evaluate(axe);
  const options = only.length === 0 ? {} : { runOnly: only };
  return await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => id + ' ' + target + ' ' + failureSummary)))`,
  );
}

/** The editor of a flow, with the list of completions open. */
async function openEditor(): Promise<void> {
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('\nagent.scr');
  await page.locator('.cm-tooltip-autocomplete').waitFor();
}

/** The pane in which what a person does becomes a flow. */
async function record(): Promise<void> {
  await page.getByRole('button', { name: 'Take control' }).click();
  await page.getByRole('button', { name: 'Record', exact: true }).click();
  await page.getByRole('button', { name: 'Stop recording' }).waitFor();
}

/** Opens an operation of the API page and sends its request. */
async function tryIt(path: string): Promise<void> {
  const details = page.locator('details').filter({ hasText: path }).first();
  await details.locator('summary').click();
  await details.getByRole('button', { name: /^Send/ }).click();
  await shows('200 OK');
}

/** Only the contrast depends on the colours. */
async function findsNothing(t: Test, where: string): Promise<void> {
  t.same(await findings(), [], `${where}, light`);
  await page.emulateMedia({ colorScheme: 'dark' });
  t.same(await findings(['color-contrast']), [], `${where}, dark`);
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Each view, a text that it shows when it is ready, and what to do first. */
const VIEWS: readonly { path: string; text: string; first?: () => Promise<unknown> }[] = [
  { path: '#/', text: 'Open the run' },
  { path: `#/runs/${run}`, text: 'Re-run failed' },
  { path: `#/runs/${run}/flows/wrong.js`, text: 'As this run used it' },
  { path: '#/nowhere', text: 'Not found' },
  { path: '#/sessions', text: 'Passes' },
  { path: `#/sessions/${inRun.id}`, text: 'Expected', first: () => page.getByRole('tab', { name: 'Network' }).click() },
  { path: `#/sessions/${passed.id}`, text: 'of 4' },
  { path: `#/sessions/${failed.id}/step-1`, text: 'Step 1 of' },
  { path: `#/sessions/${live.id}`, text: 'View only', first: () => page.locator('.cm-content').waitFor() },
  { path: `#/sessions/${live.id}`, text: 'View only', first: record },
  { path: '#/wall', text: '1 running' },
  { path: '#/flows', text: 'Choose a flow' },
  { path: '#/flows/examples/buy.js', text: 'Arguments' },
  { path: '#/flows/examples/buy.js', text: 'Arguments', first: openEditor },
  { path: '#/stats', text: 'examples/login' },
  { path: '#/stats/examples/login', text: '50 %', first: () => page.getByText('The numbers').click() },
  { path: '#/new?flow=examples/buy.js', text: 'The same from a shell' },
  { path: '#/api', text: '/api/sessions', first: () => tryIt('/api/health') },
];

t.test('Axe finds nothing on any view, in light and in dark', async (t) => {
  for (const { path, text, first } of VIEWS) {
    await page.goto(`${service.url}/${path}`);
    await shows(text);
    await first?.();
    await findsNothing(t, path);
  }
});

t.test('Each page names the scripts that wait for a person, and axe finds nothing there', async (t) => {
  const waiting = service.run(live.id, `agent.handoff('Type the code', { timeout: 60000 })`);
  await page.goto(`${service.url}/#/flows`);
  const notice = page.getByRole('status', { name: 'Waiting for a person' });
  t.match(await notice.textContent(), /waits for a person\s+Driven\s+Type the code/);
  await findsNothing(t, 'waiting');
  await notice.getByRole('link', { name: 'Driven' }).click();
  await shows('The script waits until');
  t.equal(await notice.count(), 0, 'its own page has the buttons');
  await page.getByRole('button', { name: 'Done' }).click();
  await waiting;
  await page.goto(`${service.url}/#/flows`);
  await shows('Choose a flow');
  await holds(`!document.body.innerText.includes('Type the code')`);
});

t.test('Axe finds nothing in dialogs', async (t) => {
  await page.goto(`${service.url}/#/sessions/${live.id}`);
  await page.getByRole('button', { name: 'Share' }).click();
  await page.getByRole('button', { name: 'Create a link' }).click();
  await page.getByLabel(/^Until/).waitFor();
  await findsNothing(t, 'share');
  await page.keyboard.press('Escape');
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('40 + 2');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await shows('42');
  await page.getByRole('region', { name: 'Console' }).getByRole('button', { name: 'Save as flow' }).click();
  await page.getByLabel('Path below flows/').waitFor();
  await findsNothing(t, 'save as flow');
  await page.keyboard.press('Escape');
});

t.test('Nothing is wider than a telephone', async (t) => {
  await page.setViewportSize({ width: 360, height: 740 });
  for (const { path, text } of VIEWS) {
    await page.goto(`${service.url}/${path}`);
    await shows(text);
    t.ok(await page.evaluate('document.documentElement.scrollWidth <= 360'), path);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
});

t.test('The page keeps its strict content security policy, and requests nothing from other hosts', async (t) => {
  const { headers } = await service.call('GET', '/');
  const policy = headers.get('content-security-policy') ?? '';
  t.match(policy, /default-src 'none'/);
  t.notMatch(policy, /unsafe/);
  t.same(problems, []);
  t.same([...hosts], [new URL(service.url).host]);
});

t.test('Axe finds nothing on the login, and on pages without anything to show', async (t) => {
  process.env.ACCESSIBILITY_TEST_TOKEN = 'correct-horse';
  t.teardown(() => {
    delete process.env.ACCESSIBILITY_TEST_TOKEN;
  });
  const guarded = await startTestService(t, { token: 'ACCESSIBILITY_TEST_TOKEN' });
  await page.goto(guarded.url);
  await page.getByLabel('Access token').fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await shows('unknown or was revoked');
  await findsNothing(t, 'login');
  await page.getByLabel('Access token').fill('correct-horse');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await shows('No session yet');
  await findsNothing(t, 'no runs');
  for (const [path, text] of [
    ['#/wall', 'No browsers running'],
    ['#/stats', 'No flow ran in this time'],
  ] as const) {
    await page.goto(`${guarded.url}/${path}`);
    await shows(text);
    await findsNothing(t, `${path}, empty`);
  }
});
