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
      'wrong.js': `({ base }) => {\n  agent.go(base);\n  agent.expect('h1').toHaveText('No', { timeout: 1 });\n};`,
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

/** Only the contrast depends on the colours. */
async function findsNothing(t: Test, where: string): Promise<void> {
  t.same(await findings(), [], `${where}, light`);
  await page.emulateMedia({ colorScheme: 'dark' });
  t.same(await findings(['color-contrast']), [], `${where}, dark`);
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Tries the call of an operation's page. */
async function send(told: string): Promise<void> {
  await page.getByRole('button', { name: 'Send' }).click();
  await shows(told);
}

/** Each view, a text that it shows when it is ready, and what to do first. */
const VIEWS: readonly { path: string; text: string; first?: () => Promise<unknown> }[] = [
  { path: '#/', text: 'Passes' },
  { path: `#/runs/${run}`, text: 'Re-run failed' },
  { path: `#/runs/${run}/flows/wrong.js`, text: 'As this run used it' },
  { path: '#/nowhere', text: 'Not found' },
  { path: '#/sessions', text: 'Passes' },
  { path: `#/sessions/${inRun.id}`, text: 'Expected', first: () => page.getByRole('tab', { name: 'Network' }).click() },
  { path: `#/sessions/${passed.id}`, text: 'of 4' },
  { path: `#/sessions/${failed.id}/step-1`, text: 'Step 1 of' },
  { path: `#/sessions/${live.id}`, text: 'View only', first: () => page.locator('.cm-content').waitFor() },
  { path: '#/wall', text: 'Full screen' },
  { path: '#/flows', text: 'no run yet' },
  { path: '#/flows/examples/buy.js', text: 'Arguments' },
  { path: '#/stats', text: 'examples/login' },
  { path: '#/stats/examples/login', text: '50 %', first: () => page.getByText('Data').click() },
  { path: '#/new?flow=examples/buy.js', text: 'As curl' },
  { path: '#/api', text: '/api/sessions' },
  { path: '#/api/nothing', text: 'has no operation' },
  { path: '#/api/postApiSessions', text: 'Either LiveRequest', first: () => send('201 Created') },
  { path: '#/api/getApiSessionsIdEvents', text: 'Try it', first: () => send('newest first') },
];

t.test('Axe finds nothing on any view, in light and in dark', async (t) => {
  for (const { path, text, first } of VIEWS) {
    await page.goto(`${service.url}/${path}`);
    await shows(text);
    await first?.();
    await findsNothing(t, path);
  }
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
  await page.getByRole('button', { name: 'Save as flow' }).click();
  await page.getByLabel('Path below flows/').waitFor();
  await findsNothing(t, 'save as flow');
  await page.keyboard.press('Escape');
});

t.test('Keys of the page do nothing while somebody types, and nothing behind a dialog', async (t) => {
  const typed = await service.live({ name: 'Typed in' });
  await service.run(typed.id, `agent.go('${shop.url}'); agent.expect('h1').toHaveText('No', { timeout: 1 })`);
  const home = `#/sessions/${typed.id}`;
  const isAt = async (ending: string, what: string) =>
    t.equal(await page.evaluate('location.hash'), `${home}${ending}`, what);
  const open = async () => {
    await page.goto('about:blank');
    await page.goto(`${service.url}/${home}`);
    await page.locator('.cm-content').waitFor();
    await shows('Running for');
  };
  await open();
  await page.locator('body').press('n');
  await holds(`location.hash.includes('/step-')`);

  await open();
  await page.locator('.cm-content').click();
  await page.keyboard.type('const n = null');
  await isAt('', 'in the editor, which is in a shadow root');
  t.match(await page.locator('.cm-content').textContent(), 'const n = null');
  await page.keyboard.press('Control+n');
  await isAt('', 'with Ctrl');

  // What takes keys by its role or by an attribute, and what takes them before the page does.
  const fields = [
    `document.createElement('textarea')`,
    `document.createElement('select')`,
    `Object.assign(document.createElement('div'), { contentEditable: 'true' })`,
    `Object.assign(document.createElement('div'), { contentEditable: 'plaintext-only' })`,
    `Object.assign(document.createElement('div'), { role: 'textbox', tabIndex: 0 })`,
    `Object.assign(document.createElement('div'), { role: 'combobox', tabIndex: 0 })`,
    `Object.assign(document.createElement('div'), { tabIndex: 0, onkeydown: (event) => event.preventDefault() })`,
    `(() => {
      const outer = document.createElement('div');
      const inner = outer.attachShadow({ mode: 'open' }).appendChild(document.createElement('div'));
      inner.attachShadow({ mode: 'open' }).appendChild(document.createElement('input'));
      outer.focus = () => inner.shadowRoot.firstChild.focus();
      return outer;
    })()`,
  ];
  for (const field of fields) {
    await page.evaluate(`(() => {
      const field = ${field};
      document.body.append(field);
      field.focus();
    })()`);
    await page.keyboard.press('n');
    await isAt('', field);
  }

  // An input method has begun a word, wherever the focus is.
  await page.evaluate(`document.body.dispatchEvent(
    new KeyboardEvent('keydown', { key: 'n', bubbles: true, isComposing: true }))`);
  await isAt('', 'a composed character');
  await open();
  await page.getByRole('button', { name: 'Share' }).click();
  await page.getByRole('button', { name: 'Create a link' }).focus();
  await page.keyboard.press('n');
  await page.keyboard.press('Control+k');
  await isAt('', 'behind a dialog');
  t.equal(await page.getByRole('combobox', { name: /^Go to/ }).count(), 0);
  await page.keyboard.press('Escape');
  await page.locator('body').press('n');
  await holds(`location.hash.includes('/step-')`);
  await service.call('DELETE', `/api/sessions/${typed.id}`);
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

t.test('The list, a session and a step with its picture can be reached with the keyboard', async (t) => {
  await page.goto(`${service.url}/#/sessions`);
  await shows('Passes');
  await page.keyboard.press('/');
  await page.keyboard.type('suite=a11y');
  await holds('document.querySelectorAll("[role=row][aria-selected]").length === 1');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await shows('Step ');
  t.match(page.url(), passed.id);
  await page.getByRole('slider', { name: 'Steps' }).focus();
  await page.keyboard.press('Home');
  await shows('Step 1 of');
  await page.keyboard.press('ArrowRight');
  await shows('Step 2 of');
  t.match(page.url(), /step-2$/);
  await page.getByRole('tab', { name: 'Step' }).focus();
  for (const _ of ['Video', 'Network', 'Console', 'Report']) await page.keyboard.press('ArrowRight');
  await holds('document.querySelector("iframe[title=Report]") !== null');
  const inReport = () => page.evaluate('document.activeElement?.title === "Report"');
  for (let presses = 0; presses < 10 && !(await inReport()); presses += 1) await page.keyboard.press('Tab');
  t.ok(await inReport(), 'Tab goes on into the report');
});

t.test('From the first page, the keyboard alone leads to the cause of a failed run, and runs it again', async (t) => {
  await page.goto(`${service.url}/#/`);
  await shows('1 failed');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('run nightly');
  await holds('document.querySelector("[role=option]")?.innerText.includes("Nightly")');
  await page.keyboard.press('Enter');
  await shows("> 3 |   agent.expect('h1').toHaveText('No'");
  await page.getByRole('link', { name: 'wrong', exact: true }).focus();
  await page.keyboard.press('Enter');
  await shows('Received');
  t.match(page.url(), inRun.id);
  await holds('document.querySelector("figure img")?.naturalWidth > 300');
  await page.getByRole('link', { name: 'Run', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Re-run failed' }).focus();
  await page.keyboard.press('Enter');
  await shows('0 new failures');
  t.notMatch(page.url(), run);
});

t.test('The page keeps its strict content security policy, and requests nothing from other hosts', async (t) => {
  const { headers } = await service.call('GET', '/');
  const policy = headers.get('content-security-policy') ?? '';
  t.match(policy, /default-src 'none'/);
  t.notMatch(policy, /unsafe/);
  t.same(problems, []);
  t.same([...hosts], [new URL(service.url).host]);
});

t.test('Axe finds nothing on the login', async (t) => {
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
});
