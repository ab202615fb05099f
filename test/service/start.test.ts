import { statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readConfig } from '#troupe/config.js';
import { startService } from '#troupe/service.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome, startTestService } from '../support/service.js';

guardLeaks(t);

t.test(
  'a service that cannot have its port, or its home, fails cleanly and touches no session of the other',
  async (t) => {
    const first = await startTestService(t);
    const { id } = await first.live();
    await first.run(id, `agent.go('data:text/html,<title>kept</title>'); let kept = 1`);
    const { port } = new URL(first.url);
    for (const kept of ['troupe.db', 'troupe.db-wal', 'sessions']) {
      t.equal(statSync(join(first.home, kept)).mode & 0o077, 0, `${kept} is for the service's user alone`);
    }
    const start = (home: string, wanted: string) =>
      startService(readConfig({ port: wanted }, { ...process.env, TROUPE_HOME: home }), {
        version: '0.0.0-test',
        log: () => undefined,
      });
    await t.rejects(start(makeHome(t), port), { code: 'UNAVAILABLE', message: /already listens/ });
    await t.rejects(start(first.home, port), { code: 'UNAVAILABLE', message: /already listens/ });
    await t.rejects(start(first.home, '0'), { code: 'UNAVAILABLE', message: /in use by another running service/ });
    t.match(await first.run(id, 'kept + agent.look().title'), { status: 200, body: '1kept' });
  },
);
