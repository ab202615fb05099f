import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { RequestVault } from '#troupe/auth/request-vault.js';
import { readConfig } from '#troupe/config.js';
import type { BrowserLease, Driver, LeaseIdentity } from '#troupe/containers/driver.js';
import { Journal } from '#troupe/journal/journal.js';
import { type AutoRequest, type LiveRequest, type SessionId, SessionRecord } from '#troupe/protocol/session.js';
import { EventHub } from '#troupe/supervisor/events/event-hub.js';
import { acceptedRecord, newSessionId, startedRecord } from '#troupe/supervisor/sessions/session-record.js';
import { leftSessions, type Recovered, recoverSessions } from '#troupe/supervisor/upkeep/recovery.js';
import { ManualClock } from '../actors/manual-clock.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome, startTestService } from '../support/service.js';

guardLeaks(t);

const JOB: AutoRequest = { mode: 'auto', prompt: 'x', flowFiles: ['quick.js'], maxIterations: 0 };
const DEFAULTS = { maxIterations: 0, model: null, publicUrl: undefined, now: new Date(0) };

/** A journal that an earlier service left in a home, and what is to be in it. */
async function leftJournal(home: string) {
  const file = join(home, 'troupe.db');
  const journal = await Journal.open({ file });
  const vault = await RequestVault.open(join(home, 'troupe.key'));
  const leave = async (request: LiveRequest | AutoRequest, lease: LeaseIdentity | null | undefined) => {
    const id = newSessionId();
    const accepted = acceptedRecord(id, request, DEFAULTS);
    const record =
      lease === undefined
        ? accepted
        : startedRecord(accepted, { driver: 'process', isStored: false, now: new Date(0) });
    const requests = [{ sessionId: id, caller: '', request: vault.seal(request, '') }];
    await journal.write({ records: [{ record, lease: lease ?? null }], requests });
    return id;
  };
  return { file, journal, vault, leave };
}

