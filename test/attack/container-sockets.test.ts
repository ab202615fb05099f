import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createSite } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { limitSignal } from '#troupe/base/deadline.js';
import { browserAtSocket, movedTo } from '#troupe/containers/chromium/devtools-endpoint.js';
import { isOfWorker } from '#troupe/containers/docker/container-spec.js';
import { WorkerFolder } from '#troupe/containers/docker/worker-folder.js';
import { ProxyListener } from '#troupe/containers/gate/proxy-listener.js';
import { EgressRules } from '#troupe/net-policy/egress.js';
import { openFolder } from '../containers/driver-fixture.js';
import { NO_RULES } from '../support/egress-setting.js';
import { guardLeaks } from '../support/leaks.js';
import { listenAt } from '../support/unix-socket.js';

guardLeaks(t);
const isRoot = process.geteuid?.() === 0;
const RULES = new EgressRules(NO_RULES, { forward: [], egress: {} });
const WAYS = { rules: () => RULES, lookUp: async () => [] };

async function wordOf(path: string): Promise<string> {
  let said = '';
  for await (const chunk of connect(path)) said += String(chunk);
  return said;
}

/** The folder of a container, the sockets that it made, and things of the host that are none of its business. */
async function folderFixture(t: Test) {
  const root = openFolder(t);
  const folder = new WorkerFolder(join(root, 'w'));
  await folder.create();
  const host = await listenAt(t, join(root, 'host'), 'host');
  writeFileSync(join(root, 'file'), 'host', { mode: 0o600 });
  for (const name of ['cdp', 'rfb']) await listenAt(t, join(folder.sockets, name), name);
  return { folder, host, root, file: join(root, 'file') };
}

type Around = Awaited<ReturnType<typeof folderFixture>>;

/** What a container puts in the place of one of its sockets. */
const TRAPS: readonly { readonly what: string; set(path: string, around: Around): void; readonly root?: true }[] = [
  { what: 'a link to a socket of the host', set: (path, { host }) => symlinkSync(host.path, path) },
  { what: 'a relative link to a socket of the host', set: (path) => symlinkSync('../../host', path) },
  { what: 'a link by way of /proc', set: (path, { host }) => symlinkSync(`/proc/self/root${host.path}`, path) },
  { what: 'a link to the other socket', set: (path) => symlinkSync(path.endsWith('cdp') ? 'rfb' : 'cdp', path) },
  { what: 'a link to where the socket is to go', set: (path) => symlinkSync(`../own/${path.slice(-3)}`, path) },
  { what: 'a link to a link', set: (path, { host }) => chain(path, host.path, 1) },
  { what: 'a chain of 30 links', set: (path, { host }) => chain(path, host.path, 30) },
  { what: 'a link to a file', set: (path, { file }) => symlinkSync(file, path) },
  { what: 'a link to a folder', set: (path) => symlinkSync('/etc', path) },
  { what: 'a link to nothing', set: (path) => symlinkSync('/nonexistent/socket', path) },
  { what: 'a link to itself', set: (path) => symlinkSync(path, path) },
  { what: 'two links to each other', set: (path) => loop(path) },
  { what: 'a link to a FIFO', set: (path) => linkToFifo(path) },
  { what: 'a hard link to a link', set: (path, { host }) => linkedLink(path, host.path) },
  { what: 'a hard link to a socket of the host', set: (path, { host }) => linkSync(host.path, path) },
  { what: 'a second name of a socket of its own', set: (path) => linkSync(`${path}.before`, path) },
  { what: 'a file', set: (path) => writeFileSync(path, '', { mode: 0o666 }) },
  { what: 'a folder', set: (path) => void mkdirSync(path) },
  { what: 'a folder with a link', set: (path, { host }) => folderWithLink(path, host.path) },
  { what: 'a FIFO', set: (path) => void execFileSync('mkfifo', ['-m', '666', path]) },
  { what: 'a device', set: (path) => void execFileSync('mknod', ['-m', '666', path, 'c', '1', '3']), root: true },
  { what: "a socket of another user's", set: (path) => giveAway(path), root: true },
];
const usable = TRAPS.filter(({ root }) => root === undefined || isRoot);
const isOwner = (uid: number): boolean => uid === process.geteuid?.();

