import t from 'tap';
import type { BrowserLease } from '#troupe/containers/driver.js';
import { SessionId } from '#troupe/protocol/session.js';
import { openBrowser } from '#troupe/supervisor/browsers/open-browser.js';
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
