// What a service holds when nothing is asked of it.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const DEADLINE_MS = 30_000;

/** Memory that no file backs, open files and threads of a service, and the folders of its browsers: once it has been calm for so long. */
export async function holdings(service, calmMs) {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const { running, queued } = (await service.call('GET', '/api/health')).capacity;
    if (running + queued === 0) break;
    if (performance.now() > deadline) throw new Error(`${running + queued} jobs do not end`);
    await pause(50);
  }
  await pause(calmMs);
  const list = (name) => readdirSync(`/proc/${service.pid}/${name}`).length;
  return {
    bytes: anonymousBytes(service.pid),
    handles: list('fd') + list('task'),
    browsers: browserFolders(service.home),
  };
}

/** Memory that no file backs: what is shared with other processes, such as the program itself, says more about them. */
export function anonymousBytes(pid) {
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

/** Either driver has a folder for each of its browsers. */
function browserFolders(home) {
  return readdirSync(`${home}/tmp`, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && /^b-[a-z0-9]{12}$/.test(entry.name),
  ).length;
}
