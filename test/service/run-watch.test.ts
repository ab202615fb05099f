import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome, startTestService } from '../support/service.js';
import { startCommand, startTypedCommand } from '../support/service-process.js';

guardLeaks(t);

/** A folder with flows, and a way to change them. */
function flowsFolder(t: Test, files: { readonly [path: string]: string }) {
  const folder = mkdtempSync(join(tmpdir(), 'watched-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, 'flows', path)), { recursive: true });
    writeFileSync(join(folder, 'flows', path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  return { folder, write, all: join(folder, 'flows/*.js') };
}

t.test('A failed flow of --pause waits with its page open, for Enter or an answer, and has failed', async (t) => {
  const { all } = flowsFolder(t, {
    'one.js': `() => { agent.go('data:text/html,<title>left</title><p>Left open</p>'); match(agent.text('p'), 'x'); }`,
    'two.js': '() => 1',
  });
  const service = await startTestService(t, { maxSessions: 2 });
  const opened = join(makeHome(t), 'opened');
  const env = { BROWSER: `${process.execPath} -e require('fs').appendFileSync('${opened}',process.argv[1]) %s` };
  const words = ['run', all, '--url', service.url, '--pause', '--headed', '--video', 'off'];
  for (const answers of ['terminal', 'dashboard']) {
    const { child, output } = startTypedCommand(env, makeHome(t), ...words);
    t.teardown(() => child.kill('SIGKILL'));
    const closed = once(child, 'close');
    await eventually('it is paused', () => output().includes('Paused: one'));
    await eventually('the other one is done', async () => {
      const running = await service.call('GET', '/api/sessions?state=running');
      return running.body.length === 1 && output().includes(`two: ${service.url}/#/sessions/`);
    });
    const { body } = await service.call('GET', '/api/sessions?state=running');
    t.match(body, [{ handoff: { text: /The flow failed: / } }]);
    const [{ id }] = body;
    const { body: taken } = await service.call('POST', `/api/sessions/${id}/control`, { take: true });
    const looked = await service.call('POST', `/sessions/${id}/proxy`, {
      js: `agent.text('p')`,
      control: taken.control,
    });
    t.match(looked, { status: 200, body: 'Left open' }, 'its console works');
    if (answers === 'terminal') child.stdin?.write('\n');
    else await service.call('POST', `/api/sessions/${id}/handoff`, { answer: 'done' });
    const [code] = await closed;
    t.equal(code, 1, output());
    t.match(output(), '1 passed, 1 failed');
  }
});

t.test('--watch runs again what a change concerns, until it is ended', async (t) => {
  const { all, write } = flowsFolder(t, {
    'buy.js': `() => Flow.run('lib/price')`,
    'look.js': '() => 1',
    'lib/price.js': '() => match(1, 2)',
  });
  const service = await startTestService(t, { maxSessions: 2 });
  const { child, output } = startCommand(makeHome(t), 'run', all, '--url', service.url, '--watch');
  t.teardown(() => child.kill('SIGKILL'));
  const closed = once(child, 'close');
  const waits = (times: number) =>
    eventually(`it waits for the ${times}. time`, () => output().split('Waiting for changes').length > times);
  await waits(1);
  t.match(output(), '1 passed, 1 failed, in');
  const before = output().length;
  write('lib/price.js', '() => match(1, 1)');
  await waits(2);
  t.match(output().slice(before), '1 passed, in');
  t.notMatch(output().slice(before), 'look');
  child.kill('SIGINT');
  t.equal((await closed)[0], 0, output());
});
