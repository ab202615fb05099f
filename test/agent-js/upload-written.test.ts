import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const flowsDir = t.testdir({ 'people.csv': 'name', data: { 'rows.csv': 'one' }, out: t.fixture('symlink', '/etc') });
const { call, failure } = await openAgent(t, lease, { flowsDir });

t.test('what a script has written can be uploaded, as it stands then', async (t) => {
  await call('go', site.set('/upload', '<input type=file multiple aria-label=File>'));
  const read = () =>
    call(
      'page',
      'Promise.all([...document.querySelector("input").files].map(async (file) => [file.name, await file.text()]))',
    );
  await call('act', '{input}File', 'upload', 'people.csv');
  t.same(await read(), [['people.csv', 'name']]);
  writeFileSync(join(flowsDir, 'people.csv'), 'name, age');
  await call('act', '{input}File', 'upload', ['people.csv', 'data/rows.csv']);
  t.same(await read(), [
    ['people.csv', 'name, age'],
    ['rows.csv', 'one'],
  ]);
  for (const name of [
    '../people.csv',
    '/etc/passwd',
    'out/passwd',
    '.hidden',
    'data',
    'absent.csv',
    'data/absent.csv',
    '',
  ]) {
    t.match(await failure('act', '{input}File', 'upload', name), { code: /ACTION_FAILED|SCRIPT_ERROR/ }, name);
  }
});
