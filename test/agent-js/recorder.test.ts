import t, { type Test } from 'tap';
import { SessionRecorder } from '#troupe/agent-js/recording/session-recorder.js';
import type { BrowserLease } from '#troupe/containers/driver.js';
import { flowLines } from '#troupe/protocol/recording/flow-lines.js';
import { Recording } from '#troupe/protocol/recording/recording.js';
import { openSandbox } from '../script/open-sandbox.js';
import { openAgent, openBrowser } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { sampled } from '../support/sampled.js';
import { SEED } from '../support/seed.js';
import { openTasks, solveTask, type TaskPage } from '../support/task-corpus.js';

guardLeaks(t);

const TASKS_IN_SAMPLE = 3;
/** Whose solutions set a field, choose an option or scroll by script, which no hands do. */
const BY_SCRIPT = new Set([
  ...['color-field', 'copy-paste', 'drop-file', 'highlight-paragraph', 'load-more', 'modal', 'native-multi'],
  ...['sign', 'two-sliders', 'wizard'],
]);
const ROUNDS = process.env.TROUPE_PROOF === 'recorder' ? 5 : 1;
const ACT_MS = 4_000;
/** For some alone: `TROUPE_TASKS=stars,cart`. */
const wanted = process.env.TROUPE_TASKS?.split(',');

/** Does a task with real input, and what was recorded of it. */
async function record(t: Test, lease: BrowserLease, flowsDir: string, task: TaskPage) {
  const hands = await openAgent(t, lease, { actMs: ACT_MS, flowsDir });
  const recording = new Recording();
  const { browser, agent } = hands;
  const recorder = new SessionRecorder(browser, agent.tabs, ({ act, replaces }) => recording.add(act, replaces));
  recorder.start();
  const verdict = await solveTask(hands, flowsDir, task, SEED).catch((error: unknown) => String(error));
  recorder.stop();
  await agent.dispose();
  browser.close();
  return { verdict, lines: flowLines(recording).join('\n') };
}

/** What the page says when the lines have run. */
async function replay(t: Test, lease: BrowserLease, flowsDir: string, lines: string): Promise<unknown> {
  const { agent, browser } = await openAgent(t, lease, { actMs: ACT_MS, flowsDir });
  const { sandbox, run } = await openSandbox(t, { modules: [agent.module] });
  try {
    return await run(`agent.go('about:blank');
${lines}
try { agent.until(() => agent.page('verdict()') === 'done', { timeout: 3_000 }); } catch {}
agent.page('verdict()')`);
  } finally {
    await sandbox.close();
    await agent.dispose();
    browser.close();
  }
}

t.test('what hands do on a page is recorded as a flow that does it again', async (t) => {
  const all = (await openTasks(t)).filter(({ name }) => !BY_SCRIPT.has(name));
  t.ok(all.length >= 60, `${all.length} tasks`);
  const chosen = sampled(all, { proof: 'recorder', name: 'recorder', count: TASKS_IN_SAMPLE });
  const tasks = wanted === undefined ? chosen : all.filter(({ name }) => wanted.includes(name));
  const flowsDir = t.testdir({});
  for (const task of tasks) {
    const lease = await openBrowser(t);
    const { verdict, lines } = await record(t, lease, flowsDir, task);
    t.equal(verdict, 'done', `${task.name}: the hands`);
    for (let round = 1; round <= ROUNDS; round++) {
      const result = await replay(t, lease, flowsDir, lines).catch((error: unknown) => String(error));
      t.equal(result, 'done', `${task.name}, round ${round}`, { lines });
    }
    await lease.release();
  }
});

t.end();
