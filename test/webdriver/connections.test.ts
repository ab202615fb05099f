import t from 'tap';
import { chromedrivers } from '../support/chromedrivers.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { skipWithout } from '../support/programs.js';
import { startTestService, type TestService } from '../support/service.js';
import { Began, browsersLeft, SOCKET_WAYS, WEBDRIVER_WAYS } from './comings-and-goings.js';
import { eachAtOnce } from './each-at-once.js';

guardLeaks(t);

const AT_ONCE = 4;
const WAYS = [...Object.entries(WEBDRIVER_WAYS), ...Object.entries(SOCKET_WAYS)];
/** Each way once, and as many ways as make 200 connections of all kinds. */
const CONNECTIONS = process.env.TROUPE_PROOF === 'doors' ? 200 : WAYS.length;

t.test(
  `${CONNECTIONS} connections come and go, with kills in the middle: nothing is left, and none is counted twice`,
  { skip: skipWithout('chromedriver', 'setpriv') },
  async (t) => {
    const service = await startTestService(t, { maxSessions: AT_ONCE, createTimeout: 300 });
    const began = await Began.listen(t);
    const known = new Map<string, string>();
    await eachAtOnce(AT_ONCE, Array.from({ length: CONNECTIONS }), async (_, index) => {
      const [what, way] = WAYS[index % WAYS.length] ?? [];
      if (what === undefined || way === undefined) return;
      const name = `c${index}`;
      try {
        for (const id of await way({ service, began, name })) {
          t.notOk(known.has(id), 'a session of its own');
          known.set(id, name);
        }
        t.pass(`${name}: ${what}`);
      } catch (error) {
        t.fail(`${name}: ${what}`, { error });
      }
    });

    await eventually('no session runs', async () => {
      const { capacity } = (await service.call('GET', '/api/health')).body;
      return capacity.running === 0 && capacity.queued === 0;
    });
    await eventually('no chromedriver is left', () => chromedrivers().length === 0);
    await eventually('no browser is left', async () => (await browsersLeft()).length === 0);

    const { body: sessions } = await service.call('GET', '/api/sessions?limit=1000');
    const ids = sessions.map(({ id }: { id: string }) => id);
    t.equal(new Set(ids).size, ids.length);
    t.ok(ids.length <= CONNECTIONS, `${ids.length} sessions of ${CONNECTIONS} connections`);
    for (const [id, name] of known) {
      t.equal(sessions.filter((one: { id: string }) => one.id === id).length, 1, `${name} has one session`);
    }
    for (const { id, status } of sessions) t.match(status, /^(?:stopped|failed)$/, id);
    await eventually('each end is counted once', async () => (await endsCounted(service)) === ids.length);
    for (const id of ids) t.equal(await endsTold(service, id), 1, `${id} has ended once`);

    // A slot that was not given back would let the last of them wait.
    const all = await Promise.all(Array.from({ length: AT_ONCE }, () => service.live()));
    await Promise.all(all.map(({ id }) => service.call('DELETE', `/api/sessions/${id}`)));
  },
);

async function endsCounted(service: TestService): Promise<number> {
  const { body } = await service.call('GET', '/metrics');
  const lines = String(body).matchAll(/^troupe_sessions_ended_total\{[^}]*\} (\d+)$/gm);
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
}

async function endsTold(service: TestService, id: string): Promise<number> {
  const { body } = await service.call('GET', `/api/sessions/${id}/events`);
  return String(body).match(/^event: SessionEnded$/gm)?.length ?? 0;
}
