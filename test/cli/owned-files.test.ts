import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { noteOwned, removeOwned, removeRetries, unpackArtifacts } from '#troupe/cli/run/owned-files.js';
import { guardLeaks } from '../support/leaks.js';
import { zipOf } from '../support/zip-of.js';

guardLeaks(t);

t.test('Files that were noted are removed, with folders that are empty then, and no others', async (t) => {
  const folder = t.testdir({
    'a.txt': '',
    shots: { '1.png': '', inner: { '2.png': '' } },
    mixed: { 'ours.txt': '', 'theirs.txt': '' },
    'theirs.txt': '',
  });
  await noteOwned(folder, ['a.txt', 'shots/1.png', 'shots/inner/2.png', 'mixed/ours.txt', 'gone.txt']);
  await removeOwned(folder);
  for (const name of ['a.txt', 'shots', 'mixed/ours.txt', '.troupe-files'])
    t.notOk(existsSync(join(folder, name)), name);
  for (const name of ['theirs.txt', 'mixed/theirs.txt']) t.ok(existsSync(join(folder, name)), name);
  await removeOwned(folder);
  await removeOwned(join(folder, 'nowhere'));
});

t.test('A list that leads out of the folder removes nothing there', async (t) => {
  const around = t.testdir({ 'outside.txt': 'stays', inside: {} });
  const names = ['../outside.txt', join(around, 'outside.txt'), 'x/../../outside.txt', '..\\outside.txt', ''];
  await noteOwned(join(around, 'inside'), names);
  await removeOwned(join(around, 'inside'));
  writeFileSync(join(around, 'inside/.troupe-files'), names.join('\n'));
  await removeOwned(join(around, 'inside'));
  t.equal(readFileSync(join(around, 'outside.txt'), 'utf8'), 'stays');
});

t.test('Folders of retries that a run did not write are removed as far as runs wrote them', async (t) => {
  const folder = t.testdir({ 'retry-1': { 'a.txt': '' }, 'retry-2': { 'a.txt': '', 'mine.txt': '' }, 'retry-x': {} });
  mkdirSync(join(folder, 'retry-3'));
  for (const name of ['retry-1', 'retry-2']) await noteOwned(join(folder, name), ['a.txt']);
  await removeRetries(folder, (one) => one === join(folder, 'retry-1'));
  t.ok(existsSync(join(folder, 'retry-1/a.txt')));
  t.notOk(existsSync(join(folder, 'retry-2/a.txt')));
  t.ok(existsSync(join(folder, 'retry-2/mine.txt')));
  for (const name of ['retry-x', 'retry-3']) t.ok(existsSync(join(folder, name)), name);
  await removeRetries(join(folder, 'nowhere'), () => false);
});

t.test('Artifacts that unpack to more than they may are refused before the disk is full', async (t) => {
  const folder = t.testdir({});
  const zip = join(folder, 'artifacts.zip');
  writeFileSync(zip, await zipOf({ 'small.txt': 'x'.repeat(1_000), 'large.txt': 'x'.repeat(1_000_000) }));
  await t.rejects(unpackArtifacts(zip, join(folder, 'reports'), 10_000), { code: 'UNAVAILABLE' });
  t.notOk(existsSync(join(folder, 'reports/large.txt')));
  await unpackArtifacts(zip, join(folder, 'reports'), 2_000_000);
  t.ok(existsSync(join(folder, 'reports/large.txt')));
});
