import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome } from '../support/service.js';
import { startInstalledService } from '../support/service-process.js';

guardLeaks(t);

/** An installation of its own, whose packages can be taken away as `npm ci` does. */
function install(t: Test): { root: string; program: string; packages: string } {
  const root = mkdtempSync(join(tmpdir(), 'troupe-installed-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  cpSync('dist', join(root, 'dist'), { recursive: true });
  cpSync('package.json', join(root, 'package.json'));
  const packages = join(root, 'node_modules');
  symlinkSync(resolve('node_modules'), packages);
  return { root, program: join(root, 'dist', 'cli.js'), packages };
}

function callsOf(url: string) {
  return async (method: string, path: string, body?: object) => {
    const init =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const answer = await fetch(`${url}${path}`, { method, ...init });
    const text = await answer.text();
    return { status: answer.status, body: text.startsWith('<') ? text : JSON.parse(text) };
  };
}

t.test('A service goes on while its installation is replaced, and says what it cannot do', async (t) => {
  const { program, packages } = install(t);
  const { url, end } = await startInstalledService(t, makeHome(t), program);
  const call = callsOf(url);
  const kept = await call('POST', '/api/sessions', {});
  const ended = await call('POST', '/api/sessions', {});
  t.match([kept.status, ended.status], [201, 201]);
  const go = { js: "agent.go('data:text/html,<title>here</title>'); agent.page('document.title')" };
  t.match(await call('POST', `/sessions/${kept.body.id}/proxy`, go), { status: 200, body: 'here' });
  t.equal((await call('GET', '/api/health')).body.faults, undefined);

  renameSync(packages, `${packages}.old`);
  t.equal((await call('DELETE', `/api/sessions/${ended.body.id}`)).status, 200);
  const report = () => call('GET', `/api/sessions/${ended.body.id}/artifacts/report.html`);
  const refused = await report();
  t.match(refused, {
    status: 503,
    body: { code: 'UNAVAILABLE', error: /The report thread could not start: Cannot find/ },
  });
  const health = async () => (await call('GET', '/api/health')).body;
  t.match(await health(), { status: 'ok', faults: [{ part: 'reports', reason: /The report thread could not start/ }] });
  // What the session's own threads have loaded goes on.
  t.match(await call('POST', `/sessions/${kept.body.id}/proxy`, { js: "agent.page('document.title')" }), {
    status: 200,
    body: 'here',
  });
  // Scripts need no package; Playwright does.
  t.equal((await call('POST', '/api/sessions', {})).status, 201);
  const title = () => call('POST', `/sessions/${kept.body.id}/proxy`, { js: 'page.title()' });
  const reason = /The Playwright thread could not start: Cannot find package/;
  t.match(await title(), { status: 502, body: { code: 'SESSION_RESTARTED', error: reason } });
  await eventually('health lists Playwright', async () =>
    (await health()).faults.some(({ part }: { part: string }) => part === 'Playwright'),
  );

  renameSync(`${packages}.old`, packages);
  t.equal((await report()).status, 200, 'what was not written is written when it is asked for');
  t.match(await title(), { status: 200, body: 'here' });
  await eventually('health lists nothing', async () => (await health()).faults === undefined);
  t.match(await end('SIGTERM'), { code: 0 });
});

// In the place of a thread's file. Each differs in what Node reports of its end.
const ENDS = [
  { how: 'exits', code: 'process.exit(5);', reason: /it exited with code 5/ },
  {
    how: 'runs out of memory',
    code: 'const kept = []; for (;;) kept.push(new Array(1_000_000).fill(0));',
    reason: /memory/,
  },
];

for (const { how, code, reason } of ENDS) {
  t.test(`A thread of a session that ${how} fails its call, and the session goes on`, async (t) => {
    const { root, program } = install(t);
    const { url, end } = await startInstalledService(t, makeHome(t), program);
    const call = callsOf(url);
    const { id } = (await call('POST', '/api/sessions', {})).body;
    const run = (js: string) => call('POST', `/sessions/${id}/proxy`, { js });
    t.match(await run("agent.go('data:text/html,<title>here</title>')"), { status: 200 });
    const file = join(root, 'dist/playwright/thread/playwright.thread.js');
    const text = readFileSync(file);
    writeFileSync(file, code);
    t.match(await run('page.title()'), { status: 502, body: { code: 'SESSION_RESTARTED', error: reason } });
    t.match(await run("agent.page('document.title')"), { status: 200, body: 'here' });
    writeFileSync(file, text);
    t.match(await run('page.title()'), { status: 200, body: 'here' });
    t.match(await end('SIGTERM'), { code: 0 });
  });
}
