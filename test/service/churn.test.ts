import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as nextTry } from 'node:timers/promises';
import t from 'tap';
import { stretched } from '#troupe/base/deadline.js';
import { guardLeaks } from '../support/leaks.js';
import { hasAllCases } from '../support/sampled.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

/** What one session leaves behind shows after a few. */
const isWhole = hasAllCases;
const ROUNDS = isWhole ? 40 : 4;
const AT_ONCE = isWhole ? 10 : 5;
const SETTLE_MS = stretched(60_000);
/** Connections of the test's own client come and go. */
const KEPT_ALIVE = 4;

/** What this process and the machine hold for it. */
function holdings(home: string) {
  const browsers = readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(home);
    } catch {
      return false;
    }
  });
  return {
    threads: readdirSync('/proc/self/task').length,
    handles: readdirSync('/proc/self/fd').length,
    browsers: browsers.length,
    // All tests share the cache of browsers.
    folders: readdirSync(join(home, 'tmp'), { recursive: true }).filter((path) => !String(path).startsWith('chromium'))
      .length,
  };
}

type Holdings = ReturnType<typeof holdings>;

/** What is held once `settled` says so, or after a minute. The kernel tells nobody when a process has gone. */
async function holdingsWhen(home: string, settled: (now: Holdings) => boolean): Promise<Holdings> {
  const deadline = Date.now() + SETTLE_MS;
  for (;;) {
    const now = holdings(home);
    if (settled(now) || Date.now() > deadline) return now;
    await nextTry(50);
  }
}

t.test('Sessions at once and one after another leave the service as it was', { timeout: 280_000 }, async (t) => {
  const service = await startTestService(t);
  const once = async (): Promise<void> => {
    const { id } = await service.live();
    const { body } = await service.run(id, 'agent.go("data:text/html,<title>here</title>").title');
    if (body !== 'here') t.fail(JSON.stringify(body));
    await service.call('DELETE', `/api/sessions/${id}`);
    await service.call('DELETE', `/api/sessions/${id}?purge=true`);
  };
  // Together, so that both threads that write reports are there.
  await Promise.all([once(), once(), once()]);
  const baseline = await holdingsWhen(service.home, ({ browsers }) => browsers === 0);

  await Promise.all(Array.from({ length: AT_ONCE }, once));
  for (let round = 0; round < ROUNDS; round += 1) await once();

  const end = await holdingsWhen(
    service.home,
    ({ threads, handles, browsers, folders }) =>
      threads <= baseline.threads &&
      handles <= baseline.handles + KEPT_ALIVE &&
      browsers === 0 &&
      folders <= baseline.folders,
  );
  t.ok(end.threads <= baseline.threads, `threads ${baseline.threads} -> ${end.threads}`);
  t.ok(end.handles <= baseline.handles + KEPT_ALIVE, `handles ${baseline.handles} -> ${end.handles}`);
  t.equal(end.browsers, 0);
  t.ok(end.folders <= baseline.folders, `folders ${baseline.folders} -> ${end.folders}`);
  t.same(readdirSync(join(service.home, 'sessions')), []);
  t.same((await service.call('GET', '/api/sessions')).body, []);
});
