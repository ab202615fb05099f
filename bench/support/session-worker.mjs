// The browser of a session as the machine sees it, whichever driver started it.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '#troupe/config.js';
import { DockerEngine } from '#troupe/containers/docker/docker-engine.js';
import { refusedWith } from '#troupe/containers/docker/engine-fault.js';

const DEADLINE_MS = 20_000;

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
  const docker = await new DockerEngine(readConfig({}).dockerSocket).docker();
  const [{ Id } = {}] = await docker.listContainers({ filters: { label: [`troupe.lease=${id}`] } });
  if (Id === undefined) throw new Error(`${id} has no container`);
  const container = docker.getContainer(Id);
  const { Titles, Processes } = await container.top();
  const pids = Processes.map((columns) => columns[Titles.indexOf('PID')]);
  return {
    async bytes() {
      const { usage, stats } = (await container.stats({ stream: false, 'one-shot': true })).memory_stats;
      return usage - (stats.total_inactive_file ?? stats.inactive_file);
    },
    dead: () => dead(pids),
    gone: () => until(async () => (await container.inspect().catch(refusedWith(404))) === 404, 10),
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
