import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startShop } from '../../examples/shop/shop.mjs';
import { inContainers } from '../support/agent-fixture.js';
import { killBrowser } from '../support/browsers.js';
import { containerOf, docker } from '../support/docker.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-ports.js';
import { guardLeaks } from '../support/leaks.js';
import { done, evaluate, type ModelRequest, startModelServer, type Turn } from '../support/model-server.js';
import { openReader, SEEN } from '../support/reader.js';
import { client, makeHome, startTestService } from '../support/service.js';
import { startServiceProcess } from '../support/service-process.js';

guardLeaks(t);

const shop = await startShop({ port: 0 });
t.teardown(() => shop.close());

/** Reports its steps until it is released, or repairs a flow. */
let letGo: () => void = () => undefined;
const held = new Promise<void>((resolve) => {
  letGo = resolve;
});
const model = await startModelServer(t, async ({ body }: ModelRequest): Promise<Turn> => {
  const answers = body.messages.filter(({ role }) => role === 'assistant').length;
  if (body.messages[1]?.content?.includes('Buy')) return MENDS[answers] ?? done(true, 'over');
  if (answers > 0) return done(true, 'It says hello');
  await Promise.race([held, new Promise((resolve) => setTimeout(resolve, 120_000).unref())]);
  return {
    kind: 'answer',
    text: 'First I open the shop, then I look around.',
    calls: [
      { name: 'agent_eval', arguments: JSON.stringify({ js: `agent.go('${shop.url}'); console.log('opened')` }) },
    ],
  };
});
const MENDS = [
  evaluate(`agent.act('{button}Put in basket', 'click')`),
  evaluate('Flow.resume()'),
  done(false, 'Far enough'),
];
const home = makeHome(t, {
  models: ['scripted/m'],
  providers: { scripted: { baseURL: model.baseURL } },
  warmSessions: 0,
  actTimeout: 3,
  maxSessions: 3,
  forward: [Number(new URL(shop.url).port)],
});
const service = await startTestService(t, {}, home);
const { page, context, shows, holds } = await openReader(t);
/** Ends a session's browser from outside, as a kernel without memory does. */
async function killWorker(id: string): Promise<void> {
  if (inContainers) await docker('kill', await containerOf(id));
  else killBrowser(id);
}

const transcript = (of: typeof page = page) => of.locator('section[aria-label=Transcript]').textContent();
/** The page that has watched shows the same as a newly opened one that reads the record, once both are complete. */
async function watchedIsWritten(last: string): Promise<void> {
  const other = await context.newPage();
  await other.goto(page.url());
  await eventually('what was watched is what was written', async () => {
    const [watched, written] = await Promise.all([transcript(), transcript(other)]);
    return watched === written && watched?.includes(last) === true;
  });
  await other.close();
}

t.test('A job with a model is shown live, and its record shows the same afterwards', async (t) => {
  const { body } = await service.call('POST', '/api/jobs', { prompt: 'Say hello', maxIterations: 5 });
  await page.goto(`${service.url}/#/sessions/${body.id}`);
  await shows('thinking');
  letGo();
  await shows('First I open the shop, then I look around.');
  await shows('console: opened');
  await shows('ended: It says hello');
  await holds('/2 of 5 turns/.test(document.body.innerText)');
  t.match(await transcript(), /model[\s\S]*tokens[\s\S]*agent\.go/);
  await watchedIsWritten('ended: It says hello');
});

t.test('A deviation is highlighted, and a failed step opens its flow at the failing line', async (t) => {
  const args = { base: shop.url, layout: 'rename' };
  const { id } = await service.job({ prompt: 'Buy', flowFiles: ['examples/buy.js'], args, maxIterations: 5 });
  await page.goto(`${service.url}/#/sessions/${id}?step=10`);
  await shows('Step 10 of');
  await holds(
    '[...document.images].some(({ alt, naturalWidth }) => alt === "The page after step 10" && naturalWidth > 300)',
  );
  await shows('examples/buy, line 15');
  await shows('LOCATOR_NOT_FOUND: No visible element matches {button}Add to cart');
  await shows('Deviation from examples/buy, line 15');
  t.match(await page.locator('.marked').textContent(), /Add to cart/);
  t.ok(await page.locator('#step-10').isVisible(), 'the transcript stands at the step');
  const all = await page.locator('section[aria-label=Transcript] li').count();
  await page.getByRole('button', { name: /problems?$/ }).click();
  const some = await page.locator('section[aria-label=Transcript] li').count();
  t.ok(some > 2 && some < all, `${some} of ${all}`);
  for (const [key, step] of [
    ['step-2', 2],
    ['step-3', 3],
  ] as const) {
    await page.goto(`${service.url}/#/sessions/${id}#${key}`);
    await shows(`Step ${step} of`);
  }
});