t.test('Whatever a container makes in the place of a socket is refused before anything connects to it', async (t) => {
  t.ok(usable.length >= 20);
  for (const { what, set } of usable) {
    for (const name of ['cdp', 'rfb'] as const) {
      const around = await folderFixture(t);
      const { folder, host } = around;
      const path = join(folder.sockets, name);
      renameSync(path, `${path}.before`);
      set(path, around);
      for (const again of [1, 2]) {
        const refused = { code: 'UNAVAILABLE', message: /The container's socket .* cannot be trusted: / };
        await t.rejects(folder.takeSockets(isOwner), refused, `${what}, ${name}, ${again}`);
      }
      t.equal(host.connections, 0);
    }
  }
});

t.test('What takes the place of a socket between two looks at it is refused too', async (t) => {
  for (const { what, set } of usable) {
    const around = await folderFixture(t);
    const path = join(around.folder.sockets, 'rfb');
    let looks = 0;
    const swap = (uid: number): boolean => {
      looks += 1;
      // The second look at a whole folder is the first at this socket.
      if (looks === 3) {
        renameSync(path, `${path}.before`);
        set(path, around);
      }
      return isOwner(uid);
    };
    await t.rejects(around.folder.takeSockets(swap), { code: 'UNAVAILABLE' }, what);
    await t.rejects(around.folder.takeSockets(isOwner), { code: 'UNAVAILABLE' }, `${what}, again`);
    t.equal(around.host.connections, 0);
  }
});

t.test('Sockets that were taken stay what they are, whatever is put in their old place', async (t) => {
  for (const { what, set } of usable) {
    const around = await folderFixture(t);
    const { folder, host } = around;
    t.equal(await folder.takeSockets(isOwner), true);
    const path = join(folder.sockets, 'rfb');
    for (const decoy of [`${path}.before`, join(folder.sockets, 'cdp')]) await listenAt(t, decoy, 'another');
    set(path, around);
    t.equal(await folder.takeSockets(isOwner), true, what);
    t.same([await wordOf(folder.socket('cdp')), await wordOf(folder.socket('rfb'))], ['cdp', 'rfb'], what);
    t.equal(host.connections, 0);
  }
});

t.test('Sockets that are not there, or not whole, are waited for', async (t) => {
  const { folder } = await folderFixture(t);
  const rfb = join(folder.sockets, 'rfb');
  renameSync(rfb, `${rfb}.later`);
  t.equal(await folder.takeSockets(isOwner), false, 'a socket is missing');
  renameSync(`${rfb}.later`, rfb);
  chmodSync(rfb, 0o755);
  t.equal(await folder.takeSockets(isOwner), false, 'its server has not given it its mode yet');
  t.ok(lstatSync(rfb).isSocket(), 'and does so by its path');
  chmodSync(rfb, 0o666);
  t.same(await Promise.all([folder.takeSockets(isOwner), folder.takeSockets(isOwner)]), [true, true]);
  t.equal(statSync(folder.sockets).mode & 0o777, 0o555, 'their folder is closed to the container');
  t.same([await wordOf(folder.socket('cdp')), await wordOf(folder.socket('rfb'))], ['cdp', 'rfb']);
});

t.test('Whoever takes the sockets at the same time has them, whichever of them moved them', async (t) => {
  const { folder } = await folderFixture(t);
  const places = ['cdp', 'rfb'].map((name) => [join(folder.sockets, name), folder.socket('cdp').replace(/cdp$/, name)]);
  for (let round = 0; round < 200; round += 1) {
    const takes = Array.from({ length: 1 + (round % 4) }, () => folder.takeSockets(isOwner));
    t.notOk((await Promise.all(takes)).includes(false), `round ${round}`);
    chmodSync(folder.sockets, 0o777);
    for (const [from, taken] of places) renameSync(String(taken), String(from));
  }
});

t.test("A socket belongs to the container's user, and where the engine remaps users to nobody that is known", (t) => {
  const own = process.geteuid?.() ?? 0;
  const worker = own === 0 ? 1000 : own;
  for (const [remapsUsers, uid, expected] of [
    [false, worker, true],
    [false, worker + 1, false],
    [false, 65_534, false],
    [false, 101_000, false],
    [false, 0, false],
    [true, 101_000, true],
    [true, 65_534, true],
    [true, 0, false],
    [true, own, false],
  ] as const) {
    t.equal(isOfWorker({ remapsUsers }, uid), expected, `${uid}, ${remapsUsers}`);
  }
  t.end();
});

t.test('A browser cannot name another socket in the DevTools path that it answers', async (t) => {
  for (const url of [
    'ws://localhost/devtools/browser/a',
    'ws://localhost/devtools/page/a',
    'ws://localhost/devtools/browser/a/../../../b',
    'ws://localhost/devtools/browser/a:/b',
    'ws://localhost/devtools/browser/%2e%2e/a',
    'ws://localhost/devtools/browser/a?x=/../..',
    'foo:x/../../../host:/devtools/browser/a',
    'foo:../../host:/devtools/browser/a',
    'foo:/../../host:/devtools/browser/a',
    'ws+unix:/run/docker.sock:/devtools/browser/a',
    'data:,/devtools/browser/a',
    '/devtools/browser/a',
  ]) {
    const path = join(openFolder(t), 'cdp');
    const site = createSite((_request, response) => {
      response.end(JSON.stringify({ Browser: 'Chrome/1', webSocketDebuggerUrl: url }));
    });
    await new Promise<void>((resolve) => site.listen(path, resolve));
    t.teardown(() => site.close());
    const told = await browserAtSocket(path, limitSignal(5_000)).then(
      ({ cdpUrl }) => cdpUrl,
      () => null,
    );
    if (told !== null) t.equal(new URL(told).pathname.split(':')[0], path, url);
    t.equal(told !== null, /^ws:.*browser\/a(\?|$)/.test(url), url);
  }
  const moved = (url: string) => movedTo('/new', url);
  t.equal(moved('ws+unix:/old/s/cdp:/devtools/browser/a-1'), 'ws+unix:/new:/devtools/browser/a-1');
  for (const url of ['ws://127.0.0.1:1/devtools/browser/a', 'ws+unix:/old/s/cdp:/x/../y', 'ws+unix:/old/s/cdp', '']) {
    t.equal(moved(url), null, url);
  }
});

t.test(
  'A door is made where no container reaches it, and takes the place of whatever a container put there',
  async (t) => {
    for (const { what, set } of usable) {
      const around = await folderFixture(t);
      const { folder, host, file } = around;
      // As a container of an earlier version has it: the service's sockets are where it may write.
      rmSync(folder.gate, { recursive: true });
      const place = await folder.socketPlace('net');
      t.equal(place.path, join(folder.sockets, 'net'));
      writeFileSync(`${place.path}.before`, '');
      set(place.path, around);
      const open = ProxyListener.open(place, { kind: 'socks' }, WAYS);
      if (what.startsWith('a folder')) await t.rejects(open, { code: 'EISDIR' }, what);
      else {
        const door = await open;
        t.teardown(() => door.close());
        // Whoever may write to it may connect. Node before 22 lets it be executed too.
        t.equal(lstatSync(place.path).mode & 0o666, 0o666, what);
        t.ok(lstatSync(place.path).isSocket(), what);
      }
      t.equal(readFileSync(file, 'utf8'), 'host', `${what}: a file of the host is untouched`);
      t.equal(lstatSync(file).mode & 0o777, 0o600, `${what}: and closed`);
      t.ok(lstatSync(host.path).isSocket());
    }
  },
);

t.test('A container that puts links in the place of a door while it is made opens no file of the host', async (t) => {
  const { folder, file } = await folderFixture(t);
  rmSync(folder.gate, { recursive: true });
  const place = await folder.socketPlace('net');
  const hammer = replaceAllTheTime(t, place.path, file);
  for (let n = 0; n < 300; n += 1) await (await ProxyListener.open(place, { kind: 'socks' }, WAYS)).close();
  t.equal(hammer.exitCode, null);
  hammer.kill('SIGKILL');
  await once(hammer, 'exit');
  t.equal(lstatSync(file).mode & 0o777, 0o600);
});

/** Puts a link in the place of a file as fast as it can, as a process of its own. */
function replaceAllTheTime(t: Test, path: string, target: string): ChildProcess {
  const code = `const fs = require('node:fs');
    for (;;) { try { fs.symlinkSync(${JSON.stringify(target)}, ${JSON.stringify(`${path}.l`)}) } catch {}
      try { fs.renameSync(${JSON.stringify(`${path}.l`)}, ${JSON.stringify(path)}) } catch {} }`;
  const child = spawn(process.execPath, ['-e', code], { stdio: 'ignore' });
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

function chain(path: string, target: string, length: number): void {
  for (let n = 0; n < length; n += 1) symlinkSync(n === 0 ? target : `${path}.${n - 1}`, `${path}.${n}`);
  symlinkSync(`${path}.${length - 1}`, path);
}

function loop(path: string): void {
  symlinkSync(path, `${path}.other`);
  symlinkSync(`${path}.other`, path);
}

function linkToFifo(path: string): void {
  execFileSync('mkfifo', [`${path}.fifo`]);
  symlinkSync(`${path}.fifo`, path);
}

function linkedLink(path: string, target: string): void {
  symlinkSync(target, `${path}.link`);
  linkSync(`${path}.link`, path);
}

function folderWithLink(path: string, target: string): void {
  mkdirSync(path);
  symlinkSync(target, join(path, 'socket'));
}

function giveAway(path: string): void {
  renameSync(`${path}.before`, path);
  chownSync(path, 4321, 4321);
}
