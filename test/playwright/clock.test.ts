import t from 'tap';
import { ClockModel } from '#troupe/playwright/session/clock-model.js';
import { openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';
import { startWithThreads } from '../support/session-threads.js';

guardLeaks(t);

/** Shows its time in its text, and what its timers did. */
const PAGE = `<title>Clock</title><p id=fired>0</p><button onclick="this.textContent = 'Pressed'">Press</button>
  <script>setInterval(() => fired.textContent++, 60_000)</script><iframe src=/frame></iframe>`;
const NOON = '2030-01-01T12:00:00Z';
const NOON_MS = Date.parse(NOON);
const NOW = `agent.page('Date.now()')`;

t.test('A page’s time is set, frozen, advanced and paused, in new documents, frames and tabs too', async (t) => {
  const site = await openSite(t);
  site.set('/', PAGE);
  site.set('/frame', '<title>Frame</title>');
  const service = await startTestService(t, { forward: [Number(new URL(site.origin).port)], maxSessions: 1 });
  const { id } = await service.live();
  const run = async (js: string) => {
    const { status, body } = await service.run(id, js);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body;
  };
  t.equal(await run(`agent.go('${site.origin}/'); agent.clock.setFixedTime('${NOON}'); ${NOW}`), NOON_MS);
  t.equal(await run(`agent.page("frames[0].Date.now()")`), NOON_MS, 'in a frame that was there');
  t.equal(await run(`agent.go('${site.origin}/'); ${NOW}`), NOON_MS, 'in a new document');
  t.equal(await run(`agent.page("frames[0].Date.now()")`), NOON_MS, 'in its frame');
  const inTab = `agent.page("void window.open('/')"); agent.wait('navigation'); agent.tab(agent.tabs().length - 1); ${NOW}`;
  t.equal(await run(inTab), NOON_MS, 'in a new tab');
  t.equal(await run('agent.tab(0).title'), 'Clock');

  // Timers of the page run when its time does, and what the agent waits for is none of them.
  await run(
    `agent.clock.install({time: '${NOON}'}); agent.go('${site.origin}/'); agent.clock.pauseAt(${NOON_MS + 3_600_000})`,
  );
  t.equal(await run(NOW), NOON_MS + 3_600_000);
  t.equal(await run(`agent.text('#fired')`), '1', 'a jump calls a timer once');
  t.equal(await run(`agent.clock.runFor('10:00'); agent.text('#fired')`), '11', 'a run calls it each time');
  t.equal(await run(`agent.clock.fastForward(600_000); agent.text('#fired')`), '12');
  t.equal(await run(NOW), NOON_MS + 3_600_000 + 1_200_000);
  t.equal(
    await run(`agent.act('{button}Press', 'click'); agent.look().elements[0].name`),
    'Pressed',
    'while it stands still',
  );
  t.equal(
    await run(`agent.expect('{button}Pressed').toBeVisible(); agent.wait('idle'); agent.screenshot('x').width > 0`),
    true,
  );
  t.equal(await run(`agent.go('${site.origin}/'); ${NOW}`), NOON_MS + 4_800_000, 'a new document stands still there');
  await run('agent.clock.resume()');
  t.equal(await run(`agent.until(() => ${NOW} > ${NOON_MS + 4_800_000})`), true);
  t.equal(await run(`context.clock.setFixedTime(5); ${NOW}`), 5, 'it is the clock of page and context');

  for (const wrong of [
    'setFixedTime("soon")',
    'fastForward("1:2:3:4")',
    'install({at: 1})',
    'setFixedTime()',
    'stop()',
  ]) {
    const { status, body } = await service.run(id, `agent.clock.${wrong}`);
    t.equal(status, 422, `${wrong}: ${JSON.stringify(body)}`);
  }
  const { steps } = (await service.call('GET', `/api/sessions/${id}/report.json`)).body;
  t.ok(steps.some(({ js }: { js: string }) => js === `agent.clock.setFixedTime("${NOON}")`));

  // A call that is cut off costs Playwright its connection, and nothing else.
  await service.run(id, `agent.clock.install({time: '${NOON}'}); agent.clock.pauseAt(${NOON_MS + 1_000})`);
  t.match(await service.run(id, `page.waitForFunction('new Promise(() => {})', null, {timeout: 300})`), {
    status: 422,
  });
  t.equal(await run(`agent.go('${site.origin}/'); ${NOW}`), NOON_MS + 1_000);
});

t.test('A clock stands again after Playwright’s connection is lost, and a lost thread is an error', async (t) => {
  const { service, loseSessionThreads } = await startWithThreads(t, { maxSessions: 1, evalTimeout: 5 });
  const { id } = await service.live();
  const page = 'data:text/html,<title>clock</title>';
  const pause = `agent.clock.install({time: '${NOON}'}); agent.clock.pauseAt(${NOON_MS + 1_000}); agent.go('${page}'); ${NOW}`;
  t.match(await service.run(id, pause), { body: NOON_MS + 1_000 });
  t.not((await service.run(id, `page.evaluate('while (true) {}')`)).status, 200);
  await service.run(id, `agent.go('about:blank')`);
  t.match(await service.run(id, `agent.go('${page}'); ${NOW}`), { status: 200, body: NOON_MS + 1_000 });
  await loseSessionThreads();
  t.match(await service.run(id, NOW), {
    status: 502,
    body: { code: 'SESSION_RESTARTED', details: { pageLost: true } },
  });
  t.match(await service.run(id, `Math.abs(${NOW} - ${Date.now()}) < 600_000`), { body: true }, 'there is no clock');
  t.match(await service.run(id, `agent.clock.setFixedTime(7); ${NOW}`), { body: 7 });
});

t.test('A clock is set to the time that its calls have come to', async (t) => {
  let now = 1_000;
  const clock = new ClockModel(() => now);
  const after = (ms: number, method: string, ...args: (string | number)[]) => {
    now += ms;
    clock.applied(method, args);
    return clock.calls();
  };
  t.same(clock.calls(), [['setSystemTime', 1_000]]);
  clock.applied('install', [['o', [['time', NOON]]]]);
  t.same(after(50, 'fastForward', '01:00'), [['setSystemTime', NOON_MS + 60_050]]);
  t.same(after(0, 'pauseAt', NOON_MS + 70_000), [
    ['setSystemTime', NOON_MS + 70_000],
    ['pauseAt', NOON_MS + 70_000],
  ]);
  t.same(after(500, 'runFor', 5), [
    ['setSystemTime', NOON_MS + 70_005],
    ['pauseAt', NOON_MS + 70_005],
  ]);
  t.same(after(500, 'resume'), [['setSystemTime', NOON_MS + 70_005]]);
  t.same(after(5, 'setFixedTime', 9), [
    ['setSystemTime', 9],
    ['setFixedTime', 9],
  ]);
  t.same(after(5, 'fastForward', 100), [
    ['setSystemTime', 9],
    ['setFixedTime', 9],
  ]);
  t.same(after(5, 'setSystemTime', '1970-01-01T00:00:00.100Z'), [['setSystemTime', 100]]);
  now += 3;
  t.same(clock.calls(), [['setSystemTime', 103]]);
});
