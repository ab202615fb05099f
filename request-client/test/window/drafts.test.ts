import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Drafts } from '#request-client/window/drafts.js';
import { Workspace } from '#request-client/window/workspace.js';
import { guardLeaks } from '../../../test/support/leaks.js';

guardLeaks(t);

const COLLECTION = JSON.stringify({
  info: { name: 'Shop' },
  item: [{ name: 'One', request: { method: 'GET', url: 'http://h/1' } }],
});

/** The folder is made by the first draft. */
function draftsIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function openWorkspace(drafts: string): Workspace {
  return new Workspace({ openBrowser: async () => undefined, drafts: new Drafts(drafts) });
}

t.test('unsaved changes are restored when the file is opened again, and undo returns to the file', async (t) => {
  const folder = t.testdir();
  const [file, drafts] = [join(folder, 'shop.json'), join(folder, 'drafts')];
  writeFileSync(file, COLLECTION);
  const first = openWorkspace(drafts);
  await first.open(file);
  first.document.edit('i1', { url: 'http://h/edited' });
  await first.close();
  t.equal(readFileSync(file, 'utf8'), COLLECTION);
  const [name = ''] = readdirSync(drafts);
  t.equal(statSync(join(drafts, name)).mode & 0o777, 0o600);
  const second = openWorkspace(drafts);
  await second.open(file);
  t.match(second.view, { restored: true, changed: true, canUndo: true });
  t.equal(second.document.form('i1').url, 'http://h/edited');
  second.document.undo();
  t.equal(second.document.form('i1').url, 'http://h/1');
  await second.close();
  t.strictSame(draftsIn(drafts), []);
});

t.test('a saved or discarded change leaves no draft', async (t) => {
  const folder = t.testdir();
  const [file, drafts] = [join(folder, 'shop.json'), join(folder, 'drafts')];
  writeFileSync(file, COLLECTION);
  const workspace = openWorkspace(drafts);
  await workspace.open(file);
  workspace.document.edit('i1', { url: 'http://h/2' });
  await workspace.save(null, false);
  workspace.document.edit('i1', { url: 'http://h/3' });
  await workspace.open(file);
  t.equal(workspace.document.form('i1').url, 'http://h/2');
  workspace.document.edit('i1', { url: 'http://h/4' });
  workspace.begin();
  workspace.document.add(null, 'request', 'New');
  await workspace.save(join(folder, 'new.json'), false);
  await workspace.close();
  t.strictSame(draftsIn(drafts), []);
});

t.test('a draft of a file that somebody else changed since does not overwrite it without a question', async (t) => {
  const folder = t.testdir();
  const [file, drafts] = [join(folder, 'shop.json'), join(folder, 'drafts')];
  writeFileSync(file, COLLECTION);
  const first = openWorkspace(drafts);
  await first.open(file);
  first.document.edit('i1', { url: 'http://h/mine' });
  await first.close();
  writeFileSync(file, COLLECTION.replace('h/1', 'h/theirs'));
  const second = openWorkspace(drafts);
  await second.open(file);
  t.equal(second.document.form('i1').url, 'http://h/mine');
  await t.rejects(second.save(null, false), { message: /changed on disk/ });
  await second.open(file);
  t.equal(second.document.form('i1').url, 'http://h/theirs');
  await second.close();
});

t.test('unsaved variables of an environment are restored', async (t) => {
  const folder = t.testdir();
  const [file, drafts] = [join(folder, 'env.json'), join(folder, 'drafts')];
  writeFileSync(file, '{"name":"E","values":[{"key":"a","value":"1"}]}');
  const first = openWorkspace(drafts);
  await first.changeEnvironment((environments) => environments.open(file));
  first.editEnvironment('e1', [{ name: 'a', value: '2', enabled: true, secret: false }]);
  await first.close();
  const second = openWorkspace(drafts);
  await second.changeEnvironment((environments) => environments.open(file));
  t.match(second.view.environment, { rows: [{ name: 'a', value: '2' }] });
  t.match(second.view.environments, [{ changed: true }]);
  await second.environments.save('e1', false);
  await second.close();
  t.strictSame(draftsIn(drafts), []);
});

