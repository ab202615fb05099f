import t from 'tap';
import { openAgent, openBrowser } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { hasAllCases, sampled } from '../support/sampled.js';
import { SEED } from '../support/seed.js';
import { openTasks, solveTask } from '../support/task-corpus.js';

guardLeaks(t);

const TASKS_IN_SAMPLE = 6;
const VARIATIONS = hasAllCases ? 3 : 1;
const ACT_MS = 4_000;
/** For a look at some: `TROUPE_TASKS=stars,cart`. */
const wanted = process.env.TROUPE_TASKS?.split(',');

t.test('mouse and form tasks are done by what looks show alone', async (t) => {
  const all = await openTasks(t);
  t.ok(all.length >= 60, `${all.length} tasks`);
  const chosen = sampled(all, { name: 'tasks', count: TASKS_IN_SAMPLE });
  const tasks = wanted === undefined ? chosen : all.filter(({ name }) => wanted.includes(name));
  const lease = await openBrowser(t);
  const flowsDir = t.testdir({});
  const fixture = await openAgent(t, lease, { actMs: ACT_MS, flowsDir });
  for (const task of tasks) {
    for (let seed = SEED; seed < SEED + VARIATIONS; seed++) {
      const verdict = await solveTask(fixture, flowsDir, task, seed).catch((error: unknown) => String(error));
      t.equal(verdict, 'done', `${task.name}, variation ${seed}`);
    }
  }
});

t.end();
