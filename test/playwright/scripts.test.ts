import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';
import { PAGE } from './calls.js';

guardLeaks(t);

const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(request.url ?? '');
  if (request.url === '/file.txt') {
    response.writeHead(200, { 'content-type': 'application/octet-stream' }).end('tea');
  } else response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
t.teardown(() => server.close());
const { port } = server.address() as AddressInfo;
const url = `http://127.0.0.1:${port}/`;
const service = await startTestService(t, { forward: [port], evalTimeout: 6 });

const session = async (request: object = {}) => {
  const { id } = await service.live(request);
  const run = (js: string) => service.run(id, `var url = ${JSON.stringify(url)}; ${js}`);
  const value = async (js: string) => {
    const { status, body } = await run(js);
    if (status !== 200) throw new Error(`${js}: ${JSON.stringify(body)}`);
    return body;
  };
  return { id, run, value };
};
const main = await session();
// The first call loads Playwright, which on a busy machine takes longer than a script has here.
await main.run('page.title()');

t.test('agent and page act on one browser, and each sees what the other did', async (t) => {
  t.equal(await main.value('await page.goto(url); await page.title()'), 'Calls');
  await main.value("agent.act('{input}Name', 'input', 'Ada')");
  t.equal(await main.value("page.getByLabel('Name').inputValue()"), 'Ada');
  await main.value("page.locator('#go').click()");
  t.equal(await main.value("agent.text('#out')"), 'went');
  t.equal(await main.value('agent.tabs().length'), 1);
});

t.test('a script may use the names page, context and expect itself', async (t) => {
  const { value } = await session();
  t.equal(
    await value('const page = {a: 1}; let context = 2; function expect() { return 3 } page.a + context + expect()'),
    6,
  );
});

t.test('each call that acts is a step, and each expectation an assertion', async (t) => {
  const { id, value, run } = await session();
  await value(
    "page.goto(url); page.getByRole('button', {name: 'Go'}).click(); page.title(); expect(page).toHaveTitle('Calls'); expect(1).toBe(1)",
  );
  t.match(await run("expect(page.locator('#out'), 'out').toHaveText(/nope/, {timeout: 20})"), {
    status: 422,
    body: { code: 'MATCH_FAILED', details: { line: 1 } },
  });
  await service.call('DELETE', `/api/sessions/${id}`);
  const { body } = await service.call('GET', `/api/sessions/${id}/events`);
  const events = String(body)
    .split('\n')
    .flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));
  const steps = events.filter(({ type }) => type === 'StepFinished').map(({ data }) => data.js);
  t.same(steps, [
    `page.goto("${url}")`,
    'page.getByRole("button", {name: "Go"}).click()',
    'expect(page).toHaveTitle("Calls")',
    'expect(page.locator("#out")).toHaveText(/nope/, {timeout: 20})',
  ]);
  const checks = events.filter(({ type }) => type === 'AssertionChecked').map(({ data }) => [data.ok, data.message]);
  t.same(checks, [
    [true, undefined],
    [true, undefined],
    [false, 'out'],
  ]);
});

t.test('a clock is the same in new documents', async (t) => {
  const { id, value } = await session();
  t.equal(await value(`page.clock.setFixedTime(7); page.goto(url); agent.page('Date.now()')`), 7);
  await service.call('DELETE', `/api/sessions/${id}`);
});

