import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '#troupe/config.js';
import { startService } from '#troupe/service.js';
import { fakeBrowsers } from './fake-browsers.mjs';
import { realBrowsersFirst } from './real-browsers.mjs';

/**
 * A whole service in this process, in a home of its own, whose browsers cost nothing. Give it back with `stop`.
 *
 * @param options.real so many sessions, the first, have a browser
 * @param options.flows its flows, by path
 * @param options.port a free one where it is left out
 * @param options.home what an earlier service left with `leave`; a new one where it is left out
 */
export async function benchService(settings = {}, { real = 0, flows = {}, port = 0, home: left } = {}) {
  const home = left ?? (await mkdtemp(join(tmpdir(), 'troupe-bench-')));
  // The browsers' user must reach it.
  await chmod(home, 0o755);
  await writeFile(join(home, 'troupe.json'), JSON.stringify({ driver: 'process', warmSessions: 0, ...settings }));
  await mkdir(join(home, 'flows'), { recursive: true });
  for (const [path, text] of Object.entries(flows)) await writeFile(join(home, 'flows', path), text);
  const browsers = await fakeBrowsers();
  const startedAt = performance.now();
  const service = await startService(readConfig({ port: String(port) }, { ...process.env, TROUPE_HOME: home }), {
    version: 'bench',
    log: () => undefined,
    driver: real === 0 ? browsers.choice : await realBrowsersFirst(real, home, browsers.choice.driver),
  });
  const startMs = performance.now() - startedAt;
  const leave = async () => {
    await service.stop({ drainMs: 0 });
    await browsers.close();
  };
  return {
    /** From its start until it was ready, in milliseconds. */
    startMs,
    port: service.port,
    url: service.url,
    home,
    /** Creates live sessions, a few at a time, and answers their ids. */
    async live(count) {
      const ids = [];
      const client = async () => {
        while (ids.length < count) {
          const slot = ids.push(null) - 1;
          const response = await fetch(`${service.url}/api/sessions`, { method: 'POST', body: '{}' });
          if (response.status !== 201) throw new Error(`No session: ${await response.text()}`);
          ids[slot] = (await response.json()).id;
        }
      };
      await Promise.all([client(), client(), client(), client()]);
      return ids;
    },
    async script(id, js) {
      const body = JSON.stringify({ js });
      const response = await fetch(`${service.url}/sessions/${id}/proxy`, { method: 'POST', body });
      if (response.status !== 200) throw new Error(`Answered ${response.status}: ${await response.text()}`);
    },
    /** Stops it and leaves its home for the next. */
    leave,
    async stop() {
      await leave();
      await rm(home, { recursive: true, force: true });
    },
  };
}
