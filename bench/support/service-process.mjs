// A service as users run it: a process of its own in a home of its own, driven over HTTP.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';

const WARM_DEADLINE_MS = 300_000;

/** @param settings of its troupe.json. The driver is `process` unless TROUPE_BENCH_DRIVER says otherwise. */
export async function startServiceProcess(settings) {
  const home = mkdtempSync(join(tmpdir(), 'tb-'));
  chmodSync(home, 0o755);
  const driver = process.env.TROUPE_BENCH_DRIVER ?? 'process';
  writeFileSync(join(home, 'troupe.json'), JSON.stringify({ driver, ...settings }));
  const child = spawn(process.execPath, ['dist/cli.js', 'dashboard', '--port', '0'], {
    env: { ...process.env, TROUPE_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const url = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /listens on (\S+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    ended.then(() => reject(new Error('The service did not start')), reject);
  });
  const call = async (method, path, body) => {
    const response = await fetch(url + path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
  return {
    pid: child.pid,
    url,
    home,
    driver,
    warmSessions: settings.warmSessions,
    call,
    create: async (request = {}) => (await call('POST', '/api/sessions', request)).id,
    script: (id, js) => call('POST', `/sessions/${id}/proxy`, { js }),
    remove: (id) => call('DELETE', `/api/sessions/${id}`),
    /** Settles when so many browsers wait and the machine has had a moment to calm down. */
    async warm(count) {
      const deadline = performance.now() + WARM_DEADLINE_MS;
      for (;;) {
        const { capacity } = await call('GET', '/api/health');
        if (capacity.warm >= count) break;
        if (performance.now() > deadline) throw new Error(`${capacity.warm} of ${count} browsers are warm`);
        await pause(50);
      }
      await pause(300);
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
      rmSync(home, { recursive: true, force: true });
    },
  };
}
