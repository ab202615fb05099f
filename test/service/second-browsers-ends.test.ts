import { tmpdir } from 'node:os';
import t from 'tap';
import { inContainers } from '../support/agent-fixture.js';
import { openBoard, writeFlow } from '../support/board.js';
import { killBrowser, runningBrowsers } from '../support/browsers.js';
import { containerOf, containersUnder, docker } from '../support/docker.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { done, evaluate, startModelServer } from '../support/model-server.js';
import { client, makeHome, startTestService, type TestService } from '../support/service.js';
import { spawnService } from '../support/service-process.js';
import { startWithThreads } from '../support/session-threads.js';
import { readZip } from '../support/zip.js';

guardLeaks(t);

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

t.test('A second browser is a slot of maxSessions: none in time is CAPACITY, and no flow waits for ever', async (t) => {
  const service = await startTestService(t, { maxSessions: 2, createTimeout: inContainers ? 20 : 3 });
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

t.test('A second browser that gets no slot is CAPACITY before the script is out of time', async (t) => {
  const service = await startTestService(t, { maxSessions: 1, evalTimeout: 2, createTimeout: 60 });
  const { id } = await service.live();
  t.match(await service.run(id, `agent.session('ben')`), { status: 429, body: { code: 'CAPACITY' } });
  t.match(await service.run(id, `agent.session('ben').go`), { status: 429 }, 'the name stands for no browser');
  t.match(await service.run(id, `agent.tabs().length`), { status: 200, body: 1 });
});

t.test('A job that is retried opens its second browser anew', async (t) => {
  const board = await openBoard(t);
  let asked = 0;
  board.set('/once', (_, response) => {
    asked += 1;
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>${asked}</title>`);
  });
  const service = await startTestService(t, { maxSessions: 2, forward: [board.port] });
  const flow = writeFlow(service, 'once.js', `match(agent.session('ben').go('${board.origin}/once').title, '2')`);
  const job = await service.job({ flowFiles: [flow], retries: 1 });
  t.match(job, { state: 'completed', attempt: 2 }, JSON.stringify(job.error));
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
  const { service, loseSessionThreads } = await startWithThreads(t, { maxSessions: 2 });
  const { id } = await service.live();
  t.match(await service.run(id, `agent.session('ben').go('data:text/html,<title>b</title>').title`), { body: 'b' });
  await loseSessionThreads();
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
  t.match(await after.run(id, `agent.session('ben')`), { status: 502, body: { code: 'SESSION_RESTARTED' } });
  t.match(await after.run(id, 'agent.tabs()[0].url'), { status: 200, body: 'about:blank' });
  await eventually('its browser alone is left', async () => (await browsers()).join() === (await browserOf(id)));
  t.equal(board.asked(), 0);
  await after.call('DELETE', `/api/sessions/${id}`);
  await nothingLeft(after);
});

t.test('A person who has control holds back the calls on a second browser, too, and can use it', async (t) => {
  const service = await startTestService(t, { maxSessions: 2 });
  const page = `data:text/html,${encodeURIComponent(`<button onclick="count.textContent = Number(count.textContent) + 1">Count</button>
    <button onclick="said.textContent = 'enough'">Enough</button><p id=count>0</p><p id=said></p>`)}`;
  const flow = writeFlow(
    service,
    'counts.js',
    `const ben = agent.session('ben');
     ben.go(${JSON.stringify(page)});
     while (ben.text('#said') !== 'enough') ben.act('{button}Count', 'click');`,
  );
  const { id } = (await service.call('POST', '/api/jobs', { prompt: 'count', flowFiles: [flow], maxIterations: 0 }))
    .body;
  await service.seen(id, 'StepFinished');
  const { body: taken } = await service.call('POST', `/api/sessions/${id}/control`, { take: true });
  const run = (js: string) => service.call('POST', `/sessions/${id}/proxy`, { js, control: taken.control });
  const count = async () => (await run(`Number(agent.session('ben').text('#count'))`)).body;
  const before = await count();
  t.type(before, 'number');
  for (let asked = 0; asked < 10; asked += 1) t.equal(await count(), before, 'the agent waits');
  t.match(await run(`agent.session('ben').act('{button}Enough', 'click')`), { status: 200 });
  await service.call('POST', `/api/sessions/${id}/control`, { take: false });
  await eventually(
    'the flow has ended',
    async () => (await service.call('GET', `/api/sessions/${id}`)).body.state === 'completed',
  );
  await nothingLeft(service);
});

t.test('A flow that failed in a second browser goes on with another locator, and its repair is proposed', async (t) => {
  const model = await startModelServer(t, [
    evaluate(`agent.session('ben').act('{button}Allow', 'click')`),
    evaluate(`Flow.resume({locator: '{button}Fresh'})`),
    done(true, 'It went on'),
  ]);
  const providers = { scripted: { baseURL: model.baseURL } };
  const service = await startTestService(t, { models: ['scripted/m'], providers, maxSessions: 2, actTimeout: 1 });
  const page = `data:text/html,${encodeURIComponent(`<title>Ben</title><p></p>
    <button onclick="document.querySelector('p').append('allowed ')">Allow</button>
    <button onclick="document.querySelector('p').append('fresh ')">Fresh</button>`)}`;
  const source = `const ben = agent.session('ben');
ben.go(${JSON.stringify(page)});
ben.look();
ben.act('{button}Stale', 'click');
ben.expect('{p}').toHaveText(/fresh/);
`;
  const flow = writeFlow(service, 'stale.js', source);
  const job = await service.job({ prompt: 'Go on', flowFiles: [flow], maxIterations: 10 });
  const told = model.requests.map(({ body }) => body.messages.at(-1)?.content ?? '').join('\n');
  t.match(job, { state: 'completed' }, told);
  const { body: report } = await service.call('GET', `/api/sessions/${job.id}/report.json`);
  t.match(report.flows, [{ path: 'stale', status: 'repaired' }], told);
  t.match(report.deviations, [
    {
      did: [
        'agent.session("ben")',
        ...['Allow', 'Fresh'].map((name) => `agent.session("ben").act("{button}${name}", "click")`),
      ],
    },
  ]);
  const zip = await readZip(`${service.url}/api/sessions/${job.id}/download`);
  t.equal(
    zip.get('healed-flows/stale.js')?.toString(),
    source.replace(`ben.act('{button}Stale'`, `ben.act('{button}Allow', 'click');\nben.act('{button}Fresh'`),
  );
  await nothingLeft(service);
});

t.test('A second browser whose connection ends lets its slot go, and the session goes on', async (t) => {
  const service = await startTestService(t, { maxSessions: 2 });
  const { id } = await service.live();
  t.match(await service.run(id, `agent.session('ben').go('data:text/html,<title>b</title>').title`), { body: 'b' });
  const long = await service.run(id, `agent.session('ben').page("console.log('x'.repeat(140 * 1024 * 1024))")`);
  t.match(long, { status: 422, body: { code: 'ACTION_FAILED', error: /is gone/ } });
  await eventually('its slot is free', async () => (await running(service)) === 1);
  t.match(await service.run(id, `agent.session('ben').tabs()[0].url`), { status: 200, body: 'about:blank' });
  await service.call('DELETE', `/api/sessions/${id}`);
  await nothingLeft(service);
});
