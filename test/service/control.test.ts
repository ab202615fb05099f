import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { EventReader } from '../support/event-reader.js';
import { guardLeaks } from '../support/leaks.js';
import { done, evaluate, startModelServer } from '../support/model-server.js';
import { startTestService } from '../support/service.js';
import { startWithThreads } from '../support/session-threads.js';

guardLeaks(t);

/** Two buttons: what the agent counts with, and what a person says is enough. */
const PAGE = `data:text/html,${encodeURIComponent(`<title>counter</title>
<button onclick="count.textContent = Number(count.textContent) + 1">Count</button>
<button onclick="said.textContent = 'enough'">Enough</button>
<p id=count>0</p><p id=said></p>`)}`;
const COUNTS = `({ page }) => {
  agent.go(page);
  while (agent.text('#said') !== 'enough') agent.act('{button}Count', 'click');
  return Number(agent.text('#count'));
}`;

t.test('A person takes a running job over, works beside it, and gives it back', async (t) => {
  const service = await startTestService(t);
  writeFileSync(join(service.home, 'flows', 'counts.js'), COUNTS);
  const job = { prompt: 'count', flowFiles: ['counts.js'], maxIterations: 0, args: { page: PAGE } };
  const { id } = (await service.call('POST', '/api/jobs', job)).body;
  const control = (body: object) => service.call('POST', `/api/sessions/${id}/control`, body);
  const run = (js: string, key?: string) => service.call('POST', `/sessions/${id}/proxy`, { js, control: key });
  await service.seen(id, 'StepFinished');
  t.match(await run('1'), { status: 409, body: { code: 'SESSION_BUSY' } });

  const first = await control({ take: true });
  t.match(first, { status: 200, body: { taken: true, control: String } });
  t.match(await control({ take: true }), { status: 409, body: { code: 'SESSION_BUSY', details: { by: '127.0.0.1' } } });
  const { body: taken } = await control({ take: true, takeOver: true });
  t.match(await run('1', first.body.control), { status: 409, body: { code: 'SESSION_BUSY' } });
  t.match(await run('1'), { status: 409, body: { code: 'SESSION_BUSY' } });

  const count = async () => (await run(`Number(agent.text('#count'))`, taken.control)).body;
  const before = await count();
  t.match(await run('let own = 1; typeof args.page', taken.control), { status: 200, body: 'string' });
  // A click of the agent takes a fraction of the time that one of these scripts does.
  for (let asked = 0; asked < 20; asked += 1) t.equal(await count(), before, 'the agent waits');
  t.match(await run(`own; agent.act('{button}Enough', 'click')`, taken.control), { status: 200 });
  t.match((await service.call('GET', `/api/sessions/${id}`)).body, { state: 'running' });
  t.match(await control({ take: false }), { status: 200, body: { taken: false } });
  t.match(await control({ take: false }), { status: 200 }, 'a second time changes nothing');
  const reader = await EventReader.open(service.url, `/api/sessions/${id}/events`);
  await reader.until(({ ended }) => ended);
  t.match((await service.call('GET', `/api/sessions/${id}`)).body, { state: 'completed', error: null });
  t.same(
    reader.events.filter(({ type }) => type.startsWith('Control')).map(({ type }) => type),
    ['ControlTaken', 'ControlTaken', 'ControlReturned'],
  );
  t.match(await control({ take: true }), { status: 409, body: { code: 'SESSION_ENDED' } });
});

t.test('The time of a script stands still while a person has control, also when its thread dies', async (t) => {
  const { service, loseSessionThreads } = await startWithThreads(t, { evalTimeout: 5 });
  const { id } = await service.live();
  const control = (body: object) => service.call('POST', `/api/sessions/${id}/control`, body);
  const running = service.run(id, `agent.wait(1000); agent.wait(1000); 'ended'`);
  await service.seen(id, 'ScriptStarted');
  const { body } = await control({ take: true });
  const asPerson = (js: string) => service.call('POST', `/sessions/${id}/proxy`, { js, control: body.control });
  // Together with its own two seconds it would be more than it has.
  for (const _ of [1, 2]) t.match(await asPerson('agent.wait(1700).waitedMs >= 1700'), { status: 200, body: true });
  await control({ take: false });
  t.match(await running, { status: 200, body: 'ended' });

  const { body: again } = await control({ take: true });
  await loseSessionThreads();
  const lostGates = service.logged.filter((line) => line.includes('network gate'));
  t.same(lostGates, [], 'no other thread dies with it');
  await service.seen(id, 'SessionRestarted');
  const waiting = service.run(id, `agent.go(${JSON.stringify(PAGE)}).title`);
  const typed = { js: `agent.go('about:blank').url`, control: again.control };
  t.match(await service.call('POST', `/sessions/${id}/proxy`, typed), { status: 200, body: 'about:blank' });
  await control({ take: false });
  t.match(await waiting, { status: 200, body: 'counter' });
});

t.test('A model is told that a person had control, and does nothing that it decided before', async (t) => {
  const hands: { take(): Promise<void> } = { take: async () => undefined };
  const model = await startModelServer(t, async (_, index) => {
    if (index === 0) return evaluate(`agent.go(${JSON.stringify(PAGE)})`);
    if (index === 1) {
      await hands.take();
      return evaluate(`agent.act('{button}Count', 'click')`);
    }
    return done(true, 'seen');
  });
  const providers = { scripted: { baseURL: model.baseURL } };
  const service = await startTestService(t, { models: ['scripted/m'], providers });
  const submitted = await service.call('POST', '/api/jobs', { prompt: 'count', maxIterations: 10 });
  const { id } = submitted.body;
  hands.take = async () => {
    const { body } = await service.call('POST', `/api/sessions/${id}/control`, { take: true });
    const js = `agent.act('{button}Enough', 'click'); agent.text('#said')`;
    t.match(await service.call('POST', `/sessions/${id}/proxy`, { js, control: body.control }), { body: 'enough' });
    await service.call('POST', `/api/sessions/${id}/control`, { take: false });
  };
  const reader = await EventReader.open(service.url, `/api/sessions/${id}/events`);
  await reader.until(({ ended }) => ended);
  t.match((await service.call('GET', `/api/sessions/${id}`)).body, { state: 'completed', summary: 'seen' });
  const told = model.requests[2]?.body.messages.at(-1)?.content ?? '';
  t.match(told, /^Not done\. A person has had control[\s\S]*<page>/);
  const steps = reader.events.filter(({ type }) => type === 'StepFinished').map(({ data }) => JSON.stringify(data));
  t.notOk(
    steps.some((step) => step.includes('{button}Count')),
    'the click was not made',
  );
});
