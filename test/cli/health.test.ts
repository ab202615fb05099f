import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { freePort } from '../support/free-ports.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome } from '../support/service.js';
import { runTroupe, startCommandWith, startServiceProcess } from '../support/service-process.js';

guardLeaks(t);

const ENV = { TROUPE_TOKEN: 'a-token' };

t.test('troupe health and troupe run reach a service whose publicUrl is not how they call it', async (t) => {
  const port = await freePort();
  const home = makeHome(t);
  writeFileSync(join(home, 'token'), 'a-token\n');
  const settings = { port, driver: 'process', warmSessions: 0, token: 'TEST_ADMIN', publicUrl: 'http://troupe.test:9' };
  writeFileSync(join(home, 'troupe.json'), JSON.stringify(settings));
  process.env.TEST_ADMIN_FILE = join(home, 'token');
  t.teardown(() => delete process.env.TEST_ADMIN_FILE);
  t.match(await runTroupe(home, 'health'), { code: 1, output: /No service answers/ });
  const service = await startServiceProcess(t, home, '--port', String(port));
  t.match(await runTroupe(home, 'health'), { code: 0, output: 'ok: 0 of 10 run, 0 wait\n' });
  t.match(await runTroupe(home, 'health', '--live'), { code: 0, output: / answers\n/ });
  const url = `http://127.0.0.1:${port}`;
  const health = await fetch(`${url}/api/health`, { headers: { authorization: 'Bearer a-token' } });
  t.match(await health.json(), { capacity: { running: 0, queued: 0, demand: 0 } });
  writeFileSync(join(home, 'one.js'), '1');
  const run = startCommandWith(ENV, home, 'run', join(home, 'one.js'), '--url', url);
  await new Promise((resolve) => run.child.once('close', resolve));
  t.match(run.output(), /1 passed, 0 failed/);
  t.match(await service.end('SIGTERM'), { code: 0 });
});
