import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { inContainers, openSite } from '../support/agent-fixture.js';
import { killBrowser, runningBrowsers } from '../support/browsers.js';
import { containerOf, containersUnder, docker } from '../support/docker.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { client, makeHome, startTestService, type TestService } from '../support/service.js';
import { spawnService } from '../support/service-process.js';
import { startWithThreads } from '../support/session-threads.js';
import { readZip } from '../support/zip.js';

guardLeaks(t);

/** A board with messages, which knows its visitors by a cookie. */
async function openBoard(t: Test) {
  const site = await openSite(t);
  const messages: string[] = [];
  let asked = 0;
  site.set('/', (request, response) => {
    const { searchParams } = new URL(request.url ?? '/', site.origin);
    const name = searchParams.get('name') ?? /name=(\w+)/.exec(request.headers.cookie ?? '')?.[1] ?? 'nobody';
    const said = searchParams.get('said');
    if (said !== null) messages.push(`${name}: ${said}`);
    response
      .writeHead(200, { 'content-type': 'text/html', 'set-cookie': `name=${name}` })
      .end(`<title>Board of ${name}</title><form><input name=said aria-label=Message><button>Send</button></form>
        <ul>${messages.map((one) => `<li>${one}</li>`).join('')}</ul><a href=/file download>Save</a>`);
  });
  site.set('/file', (_, response) => {
    response.writeHead(200, { 'content-disposition': 'attachment; filename=board.txt' }).end('board');
  });
  site.set('/asking', `<title>asks</title><script>setInterval(() => fetch('/api/asked'), 20)</script>`);
  site.set('/api/asked', (_, response) => {
    asked += 1;
    response.end();
  });
  return { ...site, messages, asked: () => asked, port: Number(new URL(site.origin).port) };
}

function writeFlow(service: Pick<TestService, 'home'>, name: string, source: string): string {
  mkdirSync(join(service.home, 'flows'), { recursive: true });
  writeFileSync(join(service.home, 'flows', name), source);
  return name;
}

const running = async (service: Pick<TestService, 'call'>) =>
  (await service.call('GET', '/api/health')).body.capacity.running;
/** This file's browsers, by their leases, or by their containers. */
const browsers = async () => (inContainers ? containersUnder(tmpdir()) : runningBrowsers());
const browserOf = async (id: string) => (inContainers ? containerOf(id) : id);
/** No browser is left, and no slot is taken. */
const nothingLeft = (service: Pick<TestService, 'call'>) =>
  eventually('its browsers are gone', async () => (await browsers()).length === 0 && (await running(service)) === 0);

/** Kills the only browser that is not the session's own. */
async function killSecond(id: string): Promise<void> {
  const first = await browserOf(id);
  const [second = ''] = (await browsers()).filter((browser) => browser !== first);
  if (inContainers) await docker('kill', second);
  else killBrowser(second);
}

