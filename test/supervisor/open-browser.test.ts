import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { limitSignal } from '#troupe/base/deadline.js';
import type { BrowserLease } from '#troupe/containers/driver.js';
import { SessionId } from '#troupe/protocol/session.js';
import { openBrowser } from '#troupe/supervisor/browsers/open-browser.js';
import { eventually } from '../support/eventually.js';
import { openHouse } from '../support/house.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

type Dependencies = Parameters<typeof openBrowser>[0];

const ID = SessionId.parse('s00000000001');
const OPTIONS = { leaseId: ID, viewport: { width: 1280, height: 720 } };
const START = { id: ID, restart: 'permanent', task: () => ({ request: {} }) } as unknown as Parameters<
  typeof openBrowser
>[2];

/** Opens a browser of a driver that gives a lease at once; `leased` happens at that moment. */
async function opening({ leased, deadlineMs }: { leased: (abort: () => void) => void; deadlineMs: number }) {
  const controller = new AbortController();
  let released = 0;
  const lease = {
    identity: { driver: 'none', leaseId: ID },
    permit: () => undefined,
    release: async () => {
      released += 1;
    },
  } as unknown as BrowserLease;
  const driver = {
    lease: async () => {
      leased(() => controller.abort(new Error('The client has left')));
      return lease;
    },
  };
  const dependencies = { driver, log: () => undefined } as unknown as Dependencies;
  const outcome = await openBrowser(dependencies, OPTIONS, START, { signal: controller.signal, deadlineMs }).then(
    () => 'opened',
    (error: Error) => error.message,
  );
  return { outcome, released };
}

t.test('A browser whose start is cancelled once it is there is released', async (t) => {
  const { outcome, released } = await opening({ leased: (abort) => abort(), deadlineMs: 60_000 });
  t.equal(outcome, 'The client has left');
  t.equal(released, 1);
});

t.test('A browser that is there too late is released', async (t) => {
  const { outcome, released } = await opening({ leased: () => undefined, deadlineMs: 0 });
  t.equal(outcome, 'No browser was ready in time');
  t.equal(released, 1);
});

t.test('What only an actor gets of a request holds in a browser that was started ahead, ready or not', async (t) => {
  const { sessions, browsers, home, live } = await openHouse(t, { warmSessions: 1 });
  mkdirSync(join(home, 'requests'), { recursive: true });
  const item = { name: 'get', request: { method: 'GET', header: [], url: 'http://127.0.0.1:1/' } };
  const schema = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';
  const collection = { info: { name: 'Inner', schema }, item: [item] };
  writeFileSync(join(home, 'requests', 'inner.json'), JSON.stringify(collection));
  const cause = (id: string) =>
    sessions.runScript(
      id,
      `try { Request.run('inner/get') } catch (error) { error.details.cause }`,
      new AbortController().signal,
    );
  const request = { egress: { deny: ['127.0.0.1'] } };
  const isReady = () => sessions.health().capacity.warm === 1;
  await eventually('a warm browser', isReady);
  const letStart = browsers.holdStarts();
  const held = browsers.startHeld(limitSignal(60_000));
  t.equal(await cause((await live(request)).id), '"EGRESS"');
  // It differs from the one above in what is taken: a browser that starts only when the session has it already.
  await held;
  const early = live(request);
  letStart();
  t.equal(await cause((await early).id), '"EGRESS"');
});
