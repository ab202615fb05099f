// How long do callers wait for a session whose thread died, and how soon do they hear that a browser is gone? Five sessions
// with text typed into their pages; each round their thread is ended under them, and the last of a script's answers counts
// that has the text. Then their browsers are killed while a script runs in each.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '#troupe/config.js';
import { startService } from '#troupe/service.js';
import { atMost, printHeader, printSamples } from './support/print.mjs';
import { sessionWorker } from './support/session-worker.mjs';

const SESSIONS = 5;
const FORM = 'data:text/html,<input aria-label=Name>';
/** A script that was sent runs by then. */
const UNDER_WAY_MS = 500;

export async function run({ rounds = 3 } = {}) {
  const home = await mkdtemp(join(tmpdir(), 'tb-'));
  await chmod(home, 0o755);
  await writeFile(join(home, 'troupe.json'), JSON.stringify({ driver: 'process', warmSessions: 0 }));
  const workers = [];
  const started = ({ worker }) => workers.push(worker);
  subscribe('worker_threads', started);
  const config = readConfig({ port: '0' }, { ...process.env, TROUPE_HOME: home });
  const service = await startService(config, { version: 'bench', log: () => undefined });
  // The journal's is no thread of sessions.
  workers.shift();
  try {
    const send = (path, body) => fetch(service.url + path, { method: 'POST', body: JSON.stringify(body) });
    const script = async (id, js) => {
      const response = await send(`/sessions/${id}/proxy`, { js });
      return { status: response.status, body: await response.json() };
    };
    const ids = [];
    for (let index = 0; index < SESSIONS; index += 1) {
      const { id } = await (await send('/api/sessions', {})).json();
      await script(id, `agent.go(${JSON.stringify(FORM)}); agent.act('{input}Name', 'input', 'typed ${index}')`);
      ids.push(id);
    }
    const restarted = [];
    for (let round = 0; round < rounds; round += 1) restarted.push(await restart(workers, ids, script));
    const told = await Promise.all(ids.map((id) => killBrowser(id, script)));
    printHeader();
    printSamples(`thread died, all ${SESSIONS} answer`, restarted, 'ms');
    printSamples('browser killed, its caller told', told, 'ms');
    return [
      atMost(
        `recovery: ${SESSIONS} sessions answer after their thread died, slowest, ms`,
        Math.max(...restarted),
        2000,
      ),
      atMost('recovery: WORKER_LOST after a browser was killed, slowest, ms', Math.max(...told), 1000),
    ];
  } finally {
    unsubscribe('worker_threads', started);
    await service.stop({ drainMs: 0 });
    await rm(home, { recursive: true, force: true });
  }
}

/** Ends every thread with sessions, and answers how long until all of them have told what is in their pages. */
async function restart(workers, ids, script) {
  const diedAt = performance.now();
  await Promise.all(workers.splice(0).map((worker) => worker.terminate()));
  const answers = await Promise.all(ids.map((id) => askAgain(() => script(id, `agent.value('{input}Name')`))));
  const took = performance.now() - diedAt;
  const wrong = answers.find(({ status, body }, index) => status !== 200 || body !== `typed ${index}`);
  if (wrong !== undefined) throw new Error(`A session answers ${JSON.stringify(wrong)}`);
  return took;
}

/** Whoever asked while the thread was dying is told so, and asks again. */
async function askAgain(ask) {
  const answer = await ask();
  return answer.body?.code === 'SESSION_RESTARTED' ? askAgain(ask) : answer;
}

/** Answers how long until the caller of a script that waits hears of it. */
async function killBrowser(id, script) {
  const [leader] = (await sessionWorker({ driver: 'process' }, id)).pids;
  const answer = script(id, 'agent.wait(60000)');
  await pause(UNDER_WAY_MS);
  const killedAt = performance.now();
  process.kill(leader, 'SIGKILL');
  const { body } = await answer;
  if (body.code !== 'WORKER_LOST') throw new Error(`The caller was told ${JSON.stringify(body)}`);
  return performance.now() - killedAt;
}
