import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Journal } from '#troupe/journal/journal.js';
import { SessionId, type SessionRecord } from '#troupe/protocol/session.js';
import { ReportPool } from '#troupe/report/report-pool.js';
import { ArtifactKeeper } from '#troupe/supervisor/artifacts/artifact-keeper.js';
import { Retention } from '#troupe/supervisor/upkeep/retention.js';
import { ManualClock } from '../actors/manual-clock.js';
import { sampleRecord } from '../report/sample-session.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { journalPlace } from '../support/test-store.js';

guardLeaks(t);

const DAY_MS = 86_400_000;

async function stage(t: Test, retention: { days: number; megabytes: number }, nodeId?: string) {
  const home = t.testdir({});
  const clock = new ManualClock();
  const journal = await Journal.open(await journalPlace(t, join(home, 'troupe.db')));
  const pool = new ReportPool();
  t.teardown(async () => {
    await pool.close();
    await journal.close();
  });
  const sessionsDir = join(home, 'sessions');
  const config = {
    retention,
    flowsDir: join(home, 'flows'),
    batchesDir: join(home, 'batches'),
    sessionsDir,
    node: nodeId === undefined ? undefined : { id: nodeId, url: 'http://127.0.0.1:1', home, leaseFactor: 1 },
  };
  const living = new Set<string>();
  const artifacts = new ArtifactKeeper(journal, pool, sessionsDir, { node: nodeId });
  const keeper = new Retention({
    config,
    journal,
    artifacts,
    states: { removeExpired: async () => undefined },
    clock,
    log: () => undefined,
    isLiving: (id) => living.has(id),
  });
  t.teardown(() => keeper.stop());
  const add = async (n: number, ageDays: number, ended: boolean, kilobytes = 1): Promise<SessionId> => {
    const id = SessionId.parse(`s${String(n).padStart(11, '0')}`);
    const at = new Date(clock.now().getTime() - ageDays * DAY_MS).toISOString();
    const status: SessionRecord['status'] = ended ? 'completed' : 'running';
    const record = sampleRecord({
      id,
      sessionId: id,
      createdAt: at,
      endedAt: ended ? at : null,
      status,
      state: status,
    });
    await journal.write({ records: [{ record, lease: null }] });
    mkdirSync(join(sessionsDir, id, 'screenshots'), { recursive: true });
    writeFileSync(join(sessionsDir, id, 'screenshots', '001.png'), Buffer.alloc(kilobytes * 1024));
    return id;
  };
  const left = async () => (await journal.list({ limit: 100, oldestFirst: true })).map(({ record }) => record.id);
  return { home, clock, keeper, add, left, living, folderOf: (id: string) => join(sessionsDir, id) };
}

t.test('What ended longer ago than the days that are kept is gone; what runs never', async (t) => {
  const { keeper, add, left, clock, folderOf } = await stage(t, { days: 10, megabytes: 100 });
  const [old, running, fresh] = [await add(1, 11, true), await add(2, 30, false), await add(3, 9, true)];
  keeper.start();
  await eventually('the old one is gone', async () => (await left()).length === 2);
  t.same(await left(), [running, fresh]);
  t.notOk(existsSync(folderOf(old)));
  t.ok(existsSync(folderOf(running)));
  await eventually('the next look comes by itself', async () => {
    clock.advance(DAY_MS);
    return (await left()).length === 1;
  });
  t.same(await left(), [running]);
});

t.test('Past the bound of their size the oldest go; what still holds something counts for nothing', async (t) => {
  const { keeper, add, left, living } = await stage(t, { days: 100, megabytes: 1 });
  living.add(await add(1, 9, true, 900));
  const running = await add(2, 8, false, 2000);
  await add(3, 3, true, 600);
  const others = [await add(4, 2, true, 400), await add(5, 1, true, 100)];
  keeper.start();
  await eventually('the oldest is gone', async () => (await left()).length < 5);
  t.same(await left(), [...living, running, ...others]);
});

t.test('What ran before its service became a node counts where its folder is', async (t) => {
  const { keeper, add, left, folderOf } = await stage(t, { days: 100, megabytes: 1 }, 'a');
  const elsewhere = await add(1, 9, true);
  rmSync(folderOf(elsewhere), { recursive: true });
  await add(2, 3, true, 900);
  const young = await add(3, 2, true, 600);
  keeper.start();
  await eventually('the oldest here is gone', async () => (await left()).length < 3);
  t.same(await left(), [elsewhere, young]);
});

t.test('Flows that batches brought go with them', async (t) => {
  const { home, keeper, clock } = await stage(t, { days: 10, megabytes: 100 });
  const folder = join(home, 'batches', 'aaaaaaaaaaaa');
  const young = join(home, 'batches', 'bbbbbbbbbbbb');
  for (const dir of [folder, young]) mkdirSync(join(dir, 'flows'), { recursive: true });
  const before = (days: number) => new Date(clock.now().getTime() - days * DAY_MS);
  utimesSync(folder, before(2), before(2));
  utimesSync(young, before(0.5), before(0.5));
  keeper.start();
  await eventually('the folder is gone', () => !existsSync(folder));
  t.ok(existsSync(young), 'one that may be on its way in stays');
});
