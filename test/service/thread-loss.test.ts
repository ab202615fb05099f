import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { runningBrowsers } from '../support/browsers.js';
import { EventReader } from '../support/event-reader.js';
import { eventually } from '../support/eventually.js';
import { HOLDING_SCRIPTS, holdPage, tellsPageLost } from '../support/held-page.js';
import { guardLeaks } from '../support/leaks.js';
import { done, evaluate, type ModelRequest, startModelServer, type Turn } from '../support/model-server.js';
import { startWithThreads } from '../support/session-threads.js';

guardLeaks(t);

const FORM = 'data:text/html,<title>form</title><input aria-label=Name>';

t.test('live sessions whose thread died answer again, with what was typed still in the page', async (t) => {
  const { service, loseSessionThreads } = await startWithThreads(t);
  // Storage is restored at the start, never again: to do so visits other pages.
  const storageState = { origins: [{ origin: 'http://127.0.0.1:1', localStorage: [{ name: 'a', value: '1' }] }] };
  const ids = await Promise.all(
    [{}, {}, {}, {}, { storageState }].map(async (request) => (await service.live(request)).id),
  );
  for (const [index, id] of ids.entries()) {
    await service.run(id, `let kept = 1; agent.go(${JSON.stringify(FORM)})`);
    t.match(await service.run(id, `agent.act('{input}Name', 'input', 'typed ${index}')`), { status: 200 });
  }
  const [first = ''] = ids;
  const running = service.run(first, 'agent.wait(60000)');
  const reader = await EventReader.open(service.url, `/api/sessions/${first}/events`);
  const of = (type: string) => reader.events.filter((event) => event.type === type);
  await reader.until(() => of('StepFinished').length === 2);

  const diedAt = performance.now();
  await loseSessionThreads();
  t.match(await running, { status: 502, body: { code: 'SESSION_RESTARTED' } });
  for (const [index, id] of ids.entries()) {
    t.match(await service.run(id, `agent.value('{input}Name')`), { status: 200, body: `typed ${index}` });
  }
  t.comment(`answered again after ${Math.round(performance.now() - diedAt)} ms`);
  t.match(await service.run(first, 'typeof kept'), { body: 'undefined' });
  t.match(await service.run(first, `agent.act('{input}Name', 'clear')`), { status: 200 });
  await reader.until(() => of('StepFinished').length === 3);
  reader.cut();
  t.match(of('SessionRestarted'), [{ data: { data: { attempt: 1 } } }]);
  const steps = of('StepFinished').map(({ data }) => data);
  t.match(
    steps,
    [1, 2, 3].map((index) => ({ data: { index } })),
    'steps are numbered on',
  );
});

t.test('a page that asks or hangs when its thread dies is replaced, and the next script is told', async (t) => {
  const { service, loseSessionThreads } = await startWithThreads(t);
  const ids = await Promise.all(HOLDING_SCRIPTS.map((script) => holdPage(service, script)));
  await loseSessionThreads();
  await Promise.all(ids.map((id) => tellsPageLost(t, service, id)));
});

t.test('a job whose thread died in its flow ends as INTERRUPTED, and the next one runs', async (t) => {
  const { service, loseSessionThreads } = await startWithThreads(t);
  writeFileSync(join(service.home, 'flows', 'hold.js'), `agent.go(${JSON.stringify(FORM)}); agent.wait(60000)`);
  writeFileSync(join(service.home, 'flows', 'quick.js'), '1');
  const { body } = await service.call('POST', '/api/jobs', {
    prompt: 'x',
    flowFiles: ['hold.js'],
    maxIterations: 0,
  });
  await service.seen(body.id, 'FlowStarted');
  await loseSessionThreads();
  await service.seen(body.id, 'SessionEnded');
  t.match((await service.call('GET', `/api/jobs/${body.id}`)).body, {
    state: 'failed',
    error: { code: 'INTERRUPTED' },
  });
  t.match(await service.job({ flowFiles: ['quick.js'] }), { state: 'completed' });
});

t.test('a job whose thread died in a script or a call of its model goes on, and nothing is done twice', async (t) => {
  const last = ({ body }: ModelRequest) => body.messages.at(-1)?.content ?? '';
  const model = await startModelServer(t, (request, index): Turn => {
    if (index === 0) return evaluate(`agent.go(${JSON.stringify(FORM)}); agent.act('{input}Name', 'input', 'typed')`);
    if (index === 1) return { kind: 'hang' };
    if (index === 2) return evaluate('agent.wait(60000)');
    return done(/How far it came is not known/.test(last(request)), last(request));
  });
  const providers = { scripted: { baseURL: model.baseURL } };
  const { service, loseSessionThreads } = await startWithThreads(t, {
    models: ['scripted/m'],
    providers,
    warmSessions: 0,
  });
  const { id } = (await service.call('POST', '/api/jobs', { prompt: 'Type' })).body;
  const reader = await EventReader.open(service.url, `/api/sessions/${id}/events`);
  const of = (type: string) => reader.events.filter((event) => event.type === type);
  await reader.until(() => of('ModelCallStarted').length === 2);
  await loseSessionThreads();
  await reader.until(() => of('ScriptStarted').length === 2);
  await loseSessionThreads();
  await reader.until(() => of('SessionEnded').length === 1);
  reader.cut();
  const { body: record } = await service.call('GET', `/api/jobs/${id}`);
  t.match(record, { state: 'completed', iterations: 3, summary: /\{input\}Name = typed/ });
  t.equal(of('SessionRestarted').length, 2);
  t.equal(of('ModelStarted').length, 1);
});

t.test('a browser that waits for a session outlives its thread, and serves the next create', async (t) => {
  const { service, loseSessionThreads } = await startWithThreads(t, { warmSessions: 1 });
  const waits = async () => (await service.call('GET', '/api/health')).body.capacity.warm === 1;
  await eventually('a warm browser', waits);
  const [before] = runningBrowsers();
  await loseSessionThreads();
  await eventually('it is ready again', waits);
  const { id } = await service.live();
  t.equal(id, before);
  t.match(await service.run(id, 'agent.go("data:text/html,<title>here</title>").title'), { body: 'here' });
});
