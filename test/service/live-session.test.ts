import t from 'tap';
import { startShop } from '../../examples/shop/shop.mjs';
import { killBrowser } from '../support/browsers.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const shop = await startShop({ port: 0 });
t.teardown(() => shop.close());
const forward = [Number(new URL(shop.url).port)];
/** For tests that want nothing of its settings; each ends its sessions. */
const service = await startTestService(t, { forward });

t.test('the first steps of the README work as they are printed', async (t) => {
  const { id, status, mode, links } = await service.live();
  t.match({ status, mode, proxy: links.proxy }, { status: 'running', mode: 'live', proxy: `/sessions/${id}/proxy` });

  const value = async (js: string) => {
    const { status, body } = await service.run(id, js);
    t.equal(status, 200, `${js}: ${JSON.stringify(body)}`);
    return body;
  };
  t.match(await value(`agent.go(${JSON.stringify(shop.url)})`), { url: `${shop.url}/`, title: String, status: 200 });
  const locators = await value('agent.look().elements.map(e => e.locator)');
  t.ok(locators.includes('{a}Log in'), locators.join(' '));
  t.match(await value('agent.act("{a}Log in", "click")'), { changed: true, url: `${shop.url}/login` });
  t.equal(await value('match(agent.look(), {url: "#regex .*/login", title: "#string"})'), true);

  t.same((await service.call('DELETE', `/api/sessions/${id}`)).body, {
    id,
    sessionId: id,
    status: 'stopped',
    deleted: true,
  });
  t.match(await service.run(id, '1'), { status: 409, body: { code: 'SESSION_ENDED' } });
  t.match((await service.call('GET', `/api/sessions/${id}`)).body, { state: 'stopped', endReason: 'deleted' });
  t.match(await service.call('DELETE', `/api/sessions/${id}?purge=true`), { status: 200 });
  t.match(await service.call('GET', `/api/sessions/${id}`), { status: 404, body: { code: 'NOT_FOUND' } });
});

t.test('scripts of one session share their scope, with await and without', async (t) => {
  const service = await startTestService(t, { forward, actTimeout: 1 });
  const { id } = await service.live();
  const answers = async (js: string) => (await service.run(id, js)).body;

  await answers(`const home = ${JSON.stringify(shop.url)}; agent.go(home)`);
  t.match(await answers('await agent.go(home + "/login")'), { url: `${shop.url}/login`, status: 200 });
  t.equal(await answers('let x = 1; x'), 1);
  t.equal(await answers('let x = x + 1; x'), 2);
  t.equal(await answers('const page = await agent.look(); page.diff === true || page.elements.length > 0'), true);
  t.equal(await answers('undefined'), null);
  t.match(await service.run(id, 'agent.act("{button}No such button", "click"); 1'), {
    status: 422,
    body: { code: 'LOCATOR_NOT_FOUND', details: { line: 1, url: `${shop.url}/login` } },
  });
  t.match(await service.run(id, 'let ok = 1;\nnull.boom'), {
    status: 422,
    body: { code: 'SCRIPT_ERROR', details: { line: 2 } },
  });
  t.match(await service.run(id, 'match({a: 1}, {a: "#string"})'), {
    status: 422,
    body: { code: 'MATCH_FAILED', details: { failures: [{ path: '$.a' }] } },
  });
});

t.test('a script past its time ends with EVAL_TIMEOUT, and the session goes on', async (t) => {
  const service = await startTestService(t, { evalTimeout: 3 });
  const { id } = await service.live();
  t.match(await service.run(id, 'while (true) {}'), { status: 504, body: { code: 'EVAL_TIMEOUT' } });
  t.match(await service.run(id, '6 * 7'), { status: 200, body: 42 });
  // The wait ends a moment before the script does, or on a busy machine with it.
  const waited = await service.run(id, 'agent.wait("{button}Never", {timeout: 60000})');
  t.match(waited, { body: { code: /^(WAIT|EVAL)_TIMEOUT$/ } });
});

t.test('a lost browser ends its session as failed, and its neighbour goes on', async (t) => {
  const [victim, neighbour] = [await service.live(), await service.live()];
  const running = service.run(victim.id, 'agent.wait(20000)');
  await service.run(neighbour.id, '1');
  killBrowser(victim.id);
  t.match(await running, { status: 502, body: { code: 'WORKER_LOST' } });
  t.match((await service.call('GET', `/api/sessions/${victim.id}`)).body, {
    state: 'failed',
    endReason: 'lost',
    error: { code: 'WORKER_LOST' },
  });
  t.match(await service.run(neighbour.id, '1 + 1'), { body: 2 });
  await service.call('DELETE', `/api/sessions/${neighbour.id}`);
});

t.test('whoever calls a session after its browser was lost is told so, however late', async (t) => {
  const { id } = await service.live();
  killBrowser(id);
  // From the moment of its loss until its end is on disk, and long after.
  let first = await service.run(id, '1');
  while (first.status === 200) first = await service.run(id, '1');
  const answers = [first, await service.run(id, '1')];
  await service.seen(id, 'SessionEnded');
  const { error } = (await service.call('GET', `/api/sessions/${id}`)).body;
  answers.push(await service.run(id, '1'));
  await eventually('it is gone', async () => (await service.call('GET', '/api/health')).body.capacity.running === 0);
  answers.push(await service.run(id, '1'));
  for (const { status, body } of answers) t.match({ status, body }, { status: 502, body: { code: 'WORKER_LOST' } });
  t.match(answers.at(-1)?.body, { error: error.error, details: { endReason: 'lost' } });
});

t.test('a session without scripts ends after its idle time, any session after its hard time', async (t) => {
  const [idle, hard] = await Promise.all([service.live({ idleTimeout: 0.3 }), service.live({ hardTimeout: 1 })]);
  const ended = async (id: string) => {
    // The stream of a session ends with its end.
    await service.call('GET', `/api/sessions/${id}/events`);
    return (await service.call('GET', `/api/sessions/${id}`)).body;
  };
  t.match(await ended(idle.id), { state: 'stopped', endReason: 'idle' });
  t.match(await ended(hard.id), { state: 'stopped', endReason: 'hard' });
});

t.test('files go both ways: a download is listed and served, an upload can be chosen by the page', async (t) => {
  const { id } = await service.live();
  const put = await service.call('PUT', `/api/sessions/${id}/files/note.txt`, 'for the attention of the shop');
  t.match(put.body, { name: 'note.txt', bytes: 29, source: 'upload' });
  await service.run(
    id,
    `agent.go('data:text/html,<input type=file aria-label=Note><a download="hi.txt" href="data:,hello">Get it</a>')`,
  );
  t.match(await service.run(id, 'agent.act("{input}Note", "upload", "note.txt")'), { status: 200 });
  t.match(await service.run(id, 'agent.page("document.querySelector(\'input\').files[0].name")'), { body: 'note.txt' });
  await service.run(id, 'agent.act("{a}Get it", "click")');
  await service.seen(id, 'DownloadFinished');
  t.match((await service.call('GET', `/api/sessions/${id}/files`)).body, [
    { name: 'hi.txt', bytes: 5, source: 'download' },
    { name: 'note.txt', source: 'upload' },
  ]);
  t.equal((await service.call('GET', `/api/sessions/${id}/files/hi.txt`)).body, 'hello');
  await service.call('DELETE', `/api/sessions/${id}`);
  t.match(await service.call('GET', `/api/sessions/${id}/download`), { status: 200 });
  t.equal((await service.call('GET', `/api/sessions/${id}/files/hi.txt`)).body, 'hello');
});
