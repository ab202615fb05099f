import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import { Reaper } from '#troupe/supervisor/upkeep/reaper.js';
import { ManualClock } from '../actors/manual-clock.js';
import { bounds, driverFixture, wish } from '../containers/driver-fixture.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test('A browser that belongs to nobody is removed while the service runs, and no other is', async (t) => {
  const { driver } = await driverFixture(t);
  const [owned, orphan] = await Promise.all(['owned', 'orphan'].map((id) => driver.lease(wish(id), bounds())));
  const folderOf = (lease: typeof owned) => dirname(lease?.endpoint.uploadsDir ?? '');
  const clock = new ManualClock();
  const said: string[] = [];
  const kept = new Set(['owned', 'orphan']);
  const reaper = new Reaper({ driver, clock, log: (line) => said.push(line), isOwned: (id) => kept.has(id) });
  reaper.start();
  clock.advance(10_000);
  await reaper.stop();
  t.ok(existsSync(folderOf(orphan)));

  kept.delete('orphan');
  const next = new Reaper({ driver, clock, log: (line) => said.push(line), isOwned: (id) => kept.has(id) });
  next.start();
  clock.advance(10_000);
  await eventually('the orphan is gone', () => said.length > 0);
  t.same(said, ['removed 1 orphaned browser: orphan']);
  t.notOk(existsSync(folderOf(orphan)));
  t.ok(existsSync(folderOf(owned)));
  await next.stop();
  clock.advance(60_000);
  await owned?.release();
});
