import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { EventReader } from '../support/event-reader.js';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const PAGE = `data:text/html,${encodeURIComponent('<title>door</title><input aria-label="Letters"><p id=said></p>')}`;

t.test('A script waits for a person', async (t) => {
  const service = await startTestService(t, { evalTimeout: 5, maxSessions: 3 });
  const record = async (id: string) => (await service.call('GET', `/api/sessions/${id}`)).body;
  const answer = (id: string, body: object) => service.call('POST', `/api/sessions/${id}/handoff`, body);
  const control = (id: string, body: object) => service.call('POST', `/api/sessions/${id}/control`, body);

  await t.test(
    'The record says so, a person takes control, answers, and the script goes on with the page',
    async (t) => {
      const { id } = await service.live();
      t.match(await answer(id, { answer: 'done' }), { status: 404, body: { code: 'NOT_FOUND' } });
      const source = `agent.go(${JSON.stringify(PAGE)}); const given = agent.handoff('Type the letters', {timeout: 60000});
      given.note + agent.value('{input}Letters')`;
      const running = service.run(id, source);
      await service.seen(id, 'HandoffRequested');
      const { handoff } = await record(id);
      t.match(handoff, { text: 'Type the letters', id: String, requestedAt: String, expiresAt: String });
      t.equal(Date.parse(handoff.expiresAt) - Date.parse(handoff.requestedAt), 60_000);
      t.match((await service.call('GET', '/api/sessions?state=running')).body, [{ id, handoff }]);
      t.match(await answer(id, { answer: 'done', handoff: 'another' }), { status: 404 });

      const { body } = await control(id, { take: true });
      const asPerson = (js: string) => service.call('POST', `/sessions/${id}/proxy`, { js, control: body.control });
      // Together more than the script has: its time stands still.
      for (const _ of [1, 2]) t.match(await asPerson('agent.wait(2700); 1'), { status: 200 });
      t.match(await asPerson(`agent.act('{input}Letters', 'input', 'xyz')`), { status: 200 });
      t.match(await answer(id, { answer: 'done', note: 'letters: ' }), {
        status: 200,
        body: { id: handoff.id, answer: 'done' },
      });
      t.match(await running, { status: 200, body: 'letters: xyz' });
      t.notOk((await record(id)).handoff, 'it waits no longer');
      t.match(await control(id, { take: true }), { status: 200 }, 'control released');
      await control(id, { take: false });
      t.match(await answer(id, { answer: 'done' }), { status: 404 });
      const reader = await EventReader.open(service.url, `/api/sessions/${id}/events`);
      await reader.until(({ events }) => events.some(({ type }) => type === 'HandoffEnded'));
      const [, ended] = reader.events.filter(({ type }) => type.startsWith('Handoff'));
      t.match(ended, {
        type: 'HandoffEnded',
        data: { data: { handoff: handoff.id, outcome: 'done', by: '127.0.0.1' } },
      });
      reader.cut();
    },
  );

  await t.test('A refusal and a time limit are errors of the script, and misuse is refused', async (t) => {
    const { id } = await service.live();
    const running = service.run(id, `agent.handoff('Sign in')`);
    await service.seen(id, 'HandoffRequested');
    await answer(id, { answer: 'refused', note: 'not mine' });
    t.match(await running, { status: 422, body: { code: 'ACTION_FAILED', error: /refused "Sign in": not mine/ } });
    t.match(await service.run(id, `agent.handoff('Sign in', {timeout: 50})`), {
      status: 422,
      body: { code: 'WAIT_TIMEOUT', error: /^No person answered "Sign in"/ },
    });
    for (const wrong of [
      '',
      `''`,
      `'x', {timeout: -1}`,
      `'x', {timeout: 1e9}`,
      `'x', {until: 1}`,
      `'x'.repeat(1001)`,
    ]) {
      t.match(await service.run(id, `agent.handoff(${wrong})`), { status: 422, body: { code: 'SCRIPT_ERROR' } }, wrong);
    }
    t.match(await answer(id, { answer: 'maybe' }), { status: 400 });
    t.notOk((await record(id)).handoff);
  });

  await t.test('The end of the session ends it', async (t) => {
    const { id } = await service.live();
    const running = service.run(id, `agent.handoff('Sign in')`);
    await service.seen(id, 'HandoffRequested');
    await service.call('DELETE', `/api/sessions/${id}`);
    t.match(await running, { status: 409, body: { code: 'SESSION_ENDED' } });
    t.match(await record(id), { state: 'stopped', handoff: undefined });
    t.match(await answer(id, { answer: 'done' }), { status: 409, body: { code: 'SESSION_ENDED' } });
  });

  await t.test("A flow waits, too, and its job's hardTimeout stands still", async (t) => {
    writeFileSync(join(service.home, 'flows', 'asks.js'), `() => { agent.handoff('Enter the code'); return 1; }`);
    const job = { prompt: 'ask', flowFiles: ['asks.js', 'asks.js'], maxIterations: 0, hardTimeout: 3 };
    const { id } = (await service.call('POST', '/api/jobs', job)).body;
    const reader = await EventReader.open(service.url, `/api/sessions/${id}/events`);
    const asked = (count: number) =>
      reader.until(({ events }) => events.filter(({ type }) => type === 'HandoffRequested').length === count);
    for (const round of [1, 2]) {
      await asked(round);
      const { handoff } = await record(id);
      t.equal(handoff.text, 'Enter the code');
      const { body } = await control(id, { take: true });
      const wait = { js: 'agent.wait(2500); 1', control: body.control };
      t.match(await service.call('POST', `/sessions/${id}/proxy`, wait), { status: 200 });
      t.match(await answer(id, { answer: 'done', handoff: handoff.id }), { status: 200 });
    }
    await reader.until(({ ended }) => ended);
    t.match(await record(id), { state: 'completed', error: null });
  });
});
