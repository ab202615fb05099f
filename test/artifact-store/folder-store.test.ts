import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { FolderStore } from '#troupe/artifact-store/folder-store.js';
import { openStore } from '#troupe/artifact-store/open-store.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const never = new AbortController().signal;
const contentOf = (content: string) => Readable.from([Buffer.from(content)], { objectMode: false });

function putIn(store: FolderStore, path: string, content: string, bytes = Buffer.byteLength(content)) {
  return store.put({ session: 'one', path }, contentOf(content), { bytes, signal: never });
}

t.test('Artifacts are there as they were put, whole or not at all', async (t) => {
  const folder = t.testdir({});
  const store = new FolderStore(folder);
  await store.check();
  t.same(readdirSync(join(folder, 'sessions')), [], 'the check left nothing');
  const names = ["downloads/a +%&=;ä日'()!*.txt", 'downloads/empty', 'report.html'];
  for (const name of names) await putIn(store, name, name === 'downloads/empty' ? '' : name);
  t.same(
    (await store.list('one')).map(({ path }) => path),
    names,
  );
  const opened = await store.open({ session: 'one', path: 'report.html' });
  t.equal(opened?.bytes, 11);
  t.equal(await text(opened?.open({ start: 7, end: 10 }) ?? contentOf('')), 'html');
  for (const path of ['nothing', '../one/report.html', 'downloads', '', 'downloads/../report.html'])
    t.equal(await store.open({ session: 'one', path }), null, path);
  await t.rejects(putIn(store, 'short', 'abc', 4), /not the 4 bytes/);
  await t.rejects(putIn(store, 'long', 'abc', 2), /not the 2 bytes/);
  writeFileSync(join(folder, 'sessions', 'one', '.left.part'), 'of a killed service');
  t.same(
    (await store.list('one')).map(({ path }) => path),
    names,
  );
  await store.dropUnfinished('one');
  t.same(readdirSync(join(folder, 'sessions', 'one')).sort(), ['downloads', 'report.html']);
  await store.remove('one');
  t.same(readdirSync(join(folder, 'sessions')), []);
});

t.test('A folder that is missing, as that of a share that is not mounted, is an error and never created', async (t) => {
  const folder = join(t.testdir({}), 'share');
  const store = new FolderStore(folder);
  const error = {
    code: 'UNAVAILABLE',
    message: /share, which "artifacts.folder" of troupe.json names: .* mount or create it/,
  };
  await t.rejects(putIn(store, 'report.html', 'x'), error);
  await t.rejects(store.list('one'), error);
  await t.rejects(store.open({ session: 'one', path: 'report.html' }), error);
  await t.rejects(store.remove('one'), error);
  await t.rejects(store.dropUnfinished('one'), error);
  await t.rejects(store.check(), error);
  t.notOk(existsSync(folder));
});

t.test('The home by another name is no store: its sessions would be removed as their own copies', async (t) => {
  const dir = t.testdir({ home: { sessions: {} } });
  const sessionsDir = join(dir, 'home', 'sessions');
  symlinkSync(join(dir, 'home'), join(dir, 'share'));
  const named = (folder: string) => openStore({ kind: 'folder', folder }, sessionsDir);
  await t.rejects(named(join(dir, 'share')), { code: 'INVALID_REQUEST', message: /is the home itself/ });
  rmSync(join(dir, 'share'));
  mkdirSync(join(dir, 'share', 'sessions'), { recursive: true });
  t.ok(await named(join(dir, 'share')));
  t.equal(await openStore(undefined, sessionsDir), undefined);
});