t.test(
  'a new document of a process that was killed is restored once; one of a running process is not touched',
  async (t) => {
    const drafts = t.testdir();
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    const text = COLLECTION.replace('Shop', 'Killed');
    writeFileSync(join(drafts, `new-${pid}-00.json`), JSON.stringify({ text, base: '' }));
    writeFileSync(join(drafts, `new-${process.ppid}-00.json`), JSON.stringify({ text: COLLECTION, base: '' }));
    const workspace = openWorkspace(drafts);
    await workspace.restoreNew();
    t.match(workspace.view, { name: 'Killed', restored: true, changed: true });
    const other = openWorkspace(drafts);
    await other.restoreNew();
    t.equal(other.view.restored, false);
    workspace.begin();
    await workspace.close();
    await other.close();
    t.strictSame(readdirSync(drafts), [`new-${process.ppid}-00.json`]);
  },
);

t.test('what was edited is on disk soon, also if edits go on, and a broken draft changes nothing', async (t) => {
  const folder = t.testdir();
  const [file, drafts] = [join(folder, 'shop.json'), join(folder, 'drafts')];
  writeFileSync(file, COLLECTION);
  const workspace = openWorkspace(drafts);
  await workspace.open(file);
  let count = 0;
  const written = (): string =>
    readdirSync(folder).includes('drafts')
      ? readdirSync(drafts)
          .filter((name) => name.endsWith('shop.json'))
          .map((name) => readFileSync(join(drafts, name), 'utf8'))
          .join('')
      : '';
  // Never a pause: only a timer that edits do not restart can write.
  while (!written().includes('http://h/e')) {
    workspace.document.edit('i1', { url: `http://h/e${count++}` });
    await new Promise((resolve) => setImmediate(resolve));
  }
  await workspace.close();
  const [name = ''] = readdirSync(drafts);
  writeFileSync(join(drafts, name), '{"text": "no collection", "base": ""}');
  const second = openWorkspace(drafts);
  await second.open(file);
  t.match(second.view, { restored: false, changed: false });
  await second.close();
});

t.test('what was typed before kill -9 is there after the next start', async (t) => {
  const folder = t.testdir();
  const file = join(folder, 'shop.json');
  writeFileSync(file, COLLECTION);
  const start = async () => {
    const child = spawn(process.execPath, ['dist/cli.js', 'requests', file, '--no-open'], {
      env: { ...process.env, TROUPE_HOME: folder },
    });
    t.teardown(() => child.kill('SIGKILL'));
    let output = '';
    for await (const chunk of child.stdout) {
      output += chunk;
      if (output.includes('Ctrl-C')) break;
    }
    const [, origin = '', key = ''] = /(http:\/\/127\.0\.0\.1:\d+)\/#(\S+)/.exec(output) ?? [];
    const entered = await fetch(`${origin}/api/enter`, { method: 'POST', body: JSON.stringify({ key }) });
    const { secret } = (await entered.json()) as { secret: string };
    const call = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
      const answer = await fetch(`${origin}/api/${path}`, {
        method,
        headers: { Authorization: `Bearer ${secret}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return (await answer.json()) as Record<string, unknown>;
    };
    return { child, call };
  };
  const first = await start();
  await first.call('PATCH', 'items/i1', { url: 'http://h/typed' });
  const drafts = join(folder, 'request-drafts');
  const isWritten = (): boolean =>
    existsSync(drafts) &&
    readdirSync(drafts).some(
      (name) => !name.endsWith('.tmp') && readFileSync(join(drafts, name), 'utf8').includes('h/typed'),
    );
  while (!isWritten()) await new Promise((resolve) => setImmediate(resolve));
  first.child.kill('SIGKILL');
  await once(first.child, 'close');
  const second = await start();
  t.match(await second.call('GET', 'items/i1'), { url: 'http://h/typed' });
  t.match(await second.call('GET', 'document'), { restored: true, changed: true });
  second.child.kill('SIGKILL');
  await once(second.child, 'close');
});
