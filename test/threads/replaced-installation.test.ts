import { cpSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome } from '../support/service.js';
import { startInstalledService } from '../support/service-process.js';

guardLeaks(t);

/** An installation of its own, whose packages can be taken away as `npm ci` does. */
function install(t: Test): { program: string; packages: string } {
  const root = mkdtempSync(join(tmpdir(), 'troupe-installed-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  cpSync('dist', join(root, 'dist'), { recursive: true });
  cpSync('package.json', join(root, 'package.json'));
  const packages = join(root, 'node_modules');
  symlinkSync(resolve('node_modules'), packages);
  return { program: join(root, 'dist', 'cli.js'), packages };
}

t.test('A service goes on while its installation is replaced, and says what it cannot do', async (t) => {
  const { program, packages } = install(t);
  const { url, end } = await startInstalledService(t, makeHome(t), program);
  const call = async (method: string, path: string, body?: object) => {
    const init =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const answer = await fetch(`${url}${path}`, { method, ...init });
    const text = await answer.text();
    return { status: answer.status, body: text.startsWith('<') ? text : JSON.parse(text) };
  };
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
