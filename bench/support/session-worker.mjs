// The browser of a session as the machine sees it, whichever driver started it.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { readConfig } from '#troupe/config.js';
import { DockerEngine } from '#troupe/containers/docker/docker-engine.js';

const DEADLINE_MS = 20_000;
const Listed = z.array(z.object({ Id: z.string() }));
const Top = z.object({ Titles: z.array(z.string()), Processes: z.array(z.array(z.string())) });
const Stats = z.object({
  memory_stats: z.object({
    usage: z.number(),
    stats: z.object({ total_inactive_file: z.number().optional(), inactive_file: z.number() }),
  }),
});

/**
 * What the browser of a session consists of: `pids` (of a process, its leader first), `bytes()` of memory, `dead()` when its processes have ended, `gone()`
 * when nothing is left of it.
 */
export async function sessionWorker(service, id) {
  return service.driver === 'docker' ? containerOf(id) : processesOf(id);
}

/** The browser leads a session of its own: all its processes are in it, and its crash handlers name its profile. */
function processesOf(id) {
  const table = processTable();
  const leader = table.find(({ pid, session, command }) => pid === session && command.includes(`b-${id}/`));
  if (leader === undefined) throw new Error(`${id} has no browser`);
  const own = table.filter(({ session, command }) => session === leader.pid || command.includes(`b-${id}/`));
  const pids = [leader.pid, ...own.map(({ pid }) => pid).filter((pid) => pid !== leader.pid)];
  const bytes = () => pids.reduce((sum, pid) => sum + pss(pid), 0);
  return { pids, bytes, dead: () => dead(pids), gone: () => dead(pids) };
}

/** Its memory is what `docker stats` shows: without the files that could be dropped. */
async function containerOf(id) {
  const engine = new DockerEngine(readConfig({}).dockerSocket);
  const query = { filters: JSON.stringify({ label: [`troupe.lease=${id}`] }) };
  const [{ Id } = {}] = await engine.json('GET', '/containers/json', Listed, { query });
  if (Id === undefined) throw new Error(`${id} has no container`);
  const { Titles, Processes } = await engine.json('GET', `/containers/${Id}/top`, Top);
  const pids = Processes.map((columns) => columns[Titles.indexOf('PID')]);
  return {
    async bytes() {
      const once = { query: { stream: '0', 'one-shot': '1' } };
      const { usage, stats } = (await engine.json('GET', `/containers/${Id}/stats`, Stats, once)).memory_stats;
      return usage - (stats.total_inactive_file ?? stats.inactive_file);
    },
    dead: () => dead(pids),
    gone: () =>
      until(async () => (await engine.call('GET', `/containers/${Id}/json`, { accept: [404] })).status === 404, 10),
  };
}

/** Bytes that a process has of its own, and its part of what it shares; 0 for one that has ended. */
export function pss(pid) {
  return Number(/^Pss:\s+(\d+) kB/m.exec(textOf(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) * 1024;
}

function dead(pids) {
  return until(() => !pids.some((pid) => /\) [^ZX] /.test(textOf(`/proc/${pid}/stat`))), 2);
}

async function until(done, everyMs) {
  const deadline = performance.now() + DEADLINE_MS;
  while (!(await done())) {
    if (performance.now() > deadline) throw new Error('A browser does not end');
    await pause(everyMs);
  }
}

function processTable() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      const stat = textOf(`/proc/${name}/stat`);
      const session = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]);
      return { pid: Number(name), session, command: textOf(`/proc/${name}/cmdline`) };
    });
}

function textOf(file) {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
