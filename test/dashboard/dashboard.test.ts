import t from 'tap';
import { startShop } from '../../examples/shop/shop.mjs';
import { openAgent, openReadersBrowser } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { SEEN } from '../support/reader.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const shop = await startShop({ port: 0 });
t.teardown(() => shop.close());
const service = await startTestService(t, { maxSessions: 3, forward: [Number(new URL(shop.url).port)] });
const lease = await openReadersBrowser(t);
const { call } = await openAgent(t, lease);

/** Waits until an expression is true in the page; fails after 10 s with the page's text. */
async function holds(expression: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  while ((await call('page', expression)) !== true) {
    if (Date.now() > deadline)
      throw new Error(`Not so: ${expression}\n${await call('page', 'document.body.innerText')}`);
    // Paced by the page's frames, which show each update.
    await call('page', 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  }
}

const shows = (text: string) => holds(`document.body.innerText.includes(${JSON.stringify(text)})`);

t.test('an empty service says how to begin, and the page makes no request to another host', async (t) => {
  await call('go', `${service.url}/`);
  await shows('No session yet');
  await shows('0 of 3 browsers');
  const hosts = await call(
    'page',
    '[...new Set(performance.getEntriesByType("resource").map(({ name }) => new URL(name).host))]',
  );
  t.same(hosts, [new URL(service.url).host]);
});

t.test(
  'a new session can have a video, and in a container ports of the machine; another one is not offered those',
  async (t) => {
    await call('go', `${service.url}/#/new?flow=examples/buy.js`);
    await shows('checkout-validation');
    if (process.env.TROUPE_TEST_DRIVER !== 'docker') {
      t.notMatch(await call('page', 'document.body.innerText'), /Ports of/);
      await call('act', '{^select}Video', 'select', 'record');
      await shows('"video":"on"');
      return;
    }
    const other = await startShop({ port: 0 });
    t.teardown(() => other.close());
    const { port } = new URL(other.url);
    await call('act', '{^radio}Session', 'check');
    await call('act', "{^textbox}Ports of the service's machine", 'input', '4500 x');
    await call('act', '{^button}Start the', 'click');
    t.match(await call('page', 'document.querySelector("input:invalid").title'), /^Numbers/);
    await call('act', "{^textbox}Ports of the service's machine", 'input', '70000');
    await call('act', '{^button}Start the', 'click');
    await shows('forward.0');
    await call('act', "{^textbox}Ports of the service's machine", 'input', `${port}, 9`);
    await call('act', '{^select}Video', 'select', 'keep only on failure');
    await shows(`"forward":[${port},9],"video":"on-failure"`);
    await call('act', '{^button}Start the', 'click');
    await shows('Running for');
    const id = String(await call('page', 'location.hash.split("/").at(-1)'));
    t.match(await service.run(id, `agent.go('http://localhost:${port}/').status`), { body: 200 });
    await service.call('DELETE', `/api/sessions/${id}`);
  },
);

t.test('a session is started, controlled and stopped on the page', async (t) => {
  await call('go', `${service.url}/#/new`);
  await call('act', '{^textbox}Name', 'input', 'by hand');
  await call('act', '{^select}Screenshots', 'select', 'each change (slower)');
  await shows('"screenshots":"on"');
  await call('act', '{^button}Start the', 'click');
  await shows('by hand');
  await shows('Running for');
  await call('act', '{^textbox}Script', 'input', `agent.go('${shop.url}'); [1, { two: 'zwei' }]`);
  await call('act', '{button}Run', 'click');
  await shows('"zwei"');
  await holds(SEEN);
  await call('act', '#step-1 button', 'click');
  await shows('Step 1 of');
  await call('act', '{tab}Live', 'click');
  await call('act', '{^textbox}Script', 'input', `agent.expect('h1').toHaveText('No', { timeout: 1 })`);
  await call('act', '{^textbox}Script', 'press', 'Enter');
  await shows('MATCH_FAILED');
  // `n` shows the failed step, but not while somebody types: the editor's shadow root hides from the page who is asked.
  const pressed = (key: string, where: string, parts: number) =>
    holds(`(() => {
      const [editor] = [...document.querySelectorAll('*')].flatMap((host) => host.shadowRoot?.querySelector('.cm-content') ?? []);
      if (editor === undefined) return false;
      ${where}.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true, composed: true }));
      return location.hash.split('/').length === ${parts};
    })()`);
  await pressed('n', 'document.body', 4);
  await call('act', '{tab}Live', 'click');
  await pressed('n', 'editor', 3);
  await call('act', '{button}Stop', 'click');
  await shows('ended: deleted');
  const [record] = (await service.call('GET', '/api/sessions')).body;
  t.match(record, { name: 'by hand', status: 'stopped' });
});

t.test('a running job is shown live, a step with its picture, and the report opens', async () => {
  await call('go', `${service.url}/#/sessions`);
  const running = service.job({
    name: 'Nightly',
    prompt: 'Log in',
    flowFiles: ['examples/login.js'],
    maxIterations: 0,
    args: { base: shop.url },
  });
  await shows('Nightly');
  const { id } = await running;
  await shows('Passed in');
  await call('act', '{a}Nightly', 'click');
  await shows('examples/login');
  await shows('passed');
  await call('act', '#step-1 button', 'click');
  await holds(`location.hash === '#/sessions/${id}/step-1'`);
  await holds('document.querySelector("img")?.naturalWidth > 300');
  await call('act', '{^tab}Report', 'click');
  await holds(`document.querySelector('iframe')?.getAttribute('src') === 'api/sessions/${id}/report'`);
  await call('go', `${service.url}/api/sessions/${id}/report`);
  await shows('1 of 1 passed');
});

t.test('the list shows at once what each session does, and how many failed today', async (t) => {
  await service.job({ prompt: 'Fail', flowFiles: ['examples/login.js'], args: { base: 'http://127.0.0.1:1' } });
  const { id } = await service.live({ name: 'at work' });
  await service.run(id, "agent.text('body')");
  await call('go', 'about:blank');
  await call('go', `${service.url}/#/sessions`);
  await shows('at work');
  await shows("agent.text('body')");
  await shows('1 failed today');
  await shows('1 of 3 browsers');
  t.match((await service.call('DELETE', `/api/sessions/${id}`)).status, 200);
});

t.test('the list is searched while typing, and filtered by state', async () => {
  await call('go', `${service.url}/#/sessions`);
  await shows('Nightly');
  await call('act', '{^input}Search', 'input', 'nightly login');
  await holds('!document.body.innerText.includes("by hand")');
  await shows('Nightly');
  await call('act', '{^input}Search', 'clear');
  await call('act', '{^button}stopped', 'click');
  await shows('by hand');
});

t.test('the wall shows every running browser', async () => {
  const sessions = await Promise.all([service.live({ name: 'left' }), service.live({ name: 'right' })]);
  await Promise.all(sessions.map(({ id }) => service.run(id, `agent.go('${shop.url}')`)));
  await call('go', `${service.url}/#/wall`);
  await shows('2 running');
  await holds('document.querySelectorAll("canvas.shown").length === 2');
  await call('act', `a[href$="${sessions[0].id}"]`, 'click');
  await shows('Stop');
  await holds(SEEN);
  await call('go', `${service.url}/#/wall`);
  await holds('document.querySelectorAll("canvas.shown").length === 2');
  await Promise.all(sessions.map(({ id }) => service.call('DELETE', `/api/sessions/${id}`)));
  await shows('No browsers running');
  await holds('document.querySelector("canvas") === null');
});

t.test('a session that does not exist is reported', async (t) => {
  await call('go', `${service.url}/#/sessions/aaaaaaaaaaaa`);
  await shows('There is no session');
  t.equal(await call('page', 'document.querySelector("main button")'), null);
});

t.test('a service with a token asks for it once, and a view-only token is not offered more', async (t) => {
  process.env.DASHBOARD_TEST_TOKEN = 'correct-horse';
  t.teardown(() => {
    delete process.env.DASHBOARD_TEST_TOKEN;
  });
  const guarded = await startTestService(t, { token: 'DASHBOARD_TEST_TOKEN' });
  await call('go', `${guarded.url}/`);
  await shows('Access token');
  await call('act', '{^input}Access token', 'input', 'wrong');
  await call('act', '{button}Sign in', 'click');
  await shows('unknown or was revoked');
  await call('act', '{^input}Access token', 'input', 'correct-horse');
  await call('act', '{button}Sign in', 'click');
  await shows('No session yet');
  await call('go', `${guarded.url}/#/wall`);
  await shows('No browsers running');
  const headers = { authorization: 'Bearer correct-horse' };
  const { token } = (await guarded.call('POST', '/api/tokens', { name: 'wall', role: 'view' }, { headers })).body;
  await call('act', '{button}Sign out', 'click');
  await shows('Access token');
  await call('act', '{^input}Access token', 'input', token);
  await call('act', '{button}Sign in', 'click');
  await shows('No browsers running');
  await holds(
    `document.querySelector('nav a[href="#/wall"]') !== null && !document.querySelector('nav a[href="#/new"]')`,
  );
});