t.test('Flows are shown, run with arguments, and picked for a job, with the equivalent curl line', async (t) => {
  await page.goto(`${service.url}/#/flows`);
  await page.getByLabel('Search flows').fill('login');
  await page.getByRole('link', { name: 'login.js', exact: true }).click();
  await shows('Logs in to the example shop');
  await page.getByLabel('base', { exact: true }).fill(shop.url);
  await page.getByRole('button', { name: 'Run' }).click();
  await shows('ended: ');
  t.match((await service.call('GET', '/api/sessions?limit=1')).body, [
    { flowFiles: ['examples/login.js'], status: 'completed' },
  ]);
  await page.goto(`${service.url}/#/flows/examples/login.js`);
  await shows('100 % of 1 passed');
  await page.getByRole('link', { name: 'History' }).click();
  await shows('Pass rate');
  await page.getByText('Data', { exact: true }).click();
  t.match(await page.getByRole('table', { name: /examples\/login, by day/ }).textContent(), /100 %[\s\S]*\d m?s/);
  await page.getByRole('link', { name: 'Day', exact: true }).click();
  await holds('document.querySelector("caption")?.textContent.startsWith("examples/login, by hour")');
  t.match(page.url(), '#/stats/examples/login?days=1');
  await page.getByRole('link', { name: 'Statistics' }).last().click();
  await page.getByRole('table').getByRole('link', { name: 'examples/login' }).waitFor();
  await page.goto(`${service.url}/#/flows/examples/login.js`);
  await page.getByRole('link', { name: 'Use in a new run' }).click();
  await page.getByLabel('Task').fill("Ada's login");
  await page.getByRole('checkbox', { name: /^search.js/ }).check();
  await page.getByLabel('Labels').fill('suite=form');
  const curl = await page.locator('section[aria-label="As curl"] pre').textContent();
  t.match(curl, `'{"labels":{"suite":"form"},"mode":"auto","prompt":"Ada'\\''s login"`);
  await page.getByRole('button', { name: 'Start the run' }).click();
  // The form shows the label too.
  await page.getByRole('button', { name: 'Share' }).waitFor();
  await shows('suite=form');
  t.match((await service.call('GET', '/api/sessions?limit=1')).body, [
    { prompt: "Ada's login", flowFiles: ['examples/login.js', 'examples/search.js'], labels: { suite: 'form' } },
  ]);
});

t.test('The console completes calls and locators, and its scripts are saved as a flow', async (t) => {
  const { id } = await service.live();
  await page.goto(`${service.url}/#/sessions/${id}`);
  const editor = page.locator('.cm-content');
  await editor.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.type(`agent.go('${shop.url}'); agent.look().elements`);
  // What is written whole needs no completing: Enter runs it, though the list is open.
  await page.locator('.cm-tooltip').getByText('elements', { exact: true }).waitFor();
  await page.keyboard.press('Enter');
  await shows('{a}Blue teapot');
  await editor.click();
  await page.keyboard.type('agent.a');
  await page.locator('.cm-tooltip').getByText('act', { exact: true }).waitFor();
  await page.keyboard.type("ct('{a}Blue");
  await page.locator('.cm-tooltip').getByText('{a}Blue teapot').waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.type("', '");
  await page.locator('.cm-tooltip .cm-completionLabel').getByText('click', { exact: true }).waitFor();
  await page.keyboard.type("click');");
  await page.keyboard.press('Escape');
  await page.keyboard.press('Enter');
  await holds('document.querySelectorAll("section[aria-label=Console] .said .number").length === 2');
  t.same(await page.locator('section[aria-label=Console] .bad').allTextContents(), []);
  await shows('/products/blue-teapot');
  await editor.click();
  await page.keyboard.press('ArrowUp');
  await holds(
    `document.querySelector('.host').shadowRoot.querySelector('.cm-content').innerText.includes("'{a}Blue teapot', 'click'")`,
  );
  await page.getByRole('button', { name: 'Save as flow' }).click();
  await page.getByLabel('Path below flows/').fill('mine/teapot');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('link', { name: 'mine/teapot.js' }).click();
  await shows(`agent.act('{a}Blue teapot', 'click')`);
  const ran = await service.job({ prompt: 'Saved', flowFiles: ['mine/teapot.js'], maxIterations: 0 });
  t.match(ran, { status: 'completed' });
  await service.call('DELETE', `/api/sessions/${id}`);
});

