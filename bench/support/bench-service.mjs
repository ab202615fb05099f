import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '#troupe/config.js';
import { startService } from '#troupe/service.js';
import { fakeBrowsers } from './fake-browsers.mjs';

/** A whole service in this process, in a home of its own, whose browsers cost nothing. Give it back with `stop`. */
export async function benchService(settings = {}) {
  const home = await mkdtemp(join(tmpdir(), 'troupe-bench-'));
  await writeFile(join(home, 'troupe.json'), JSON.stringify({ driver: 'process', warmSessions: 0, ...settings }));
  const browsers = await fakeBrowsers();
  const service = await startService(readConfig({ port: '0' }, { TROUPE_HOME: home }), {
    version: 'bench',
    log: () => undefined,
    driver: browsers.choice,
  });
  return {
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
    async stop() {
      await service.stop({ drainMs: 0 });
      await browsers.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}
