import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { Downloads } from '#troupe/agent-js/files/downloads.js';
import { WorkerFolder } from '#troupe/containers/docker/worker-folder.js';
import type { SessionEvent } from '#troupe/protocol/events.js';
import { openArchive } from '#troupe/report/archive.js';
import { keepDownloads, listFiles, openFile } from '#troupe/supervisor/artifacts/session-files.js';
import { readZip } from '../report/read-zip.js';
import { guardLeaks } from '../support/leaks.js';
import { sampled } from '../support/sampled.js';

guardLeaks(t);

const SECRET = 'a file of the machine that no browser may read';

/** What a browser that a page took over leaves at `path` in its downloads, instead of a file. */
interface Trap {
  readonly what: string;
  readonly set: (path: string, secret: string, t: Test) => void | Promise<void>;
  /** Only root can make it. */
  readonly root?: true;
}

const TRAPS: readonly Trap[] = [
  { what: 'a link to a file', set: (path, secret) => symlinkSync(secret, path) },
  { what: 'a relative link to a file', set: (path) => symlinkSync('../secret/file', path) },
  { what: 'a link to a link to a file', set: (path, secret) => chain(path, secret, 1) },
  { what: 'a chain of 30 links to a file', set: (path, secret) => chain(path, secret, 30) },
  { what: 'a link to a file by way of /proc', set: (path, secret) => symlinkSync(`/proc/self/root${secret}`, path) },
  { what: "a link to the service's environment", set: (path) => symlinkSync('/proc/self/environ', path) },
  { what: 'a link to an endless device', set: (path) => symlinkSync('/dev/zero', path) },
  { what: 'a link to a folder', set: (path, secret) => symlinkSync(join(secret, '..'), path) },
  { what: 'a link to nothing', set: (path) => symlinkSync('/nonexistent/file', path) },
  { what: 'a link to itself', set: (path) => symlinkSync(path, path) },
  { what: 'two links to each other', set: (path) => loop(path) },
  { what: 'a hard link to a file', set: (path, secret) => linkSync(secret, path) },
  { what: 'a hard link to a link', set: (path, secret) => linkedLink(path, secret) },
  { what: 'a FIFO', set: (path) => fifo(path) },
  { what: 'a link to a FIFO', set: (path) => linkedFifo(path) },
  { what: 'a folder', set: (path) => void mkdirSync(path) },
  { what: 'a folder with a file', set: (path) => fullFolder(path) },
  { what: 'a folder with a link', set: (path, secret) => folderWithLink(path, secret) },
  { what: 'a socket', set: (path, _secret, t) => socket(path, t) },
  { what: 'a character device', set: (path) => device(path, ['c', '1', '5']), root: true },
  { what: 'a block device', set: (path) => device(path, ['b', '7', '200']), root: true },
];

const usable = TRAPS.filter(({ root }) => root === undefined || process.geteuid?.() === 0);