t.test('a password that is typed is not in the transcript', async (t) => {
  const { id, value } = await session();
  await value("page.goto(url); page.locator('#pass').fill('hunter2secret'); page.locator('#name').fill('visible')");
  await value("page.locator('#pass').focus(); page.keyboard.type('moresecret')");
  await value("page.getByText('Pass', {exact: true}).fill('labelsecret')");
  t.equal(await value("page.locator('#pass').inputValue()"), 'labelsecret', 'text for a label goes to its field');
  await service.call('DELETE', `/api/sessions/${id}`);
  const { body } = await service.call('GET', `/api/sessions/${id}/events`);
  t.notMatch(String(body).replace(/"js":"var url[^\n]*/g, ''), /hunter2secret|moresecret|fill\(\\"labelsecret/);
  t.match(body, /fill\(\\"visible\\"\)/);
});

t.test('expect.soft lets the script go on and fails it at its end', async (t) => {
  const { run } = main;
  const answer = await run("console.log('a'); expect.soft(1).toBe(2); expect.soft('x').toBe('y'); 5");
  t.match(answer, { status: 422, body: { code: 'MATCH_FAILED', details: { soft: 2 } } });
  t.match(answer.body.error, /Expected: 2[\s\S]*Expected: "y"/);
  t.equal((await run('expect.soft(1).toBe(1); 5')).body, 5);
});

t.test('an expectation without a matcher fails the script', async (t) => {
  const { run } = main;
  for (const call of ['expect', 'expect.soft', 'expect.poll']) {
    const answer = await run(`${call}(page.locator('#out')); null`);
    t.match(answer, { status: 422, body: { code: 'SCRIPT_ERROR', details: { line: 1 } } }, call);
    t.match(answer.body.error, `${call}(...) alone checks nothing: add a matcher`);
  }
  t.match((await run('await expect(page).not; null')).body, { error: /alone checks nothing/ });
  t.equal((await run('const later = expect(1); later.not.toBe(2); later.toBe(1); 5')).body, 5);
});

t.test('expect.poll ends with the last failure', async (t) => {
  const { run } = main;
  t.match(await run('expect.poll(() => 1, {timeout: 30, intervals: [5]}).toBe(2)'), {
    status: 422,
    body: { code: 'MATCH_FAILED', error: /Expected: 2/ },
  });
});

t.test('a dialog stays open for agent, for waitForEvent, and for a listener', async (t) => {
  const { value, run } = main;
  await value('page.goto(url)');
  await value("page.locator('#alert').click()");
  t.match((await run('page.title()')).body, { code: 'ACTION_FAILED', error: /A dialog is open \(confirm/ });
  await value("agent.act('{dialog}OK', 'click')");
  t.equal(await value("page.textContent('#out')"), 'true');
  const waited =
    "const d = page.waitForEvent('dialog'); page.click('#alert'); const dialog = await d; const m = dialog.message(); await dialog.dismiss(); [m, page.textContent('#out')]";
  t.same(await value(waited), ['Sure?', 'false']);
});

t.test('routes answer with data, until they are ended', async (t) => {
  const { value } = main;
  await value("page.route('**/mock', {status: 201, json: {tea: [1]}}); page.route('**/no', {abort: true})");
  t.same(
    await value("page.goto(url); page.evaluate(() => fetch('/mock').then(async (r) => [r.status, await r.json()]))"),
    [201, { tea: [1] }],
  );
  t.equal(await value("page.evaluate(() => fetch('/no').then(() => 'came', () => 'failed'))"), 'failed');
  t.equal(asked.includes('/mock'), false);
  await value("page.unroute('**/mock'); page.evaluate(() => fetch('/mock').then((r) => r.status))");
  t.equal(asked.includes('/mock'), true);
});

t.test('a download is saved in the session’s folder, an upload is one of its files', async (t) => {
  const { id, value, run } = main;
  await value(
    "page.goto(url); const waiting = page.waitForEvent('download'); page.click('#load'); await (await waiting).saveAs('tea.txt')",
  );
  t.equal((await service.call('GET', `/api/sessions/${id}/files/tea.txt`)).body, 'tea');
  await value("File.write('up.txt', 'green')");
  t.same(
    await value(
      "page.setInputFiles('#file', ['up.txt']); page.evaluate(async () => { const f = document.getElementById('file').files[0]; return [f.name, await f.text()] })",
    ),
    ['up.txt', 'green'],
  );
  t.equal(
    await value(
      "const c = page.waitForEvent('filechooser'); page.click('#file'); await (await c).setFiles('up.txt'); page.evaluate(() => document.getElementById('file').files.length)",
    ),
    1,
  );
  t.match((await run("page.setInputFiles('#file', '/etc/hostname')")).body, { code: 'ACTION_FAILED' });
});

writeFileSync(
  join(service.home, 'flows', 'pw-secret.js'),
  `page.goto(${JSON.stringify(url)}); page.getByLabel('Name').fill('{{pin}}'); page.getByLabel('Name').inputValue()`,
);
t.test('a secret is put in on the way to the page, and out again on the way back', async (t) => {
  const record = await service.job({
    prompt: 'flows',
    flowFiles: ['pw-secret.js'],
    maxIterations: 0,
    secrets: { pin: 'tango-4711' },
  });
  t.match(record, { status: 'completed' });
  const { body } = await service.call('GET', `/api/sessions/${record.id}/events`);
  t.notMatch(body, /tango-4711/);
  t.match(body, /fill\(\\"\{\{pin\}\}\\"\)/);
});

t.test(
  'a call that never ends disconnects Playwright alone: the next script goes on with the page as it was',
  async (t) => {
    const { run, value } = await session({ viewport: { width: 700, height: 500 } });
    await value("page.goto(url); page.fill('#name', 'kept'); page.route('**/mock', {status: 204})");
    const endless = 'page.evaluate(() => new Promise(() => undefined))';
    t.match(await run(endless), { body: { code: 'WAIT_TIMEOUT' } });
    t.same(await value("[page.inputValue('#name'), page.evaluate(() => [innerWidth, innerHeight])]"), [
      'kept',
      [700, 500],
    ]);
    t.equal(await value("page.evaluate(() => fetch('/mock').then((r) => r.status))"), 204, 'and its routes');
    t.same(await value("agent.page('[innerWidth, innerHeight]')"), [700, 500]);
  },
);

t.test('a tab that was closed is named, and a new script has the next one', async (t) => {
  const { value, run } = await session();
  await value('page.goto(url)');
  t.match((await run('const p = page; context.newPage(); p.close(); p.title()')).body, {
    code: 'ACTION_FAILED',
    error: /closed/,
  });
  t.equal(await value('page.url()'), 'about:blank');
});
