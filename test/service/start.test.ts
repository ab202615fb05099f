import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { readConfig } from '#troupe/config.js';
import { startService } from '#troupe/service.js';
import { runningBrowsers } from '../support/browsers.js';
import { guardLeaks } from '../support/leaks.js';
import { client, makeHome, startTestService } from '../support/service.js';

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

t.test('a service whose output nobody reads any more goes on, and leaves nothing when it ends', async (t) => {
  const home = makeHome(t);
  // As scripts/start.mjs has it: the command line without the file that `troupe` is.
  const script = `const { main } = await import(${JSON.stringify(new URL('../../dist/cli/main.js', import.meta.url))});
    process.exitCode = await main(['dashboard', '--port', '0']);`;
  writeFileSync(join(home, 'start.mjs'), script);
  const child = spawn(process.execPath, [join(home, 'start.mjs')], {
    env: { ...process.env, TROUPE_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  let url: string | undefined;
  let server: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    url ??= /listens on (\S+)/.exec(line)?.[1];
    server = /^ {2}HTTP server: ([\w:.]+)/.exec(line)?.[1];
    if (server !== undefined) break;
  }
  child.stdout.destroy();
  child.stderr.destroy();
  const { call, live, run } = client(String(url));
  const { body: health } = await call('GET', '/api/health');
  t.equal(server, health.server === 'uws' ? 'uWebSockets.js' : 'node:http', 'the HTTP server is named at the start');
  const { id } = await live();
  // Each of these writes a line of the log.
  for (let n = 0; n < 2; n += 1) await live();
  t.match(await run(id, '1 + 1'), { status: 200, body: 2 });
  child.kill('SIGTERM');
  t.same(await exit, [0, null]);
  t.same(runningBrowsers(), []);
});