t.test('A flow of two people has two browsers, and one transcript, which names whose step each is', async (t) => {
  const board = await openBoard(t);
  const service = await startTestService(t, { maxSessions: 2, forward: [board.port] });
  const flow = writeFlow(
    service,
    'board.js',
    `agent.go('${board.origin}/?name=ada');
     const ben = agent.session('ben');
     ben.go('${board.origin}/?name=ben');
     agent.act('{input}Message', 'input', 'Tea?');
     agent.act('{button}Send', 'click');
     ben.go('${board.origin}/');
     ben.expect('{li}').toHaveText('ada: Tea?');
     ben.expect(ben).toHaveTitle('Board of ben');
     agent.expect(agent).toHaveTitle('Board of ada');
     match(ben.look().elements.length > 2, true);
     ben.act('{input}Message', 'input', '{{secret}}');
     ben.act('{button}Send', 'click');
     match(agent.session('ben') === ben, true);
     ben.mock('**/api/asked', {json: {n: 1}});
     match(ben.page("fetch('/api/asked').then(r => r.json())"), {n: 1});
     match(ben.requests('**/api/asked'), '#[1]');
     ben.act('{a}Save', 'click');
     agent.until(() => ben.downloads().length === 1);
     match(agent.downloads(), []);
     ({ada: agent.text('{li:1}'), ben: ben.text('{li:2}')})`,
  );
  const job = await service.job({ flowFiles: [flow], secrets: { secret: 'milk-and-honey' } });
  t.match(job, { state: 'completed' }, JSON.stringify(job.error));
  t.same(board.messages, ['ada: Tea?', 'ben: milk-and-honey']);
  t.equal(board.asked(), 0);
  await nothingLeft(service);

  const { body: report } = await service.call('GET', `/api/sessions/${job.id}/report.json`);
  const steps: { index: number; js: string; session?: string; screenshot: string | null }[] = report.steps;
  t.same(
    steps.map(({ index }) => index),
    steps.map((_, at) => at + 1),
    'the steps of both are numbered together',
  );
  const named = steps.filter(({ session }) => session === 'ben').map(({ js }) => js);
  t.ok(named.includes(`agent.session("ben").act("{input}Message", "input", "{{secret}}")`), named.join('\n'));
  t.ok(
    named.every((js) => /^(agent\.session\("ben"\)\.|agent\.mock)/.test(js)),
    named.join('\n'),
  );
  t.ok(steps.some(({ js, session }) => js === 'agent.session("ben")' && session === undefined));
  const zip = await readZip(`${service.url}/api/sessions/${job.id}/download`);
  t.equal(zip.get('downloads/ben/board.txt')?.toString(), 'board');
  for (const { screenshot, js } of steps) {
    if (screenshot !== null) t.ok(zip.has(`screenshots/${screenshot}`), js);
  }
  t.ok(steps.filter(({ session, screenshot }) => session === 'ben' && screenshot !== null).length > 2);
  for (const [name, content] of zip) t.notOk(content.includes('milk-and-honey'), name);
  t.match(zip.get('network.har')?.toString(), /name=ben/, 'what its pages asked for is in the archive');
});

t.test('A second browser is a slot of maxSessions: none in time is CAPACITY, and no flow waits for ever', async (t) => {
  const service = await startTestService(t, { maxSessions: 2, createTimeout: inContainers ? 20 : 10 });
  const flow = writeFlow(
    service,
    'two.js',
    `agent.go('data:text/html,<title>one</title>');
     agent.session('ben').go('data:text/html,<title>two</title>').title`,
  );
  // Both hold a slot and want the other's.
  const jobs = await Promise.all([1, 2].map(() => service.job({ flowFiles: [flow] })));
  const failed = jobs.filter(({ state }) => state === 'failed');
  t.ok(failed.length >= 1);
  for (const { error } of failed) {
    t.match(error, { code: 'FLOW_FAILED', details: { cause: { code: 'CAPACITY' } } }, JSON.stringify(error));
  }
  t.match(await service.job({ flowFiles: [flow] }), { state: 'completed' });
  await nothingLeft(service);
});

t.test('Names and options that are wrong are refused, and a name stands for one browser', async (t) => {
  const service = await startTestService(t, { maxSessions: 3 });
  const { id } = await service.live();
  for (const wrong of ['', '7', "''", "'../x'", "'ben', {login: 1}", "'ben', {state: 7}", "'ben', 'x'"]) {
    const answer = await service.run(id, `agent.session(${wrong})`);
    t.match(answer, { status: 422, body: { code: 'SCRIPT_ERROR' } }, wrong);
  }
  t.match(await service.run(id, `agent.session('ben', {state: 'nowhere'})`), {
    status: 400,
    body: { code: 'INVALID_REQUEST' },
  });
  t.equal(await running(service), 1, 'what was refused holds no slot');
  const members = await service.run(id, `Object.keys(agent.session('ben')).length + ' ' + Object.keys(agent).length`);
  t.match(members, { status: 200 });
  const [second = 0, first = 0] = String(members.body).split(' ').map(Number);
  t.equal(first - second, 2, 'all calls but session and handoff');
  t.match(await service.run(id, `agent.session('ben').session('x')`), { status: 422 });
  t.match(await service.run(id, `agent.session('ben', {state: 'nowhere'})`), { status: 422 });
  t.match(await service.run(id, `agent.session('ben').go('data:text/html,<title>kept</title>').title`), {
    body: 'kept',
  });
  t.match(await service.run(id, `agent.session('ben').tabs()[0].title`), { body: 'kept' });
  t.match(await service.run(id, `agent.tabs()[0].url`), { body: 'about:blank' });
  t.equal((await browsers()).length, 2);
  await service.call('DELETE', `/api/sessions/${id}`);
  await nothingLeft(service);
});

