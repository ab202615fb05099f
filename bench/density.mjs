// What does a session that nobody uses cost in memory, and do fifty of them, held at once, still answer? Memory is PSS: what
// processes share is counted once. `--rounds` is the number of sessions.
import { readdirSync, readFileSync } from 'node:fs';
import { percentiles } from './support/percentiles.mjs';
import { atMost, printHeader, printSamples } from './support/print.mjs';
import { startServiceProcess } from './support/service-process.mjs';

const OPENING_AT_ONCE = 2;
const MEGABYTE = 1024 * 1024;

export async function run({ rounds: count = 50 } = {}) {
  const service = await startServiceProcess({
    warmSessions: 0,
    maxSessions: count,
    idleTimeout: 3600,
    createTimeout: 120,
  });
  if (service.driver !== 'process') {
    await service.stop();
    throw new Error('Processes in containers are not told apart here: use the process driver');
  }
  try {
    const before = pss(service.pid);
    const ids = [];
    const open = async () => {
      while (ids.length < count) {
        const slot = ids.push(null) - 1;
        ids[slot] = await service.create();
        await service.script(ids[slot], 'agent.go("data:text/html,<title>here</title>").title');
      }
    };
    await Promise.all(Array.from({ length: OPENING_AT_ONCE }, open));
    const table = processes();
    const browsers = ids.map((id) => memoryOf(id, table) / MEGABYTE);
    const own = (pss(service.pid) - before) / count / MEGABYTE;
    const answers = [];
    for (const id of ids) {
      const startedAt = performance.now();
      if ((await service.script(id, 'agent.look().title')) !== 'here') throw new Error(`${id} has lost its page`);
      answers.push(performance.now() - startedAt);
    }
    printHeader();
    printSamples('a browser with its page', browsers, 'MB');
    printSamples('actor and script thread, mean', [own], 'MB');
    printSamples(`a look, with ${count} sessions held`, answers, 'ms');
    return [
      atMost('MB of an idle session, mean', mean(browsers) + own, 180),
      atMost('a look, p99 in ms', percentiles(answers).p99, 1000),
    ];
  } finally {
    await service.stop();
  }
}

/** The browser leads a session of its own: all its processes are in it, and its crash handlers name its profile. */
function memoryOf(id, table) {
  const leader = table.find(({ pid, session, command }) => pid === session && command.includes(`b-${id}/`));
  if (leader === undefined) throw new Error(`${id} has no browser`);
  const own = table.filter(({ session, command }) => session === leader.pid || command.includes(`b-${id}/`));
  return own.reduce((sum, { pid }) => sum + pss(pid), 0);
}

function processes() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      const stat = textOf(`/proc/${name}/stat`);
      const session = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]);
      return { pid: Number(name), session, command: textOf(`/proc/${name}/cmdline`) };
    });
}

/** Bytes; 0 for a process that has ended. */
function pss(pid) {
  return Number(/^Pss:\s+(\d+) kB/m.exec(textOf(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) * 1024;
}

function textOf(file) {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

function mean(samples) {
  return samples.reduce((sum, sample) => sum + sample, 0) / samples.length;
}