const onThePicture = async (t: Test) => {
  const counter = `data:text/html,${encodeURIComponent(
    `<body style="margin: 0"><button style="width: 300px; height: 200px" onclick="count.textContent = 'enough'">Enough</button>
    <input style="position: absolute; left: 400px; top: 50px; width: 200px; height: 40px" oninput="document.title = value; look()"><p id=count>0</p>
    <script>const seen = []; let look; const see = (what) => { seen.push(what); look(); };
    const all = new Promise((resolve) => {
      look = () => document.title === 'typed and pasted' && seen.length === 2 && resolve([document.title, seen.join()]);
    });
    onwheel = (event) => see('wheel ' + event.deltaY); addEventListener('touchstart', () => see('touch'));</script>`,
  )}`;
  writeFileSync(
    join(home, 'flows', 'waits.js'),
    `({ page }) => { agent.go(page); while (agent.text('#count') !== 'enough') agent.wait(50); }`,
  );
  const job = { prompt: 'Wait', flowFiles: ['waits.js'], maxIterations: 0, args: { page: counter } };
  const { id } = (await service.call('POST', '/api/jobs', job)).body;
  await page.goto(`${service.url}/#/sessions/${id}`);
  await holds('document.querySelector("canvas.shown")?.width > 300');
  const screen = page.locator('canvas');
  const at = async (x: number, y: number) => {
    const box = await screen.boundingBox();
    const size = await page.evaluate<number[]>(
      `getComputedStyle(document.querySelector('canvas')).aspectRatio.split(' / ').map(Number)`,
    );
    if (box === null) throw new Error('The picture is not to be seen');
    await page.mouse.click(box.x + (x * box.width) / (size[0] ?? 1), box.y + (y * box.height) / (size[1] ?? 1));
  };
  await at(150, 100);
  t.match((await service.call('GET', `/api/sessions/${id}`)).body, { status: 'running' }, 'a look changes nothing');
  await page.getByRole('button', { name: 'Take control' }).click();
  await shows('You have control; the agent is paused.');
  await at(450, 70);
  await page.keyboard.type('typed');
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', ' and pasted');
    document.querySelector('canvas').dispatchEvent(new ClipboardEvent('paste', { clipboardData }));
  })()`);
  await screen.hover();
  await page.mouse.wheel(0, 240);
  const touches = await context.newCDPSession(page);
  const { x = 0, y = 0 } = (await screen.boundingBox()) ?? {};
  const touchPoints = [{ x: x + 20, y: y + 200 }];
  await touches.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints });
  await touches.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('agent.page("all")');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Enter');
  await shows('"typed and pasted"');
  await shows('"wheel 240,touch"');
  await at(150, 100);
  await page.getByRole('button', { name: 'Release control' }).click();
  await shows('ended: ');
  await shows('control taken, from 127.0.0.1');
  t.match(await transcript(), /control released/);
};
// Containers have a desktop instead, which has its own test.
if (!inContainers)
  t.test(
    'A user with control operates the page with mouse, keyboard, wheel, touch and clipboard, while the agent waits',
    onThePicture,
  );

t.test('A share link shows one session, view only, to a browser without a token', async (t) => {
  process.env.SESSION_PAGE_TEST_TOKEN = 'correct-horse';
  t.teardown(() => {
    delete process.env.SESSION_PAGE_TEST_TOKEN;
  });
  const guarded = await startTestService(t, { token: 'SESSION_PAGE_TEST_TOKEN' });
  const headers = { authorization: 'Bearer correct-horse' };
  const { body } = await guarded.call('POST', '/api/sessions', { name: 'Shown' }, { headers });
  await page.goto(guarded.url);
  await page.getByLabel('Access token').fill('correct-horse');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Shown' }).click();
  await page.getByRole('button', { name: 'Share' }).click();
  await page.getByRole('button', { name: 'Create a link' }).click();
  const link = await page.getByLabel(/^Until/).inputValue();
  await context.clearCookies();
  await page.goto(link);
  await shows('Shown');
  await shows('view only');
  await holds(SEEN);
  t.match(page.url(), `#/sessions/${body.id}`);
  t.same(await page.getByRole('button', { name: /Take control|Run|Stop|Share/ }).count(), 0);
  t.same(await page.getByRole('navigation').count(), 0);
  const acts = (path: string, body: object) =>
    page.evaluate(([to, text]) => fetch(to, { method: 'POST', body: text }).then(({ status }) => status), [
      path,
      JSON.stringify(body),
    ] as const);
  t.equal(await acts(`api/sessions/${body.id}/control`, { take: true }), 403);
  t.equal(await acts(`sessions/${body.id}/proxy`, { js: '1' }), 403);
  await guarded.call('DELETE', `/api/sessions/${body.id}`, undefined, { headers });
  await shows('ended: deleted');
  await holds('document.querySelector("canvas") === null');
});

t.test(
  'A page reports that its service was killed, resumes without gap or repeat, and reports a killed browser',
  async (t) => {
    // A port that the system chose cannot be bound again at once.
    const port = String(await freePort());
    const ownHome = makeHome(t);
    const first = await startServiceProcess(t, ownHome, '--port', port);
    const { id } = await client(first.url).live({ name: 'Cut off' });
    await page.goto(`${first.url}/#/sessions/${id}`);
    const say = `for (let n = 0; n < 400; n += 1) console.log('line ' + n)`;
    await client(first.url).run(id, say);
    await shows('line 399');
    // It never gets an answer.
    const cut = client(first.url)
      .run(id, `for (;;) { console.log('on'); agent.wait(5); }`)
      .catch(() => undefined);
    await shows('console: on');
    await first.end('SIGKILL');
    await cut;
    await shows('Not live since');
    await shows('Stopped: what happened since is shown');
    const again = await startServiceProcess(t, ownHome, '--port', port);
    await client(again.url).run(id, `console.log('after it')`);
    await shows('after it');
    await holds('!document.body.innerText.includes("Not live since")');
    await holds(SEEN);
    await killWorker(id);
    await shows('WORKER_LOST');
    await holds('document.querySelector("canvas") === null');
    await watchedIsWritten('ended: The browser of the session is gone');
    await again.end('SIGTERM');
  },
);
