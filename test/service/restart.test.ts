import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { killBrowser, runningBrowsers } from '../support/browsers.js';
import { eventually } from '../support/eventually.js';
import { HOLDING_SCRIPTS, holdPage, tellsPageLost } from '../support/held-page.js';
import { guardLeaks } from '../support/leaks.js';
import { processesWith } from '../support/processes.js';
import { client, makeHome } from '../support/service.js';
import { startServiceProcess } from '../support/service-process.js';

guardLeaks(t);

t.test(
  'after kill -9 queued jobs run, a live session goes on with its page, and what cannot go on is ended and removed',
  async (t) => {
    const home = makeHome(t, { maxSessions: 5 });
    writeFileSync(join(home, 'flows', 'hold.js'), 'agent.go("data:text/html,held"); agent.wait(60000)');
    writeFileSync(join(home, 'flows', 'quick.js'), '1');
    const first = await startServiceProcess(t, home);
    const before = client(first.url);
    const submit = async (flow: string) =>
      (await before.call('POST', '/api/jobs', { prompt: flow, flowFiles: [flow], maxIterations: 0 })).body.id;
    const [live, dead] = await Promise.all([before.live(), before.live()]);
    await before.run(live.id, `let kept = 1; agent.go('data:text/html,<input aria-label=Name>')`);
    await before.run(live.id, `agent.act('{input}Name', 'input', 'typed before')`);
    const pages = await Promise.all(HOLDING_SCRIPTS.map((script) => holdPage(before, script)));
    const held = await submit('hold.js');
    const queued = [await submit('quick.js'), await submit('quick.js'), await submit('quick.js')];
    await before.seen(held, 'SessionStarted');
    t.equal((await before.call('GET', '/api/sessions')).body.length, 8);
    t.match(await first.end('SIGKILL'), { signal: 'SIGKILL' });
    killBrowser(dead.id);

    const second = await startServiceProcess(t, home);
    const after = client(second.url);
    for (const id of queued) {
      await after.call('GET', `/api/sessions/${id}/events`);
      t.match((await after.call('GET', `/api/jobs/${id}`)).body, { state: 'completed' });
    }
    t.match((await after.call('GET', `/api/jobs/${held}`)).body, { state: 'failed', error: { code: 'INTERRUPTED' } });
    t.match(await after.run(live.id, `agent.value('{input}Name')`), { status: 200, body: 'typed before' });
    t.match(await after.run(live.id, 'typeof kept'), { body: 'undefined' }, 'the scope is lost');
    t.match((await after.call('GET', `/api/sessions/${live.id}`)).body, {
      state: 'running',
      startedAt: live.startedAt,
    });
    t.match(
      (await after.call('GET', `/api/sessions/${dead.id}`)).body,
      { state: 'failed', error: { code: 'WORKER_LOST' } },
      'its browser died while no service ran',
    );
    await Promise.all(pages.map((id) => tellsPageLost(t, after, id)));
    for (const id of [dead.id, held]) {
      t.same(processesWith(`b-${id}`), [], 'no browser is left');
    }
    t.match(await after.call('DELETE', `/api/sessions/${live.id}`), { status: 200 });
    t.match(await after.call('GET', `/api/jobs/${held}/download`), { status: 200 });
    t.same(await second.end('SIGTERM'), { code: 0, signal: null });
  },
);

t.test(
  'after kill -9 the video so far is kept, its encoder is removed, and the session is recorded anew',
  async (t) => {
    const home = makeHome(t, { maxSessions: 2, driver: 'process' });
    const first = await startServiceProcess(t, home);
    const before = client(first.url);
    const { id } = await before.live({ video: 'on' });
    await before.run(id, `agent.go('data:text/html,<h1>Before')`);
    const video = (name: string) => statSync(join(home, 'sessions', id, name), { throwIfNoEntry: false })?.size ?? 0;
    await eventually('it is recorded', () => video('video.mp4') > 0);
    const encoders = runningBrowsers().filter((one) => one !== id);
    t.equal(encoders.length, 1);
    await first.end('SIGKILL');
    const second = await startServiceProcess(t, home);
    const after = client(second.url);
    t.match(await after.run(id, `agent.go('data:text/html,<h1>After').title`), { status: 200 });
    t.same(
      runningBrowsers().filter((one) => encoders.includes(one)),
      [],
    );
    await eventually('it is recorded again', () => video('video-2.mp4') > 0);
    t.ok(video('video.mp4') > 0);
    t.match(await after.call('DELETE', `/api/sessions/${id}`), { status: 200 });
    await second.end('SIGTERM');
  },
);

t.test('SIGTERM lets a running job end, and leaves a queued one for the next start', async (t) => {
  // What earlier versions had in place of `on` still stands in homes.
  const home = makeHome(t, { maxSessions: 1, screenshots: 'quick' });
  writeFileSync(join(home, 'flows', 'second.js'), 'agent.go("data:text/html,1"); agent.wait(1000)');
  const first = await startServiceProcess(t, home);
  const before = client(first.url);
  const job = { prompt: 'x', flowFiles: ['second.js'], maxIterations: 0 };
  const submit = async (more = {}) => (await before.call('POST', '/api/jobs', { ...job, ...more })).body.id;
  const [running, queued] = [await submit(), await submit({ screenshots: 'exact' })];
  await before.seen(running, 'SessionStarted');
  t.same(await first.end('SIGTERM'), { code: 0, signal: null });

  const second = await startServiceProcess(t, home);
  const after = client(second.url);
  t.match((await after.call('GET', `/api/jobs/${running}`)).body, { state: 'completed' });
  await after.call('GET', `/api/sessions/${queued}/events`);
  t.match((await after.call('GET', `/api/jobs/${queued}`)).body, { state: 'completed' });
  const report = async (id: string) =>
    JSON.parse((await after.call('GET', `/api/sessions/${id}/artifacts/report.json`)).body);
  t.match(await report(queued), {
    console: [{ level: 'warn', text: /"screenshots": "exact" is now "on"/ }],
    steps: [{ screenshot: /^001-/ }],
  });
  t.match(await report(running), { console: [], steps: [{ screenshot: /^001-/ }] });
  await second.end('SIGTERM');
});
