import t from 'tap';
import { runToken } from '#troupe/cli/token.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome, startTestService } from '../support/service.js';
import { runTroupe } from '../support/service-process.js';

guardLeaks(t);

t.test('troupe token works on the home while no service runs, and through the service while one does', async (t) => {
  // Nothing listens on that port.
  const home = makeHome(t, { port: 9 });
  t.match(await runTroupe(home, 'token', 'list', '--url', 'http://127.0.0.1:9'), {
    code: 1,
    output: /No service answers/,
  });
  const service = await startTestService(t, {}, home);
  const there = ['--url', service.url];
  t.match(await runTroupe(home, 'token', 'create', 'ci', '--role', 'run', ...there), { code: 1, output: /admin/ });
  const { output } = await runTroupe(home, 'token', 'create', 'me', '--role', 'admin', '--running', '4', ...there);
  const token = /^troupe_\S+$/m.exec(output)?.[0] ?? '';
  t.match(output, /shown this once/);
  t.match(await runTroupe(home, 'token', 'list', ...there), { code: 1, output: /TROUPE_TOKEN/ });
  const call = (path: string) => fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } });
  t.equal((await call('/api/sessions')).status, 200);
  t.equal((await fetch(`${service.url}/api/sessions`)).status, 401);
  const sent = { method: 'POST', headers: { authorization: `Bearer ${token}` } };
  const { body } = await service.call('POST', '/api/sessions', undefined, sent);
  await service.call('POST', `/sessions/${body.id}/proxy`, { js: '1' }, sent);
  t.match(
    service.audited,
    [
      { who: 'open', line: 'POST /api/tokens: 400' },
      { who: 'open', line: 'POST /api/tokens: 201' },
      { who: 'me', address: '127.0.0.1', line: 'POST /api/sessions: 201' },
    ],
    'who changed what is in the log, and scripts are in their transcripts alone',
  );
  t.equal(service.audited.length, 3);
  await service.stop(0);
  process.env.TROUPE_TOKEN = token;
  t.teardown(() => delete process.env.TROUPE_TOKEN);
  const listed = await runTroupe(home, 'token', 'list');
  t.match(listed, { code: 0, output: /^[a-z0-9]{12} {2}admin .* me {2}running 4$/m });
  t.notMatch(listed.output, token);
  const id = /^[a-z0-9]{12}/m.exec(listed.output)?.[0] ?? '';
  t.match(await runTroupe(home, 'token', 'revoke', id), { code: 1, output: /the last admin token/ });
  t.match(await runTroupe(home, 'token', 'create', 'other', '--role', 'admin'), { code: 0 });
  t.match(await runTroupe(home, 'token', 'revoke', id), { code: 0, output: /is revoked/ });
  t.match(await runTroupe(home, 'token', 'list'), { code: 0, output: /other/ });
});

t.test('wrong words are answered with what is right', async (t) => {
  for (const [words, says] of [
    [[], /^Missing subcommand\. Use one of: create, list, revoke$/],
    [['make'], /Unknown subcommand 'make'/],
    [['create'], /Missing argument: NAME/],
    [['create', 'ci'], /Missing option: --role/],
    [['create', 'ci', '--role', 'king'], /view, run, or admin/],
    [['create', 'ci', '--role', 'run', '--running', 'x'], /whole number/],
    [['revoke'], /Missing argument: ID/],
  ] as const) {
    await t.rejects(runToken(words), { name: 'UsageError', message: says }, words.join(' '));
  }
});