t.test('A second browser begins with a saved login, and one that dies fails its calls alone', async (t) => {
  const board = await openBoard(t);
  const service = await startTestService(t, { maxSessions: 3, forward: [board.port] });
  const { id } = await service.live();
  await service.run(id, `agent.go('${board.origin}/?name=ada'); agent.saveState('ada')`);
  const source = `const ada = agent.session('ada', {state: 'ada'}); ada.go('${board.origin}/').title`;
  t.match(await service.run(id, source), { status: 200, body: 'Board of ada' });
  const saved = await service.run(id, `ada.go('${board.origin}/?name=carl'); ada.saveState('carl').cookies`);
  t.match(saved, { status: 200, body: 1 }, 'it saves its own');
  await killSecond(id);
  await eventually('its slot is free', async () => (await running(service)) === 1);
  t.match(await service.run(id, `ada.tabs()`), { status: 422, body: { code: 'ACTION_FAILED', error: /is gone/ } });
  t.match(await service.run(id, 'agent.tabs()[0].title'), { status: 200, body: 'Board of ada' });
  t.match(await service.run(id, `agent.session('ada').tabs()[0].url`), { status: 200, body: 'about:blank' });
  await service.call('DELETE', `/api/sessions/${id}`);
  await nothingLeft(service);
});

t.test('A thread that dies takes the second browsers along, and the next script gets an error', async (t) => {
  const { service, sessionThreads } = await startWithThreads(t, { maxSessions: 2 });
  const { id } = await service.live();
  t.match(await service.run(id, `agent.session('ben').go('data:text/html,<title>b</title>').title`), { body: 'b' });
  await Promise.all(sessionThreads().map((worker) => worker.terminate()));
  await eventually('its slot is free', async () => (await running(service)) === 1);
  t.match(await service.run(id, `agent.session('ben')`), { status: 502, body: { code: 'SESSION_RESTARTED' } });
  t.match(await service.run(id, `agent.session('ben').tabs()[0].url`), { status: 200, body: 'about:blank' });
  await service.call('DELETE', `/api/sessions/${id}`);
  await nothingLeft(service);
});

t.test('After a service was killed, no second browser is left, and what was mocked in it reaches nobody', async (t) => {
  const board = await openBoard(t);
  const home = makeHome(t, { forward: [board.port], maxSessions: 2 });
  const first = spawnService(home);
  t.teardown(() => first.end('SIGKILL'));
  const before = client(await first.listening);
  const { id } = await before.live();
  const source = `const ben = agent.session('ben'); ben.mock('**/api/asked', {status: 204}); ben.go('${board.origin}/asking');
    agent.until(() => ben.requests({url: '**/api/asked', status: 204}).length > 3); 1`;
  t.match(await before.run(id, source), { status: 200, body: 1 });
  await first.end('SIGKILL');
  const second = spawnService(home);
  t.teardown(() => second.end('SIGTERM'));
  const after = client(await second.listening);
  t.match(await after.run(id, 'agent.tabs()[0].url'), { status: 200, body: 'about:blank' });
  await eventually('its browser alone is left', async () => (await browsers()).join() === (await browserOf(id)));
  t.equal(board.asked(), 0);
  await after.call('DELETE', `/api/sessions/${id}`);
  await nothingLeft(after);
});