/** A session's downloads, with one file, and a secret beside them. */
function fixture(t: Test) {
  // On the same file system as what is kept, and with a short path, for a socket.
  const root = mkdtempSync(join(tmpdir(), 'd-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const at = (name: string) => join(root, name);
  for (const name of ['downloads', 'secret', 'kept', 'more']) mkdirSync(at(name));
  writeFileSync(at('secret/file'), SECRET);
  writeFileSync(at('downloads/real.txt'), 'real');
  const dirs = { downloadsDir: at('downloads'), uploadsDir: null };
  return { at, dirs, secret: at('secret/file'), trap: at('downloads/trap.txt') };
}

t.test(
  'Whatever a browser leaves among its downloads that is no file, nobody lists, reads, zips or keeps it',
  async (t) => {
    t.ok(usable.length >= 19);
    for (const { what, set } of usable) {
      const { at, dirs, secret, trap } = fixture(t);
      await set(trap, secret, t);
      t.same(
        (await listFiles(dirs)).map(({ name }) => name).filter((name) => name === 'trap.txt'),
        [],
        `${what}: listed`,
      );
      await t.rejects(openFile(dirs, 'trap.txt'), { code: 'NOT_FOUND' }, `${what}: read`);
      const zip = await readZip(await buffer(openArchive([{ dir: at('none'), downloadsDir: dirs.downloadsDir }])));
      const texts = [...zip.values()].map(({ content }) => content.toString());
      t.ok(texts.includes('real'), `${what}: the zip has the real file`);
      t.notOk(texts.includes(SECRET), `${what}: the zip has no other`);
      await keepDownloads(dirs.downloadsDir, at('kept'));
      t.same(
        readdirSync(at('kept')).filter((name) => name === 'trap.txt'),
        [],
        `${what}: kept`,
      );
      t.equal(readFileSync(at('kept/real.txt'), 'utf8'), 'real', `${what}: the real file is kept`);
      t.equal(readFileSync(secret, 'utf8'), SECRET, `${what}: what it leads to is untouched`);
      t.equal(lstatSync(secret).mode & 0o777, 0o644);
    }
  },
);

t.test('A file that is replaced once it is open is read as it was', async (t) => {
  for (const { what, set } of usable) {
    const { dirs, secret, trap } = fixture(t);
    writeFileSync(trap, 'as it was');
    const { bytes, stream } = await openFile(dirs, 'trap.txt');
    unlinkSync(trap);
    await set(trap, secret, t);
    t.equal(await text(stream), 'as it was', what);
    t.equal(bytes, 9);
  }
});

t.test('A file that grows once it is open is read up to the size that was said', async (t) => {
  const { dirs, trap } = fixture(t);
  for (const said of ['', 'first']) {
    writeFileSync(trap, said);
    const { bytes, stream } = await openFile(dirs, 'trap.txt');
    writeFileSync(trap, 'first and more', { flag: 'a' });
    t.equal(await text(stream), said);
    t.equal(bytes, said.length);
  }
  const sparse = await openFile(dirs, 'trap.txt');
  truncateSync(trap, 2 ** 40);
  t.equal((await text(sparse.stream)).length, sparse.bytes);
});

t.test('Files that are replaced while downloads are kept are not kept as what replaced them', async (t) => {
  for (const { what, set } of sampled(usable, { name: 'kept downloads', count: 8 })) {
    const { at, dirs, secret } = fixture(t);
    const names = Array.from({ length: 20 }, (_, n) => `file-${String(n).padStart(2, '0')}`);
    for (const name of names) writeFileSync(at(`downloads/${name}`), name);
    const keeping = keepDownloads(dirs.downloadsDir, at('kept'));
    while (readdirSync(at('kept')).length === 0) await new Promise(setImmediate);
    for (const name of names.filter((one) => existsSync(at(`downloads/${one}`)))) {
      unlinkSync(at(`downloads/${name}`));
      await set(at(`downloads/${name}`), secret, t);
    }
    await keeping;
    for (const name of readdirSync(at('kept'))) {
      const stats = lstatSync(at(`kept/${name}`));
      t.ok(stats.isFile() && stats.nlink === 1, `${what}: ${name} is a file`);
      t.notSame(stats.isFile() && readFileSync(at(`kept/${name}`), 'utf8'), SECRET, `${what}: ${name}`);
    }
    t.equal(readFileSync(secret, 'utf8'), SECRET);
  }
});

t.test('Downloads are kept on another file system too, and never what a link leads to', async (t) => {
  const { dirs, at, secret, trap } = fixture(t);
  const far = mkdtempSync('/dev/shm/d-');
  t.teardown(() => rmSync(far, { recursive: true, force: true }));
  t.not(statSync(far).dev, statSync(at('kept')).dev);
  symlinkSync(secret, trap);
  writeFileSync(at('downloads/large.bin'), Buffer.alloc(3_000_000, 'x'));
  await keepDownloads(dirs.downloadsDir, far);
  t.same(readdirSync(far).sort(), ['large.bin', 'real.txt']);
  t.equal(statSync(join(far, 'large.bin')).size, 3_000_000);
});

t.test('Folders among downloads are not looked into, so that none is replaced by a link on the way', async (t) => {
  const { at, dirs } = fixture(t);
  mkdirSync(at('downloads/a'));
  writeFileSync(at('downloads/a/inside.txt'), 'inside');
  const zip = await readZip(await buffer(openArchive([{ dir: at('none'), downloadsDir: dirs.downloadsDir }])));
  t.same([...zip.keys()], ['downloads/real.txt']);
});

t.test('What is in folders among downloads counts towards what they may hold', async (t) => {
  for (const path of ['one', 'deep/1/2/3/4/5/one', `${'d/'.repeat(100)}one`]) {
    const folder = new WorkerFolder(join(mkdtempSync(join(tmpdir(), 'd-')), 'w'));
    t.teardown(() => rmSync(join(folder.path, '..'), { recursive: true, force: true }));
    await folder.create();
    mkdirSync(join(folder.downloads, path, '..'), { recursive: true });
    writeFileSync(join(folder.downloads, path), Buffer.alloc(600));
    t.equal(await folder.closeWhenOver(500_000), false, path.slice(0, 20));
    writeFileSync(join(folder.downloads, path), Buffer.alloc(600_000));
    t.equal(await folder.closeWhenOver(500_000), true, path.slice(0, 20));
  }
});

t.test('A folder that is nested deeper than a path may be long is removed with its container', async (t) => {
  const folder = new WorkerFolder(join(mkdtempSync(join(tmpdir(), 'd-')), 'w'));
  t.teardown(() => rmSync(join(folder.path, '..'), { recursive: true, force: true }));
  await folder.create();
  const name = 'n'.repeat(200);
  execFileSync(
    'sh',
    ['-c', `i=0; while [ $i -lt 60 ]; do mkdir ${name} && cd -P ${name} && i=$((i+1)); done; touch x`],
    {
      cwd: folder.downloads,
    },
  );
  await folder.remove();
  t.notOk(existsSync(folder.path));
});

t.test('The size of a download is that of the link a browser put there, never that of what it leads to', async (t) => {
  const { dirs, secret } = fixture(t);
  const told: SessionEvent[] = [];
  const downloads = new Downloads(dirs.downloadsDir, {
    emit: (event) => void told.push(event),
    cancel: () => undefined,
    redact: (text) => text,
  });
  symlinkSync(secret, join(dirs.downloadsDir, 'guid'));
  const params = { guid: 'guid', url: 'http://shop.test/x', suggestedFilename: 'x.txt' };
  downloads.observe({ method: 'Browser.downloadWillBegin', params, session: undefined } as never);
  const progress = { guid: 'guid', state: 'completed', receivedBytes: 3, totalBytes: 3 };
  downloads.observe({ method: 'Browser.downloadProgress', params: progress, session: undefined } as never);
  while (told.length === 0) await new Promise(setImmediate);
  t.match(told, [{ type: 'DownloadFinished', data: { bytes: 3 } }]);
});

t.test('A folder that is closed to its owner is removed by a service that is not root', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'd-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  chmodSync(root, 0o777);
  const before = process.geteuid?.() ?? 0;
  if (before === 0) process.seteuid?.(1000);
  try {
    const folder = new WorkerFolder(join(root, 'w'));
    await folder.create();
    mkdirSync(join(folder.downloads, 'a/b'), { recursive: true });
    for (const name of ['one', 'a/two', 'a/b/three']) writeFileSync(join(folder.downloads, name), 'x');
    t.equal(await folder.closeWhenOver(0), true);
    chmodSync(join(folder.downloads, 'a/b'), 0);
    chmodSync(folder.sockets, 0o555);
    await folder.remove();
    t.notOk(existsSync(folder.path));
  } finally {
    if (before === 0) process.seteuid?.(0);
  }
});

function chain(path: string, target: string, length: number): void {
  for (let n = 0; n < length; n += 1) symlinkSync(n === 0 ? target : `${path}.${n - 1}`, `${path}.${n}`);
  symlinkSync(`${path}.${length - 1}`, path);
}

function loop(path: string): void {
  symlinkSync(path, `${path}.other`);
  symlinkSync(`${path}.other`, path);
}

function linkedLink(path: string, secret: string): void {
  symlinkSync(secret, `${path}.link`);
  linkSync(`${path}.link`, path);
}

function fifo(path: string): void {
  execFileSync('mkfifo', [path]);
}

function linkedFifo(path: string): void {
  fifo(`${path}.fifo`);
  symlinkSync(`${path}.fifo`, path);
}

function fullFolder(path: string): void {
  mkdirSync(path);
  writeFileSync(join(path, 'inside.txt'), 'inside');
}

function folderWithLink(path: string, secret: string): void {
  mkdirSync(path);
  symlinkSync(secret, join(path, 'inside.txt'));
}

async function socket(path: string, t: Test): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  t.teardown(() => server.close());
}

function device(path: string, words: readonly string[]): void {
  execFileSync('mknod', [path, ...words]);
}