/** In a process of its own: as long as one has the file open no other may. */
function damage(file: string, statements: string): void {
  const script = `new (require('libsql'))(${JSON.stringify(file)}).exec(${JSON.stringify(statements)})`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

t.test('Rows of the journal that are damaged end their sessions with INTERNAL, and the service starts', async (t) => {
  const home = makeHome(t);
  writeFileSync(join(home, 'flows', 'quick.js'), '1');
  const { file, journal, leave } = await leftJournal(home);
  const noRecord = [await leave(JOB, undefined), await leave({}, null)];
  const noRequest = await leave(JOB, undefined);
  const noLease = await leave({}, null);
  const noEvents = await leave({}, null);
  const well = await leave(JOB, undefined);
  await journal.write({
    keyValues: [
      { kind: 'batch', id: 'bad', data: 1 },
      { kind: 'delivery', id: 'bad', data: 1 },
    ],
  });
  await journal.close();
  damage(
    file,
    `UPDATE sessions SET record = '{"id":' WHERE id IN ('${noRecord.join("','")}');
     UPDATE requests SET request = 'x' WHERE session_id = '${noRequest}';
     UPDATE sessions SET lease = '[]' WHERE id = '${noLease}';
     UPDATE kept SET data = '{' WHERE id = 'bad';
     INSERT INTO events (session_id, at, type, data) VALUES ('${noEvents}', 'x', 'StepFinished', '{');`,
  );

  const service = await startTestService(t, {}, home);
  await eventually('the one that is well runs', async () => {
    const { body } = await service.call('GET', `/api/sessions/${well}`);
    return body.state === 'completed';
  });
  t.ok(service.logged.some((line) => line.includes('damaged')));
  for (const id of [...noRecord, noRequest, noLease, noEvents]) {
    const { body } = await service.call('GET', `/api/sessions/${id}`);
    t.match(body, { id, state: 'failed', error: { code: 'INTERNAL', error: /damaged|cannot be read/ } });
    t.ok(SessionRecord.safeParse(body).success);
  }
  t.equal((await service.call('GET', '/api/sessions')).body.length, 6);
});

/** Runs a recovery with a driver of the test's own. */
async function recovery(t: Test, driver: Partial<Driver>, more: Partial<Recovered> = {}) {
  const home = mkdtempSync(join(tmpdir(), 'troupe-recovery-'));
  t.teardown(() => rmSync(home, { recursive: true, force: true }));
  const { journal, vault, leave } = await leftJournal(home);
  const clock = new ManualClock();
  const said: string[] = [];
  const queued: string[] = [];
  const resumed: string[] = [];
  const hub = new EventHub(journal);
  t.teardown(() => journal.close());
  const parts = {
    config: readConfig({}, { TROUPE_HOME: home }),
    journal,
    vault,
    clock,
    hub,
    driver: {
      name: 'process',
      browser: null,
      offers: new Set<'desktop'>(),
      lease: () => Promise.reject(new Error('no browser is asked for')),
      adopt: async () => null,
      sweep: async () => [],
      ...driver,
    },
    webhooks: { entries: () => [] },
    artifacts: { finish: async () => undefined },
    log: (line: string) => void said.push(line),
  } as const;
  const recovered: Recovered = {
    resume: async ({ record }) => void resumed.push(record.id),
    queue: ({ id }) => void queued.push(id),
    ...more,
  };
  const end = async (id: SessionId) => (await journal.get(id))?.record;
  return {
    clock,
    said,
    queued,
    resumed,
    leave,
    end,
    run: async () => recoverSessions(parts, recovered, await leftSessions(parts.journal), { sweeps: true }),
  };
}

const lease = (name: string): LeaseIdentity => ({ driver: 'process', leaseId: name });

function browser(leaseId: string, released: string[]): BrowserLease {
  return {
    identity: lease(leaseId),
    endpoint: { product: '', downloadsDir: '', uploadsDir: '' },
    exited: new Promise(() => undefined),
    devTools: () => ({ kind: 'socket', url: '' }),
    permit: () => undefined,
    release: async () => void released.push(leaseId),
  };
}

t.test('A browser whose adoption fails ends its own session, with the reason, and no other', async (t) => {
  const released: string[] = [];
  const { said, queued, resumed, leave, end, run } = await recovery(t, {
    adopt: async ({ leaseId }) => {
      if (leaseId === 'broken') throw new Error('the engine is ill');
      return browser(leaseId, released);
    },
    sweep: () => Promise.reject(new Error('the engine is still ill')),
  });
  const broken = await leave({}, lease('broken'));
  const well = await leave({}, lease('well'));
  const job = await leave(JOB, undefined);
  await run();
  t.same(resumed, [well]);
  t.same(queued, [job]);
  t.match(await end(broken), { status: 'failed', error: { code: 'WORKER_LOST', error: /the engine is ill/ } });
  t.match(await end(well), { status: 'running' });
  t.ok(said.some((line) => line.includes('the engine is ill')));
  t.ok(said.some((line) => line.includes('removed later')));
});

t.test('Who has a browser goes on while others are still removed, and who gets a new one waits for that', async (t) => {
  const order: string[] = [];
  let removed = (): void => undefined;
  const { leave, run } = await recovery(
    t,
    {
      adopt: async ({ leaseId }) => (leaseId === 'kept' ? browser(leaseId, []) : null),
      sweep: () =>
        new Promise((resolve) => {
          removed = () => resolve([]);
        }),
    },
    {
      resume: async () => void order.push('resumed'),
      queue: () => void order.push('queued'),
    },
  );
  await leave({}, lease('kept'));
  await leave({ ...JOB, retries: 1 }, lease('gone'));
  const running = run();
  await eventually('it goes on', async () => order.includes('resumed'));
  order.push('removed');
  removed();
  await running;
  t.same(order, ['resumed', 'removed', 'queued']);
});

t.test('A driver that does not answer is waited for 15 s, and what it adopts after that is given back', async (t) => {
  const released: string[] = [];
  let answer = (_lease: BrowserLease): void => undefined;
  const { clock, queued, leave, end, run } = await recovery(t, {
    adopt: () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
  });
  const stalled = await leave({}, lease('stalled'));
  const job = await leave(JOB, undefined);
  const running = run();
  await eventually('it waits', async () => {
    clock.advance(15_000);
    return (await end(stalled))?.status === 'failed';
  });
  await running;
  t.same(queued, [job]);
  t.match(await end(stalled), { error: { code: 'WORKER_LOST', error: /within 15000 ms/ } });
  answer(browser('stalled', released));
  await eventually('it is given back', async () => released.length === 1);
});

t.test('A session that cannot go on, and one that cannot be queued, end and keep no other from either', async (t) => {
  const released: string[] = [];
  const queued: string[] = [];
  const { leave, end, run } = await recovery(
    t,
    { adopt: async ({ leaseId }) => browser(leaseId, released) },
    {
      resume: () => Promise.reject(new Error('its thread is gone')),
      queue: ({ id }) => {
        if (queued.push(id) === 1) throw new Error('there is no room');
      },
    },
  );
  const live = await leave({}, lease('live'));
  const [first, second] = [await leave(JOB, undefined), await leave(JOB, undefined)];
  await run();
  t.match(await end(live), { status: 'failed', error: { code: 'WORKER_LOST' } });
  t.same(released, ['live']);
  t.match(await end(first), { status: 'failed', error: { error: /no room/ } });
  t.match(await end(second), { status: 'queued' });
});
