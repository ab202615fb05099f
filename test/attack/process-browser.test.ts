// A browser that runs as a process of this machine, against the files of the service, its processes and its port: with
// the service as root and as a normal user.
import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { openFolder } from '../containers/driver-fixture.js';
import { openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { sampled } from '../support/sampled.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const CANARY = 'canary-5d1e77';
const FIRST_USER = 1000;
const isRoot = process.geteuid?.() === 0;

/** Who the service is: itself, and where this runs as root also a normal user, who must be able to read the checkout. */
const USERS = [
  { name: 'as it is', uid: null },
  ...(isRoot && reachable(import.meta.dirname) ? [{ name: 'as a normal user', uid: FIRST_USER }] : []),
];

/** A home whose every file is readable by the user of the service, and a folder for browsers in it. */
function makeHome(t: Test, uid: number | null): { home: string; workDir: string } {
  const home = join(openFolder(t), 'home');
  for (const folder of ['flows', 'requests', 'sessions/s1', 'tmp']) mkdirSync(join(home, folder), { recursive: true });
  const files = [
    'troupe.key',
    'troupe.db',
    'troupe.json',
    'flows/login.js',
    'requests/shop.json',
    'sessions/s1/report.json',
  ];
  for (const file of files) writeFileSync(join(home, file), CANARY);
  symlinkSync(join(home, 'troupe.key'), join(home, 'tmp', 'link'));
  if (uid !== null)
    for (const path of ['', ...readdirSync(home, { recursive: true })]) chownSync(join(home, String(path)), uid, uid);
  for (const folder of [home, join(home, 'tmp')]) chmodSync(folder, 0o755);
  return { home, workDir: join(home, 'tmp', 'browsers') };
}

for (const { name, uid } of USERS) {
  t.test(`No file of the service, and nothing of its process, is read or written: ${name}`, async (t) => {
    const { home, workDir } = makeHome(t, uid);
    const files = readdirSync(home, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name));
    const key = join(home, 'troupe.key');
    const paths = [
      ...files,
      `${home}/flows/../troupe.key`,
      `${home}//troupe.key`,
      '/proc/self/cwd/../../../../troupe.key',
      `/proc/self/root${key}`,
      ...['environ', 'mem', 'maps', 'cwd/package.json'].map((part) => `/proc/${process.pid}/${part}`),
    ];
    const pages = [...paths, home, join(home, 'flows'), `${home}/%66lows`, `/proc/${process.pid}/fd`].map(
      (path) => `file://${path}`,
    );
    const attempts = { home, workDir, files: paths, downloads: [join(home, 'flows'), home, `${workDir}/..`], pages };
    process.env.TROUPE_TEST_CANARY = CANARY;
    t.teardown(() => delete process.env.TROUPE_TEST_CANARY);
    const entry = join(import.meta.dirname, 'process-browser.entry.mjs');
    const { stdout } = await promisify(execFile)(process.execPath, [entry, JSON.stringify(attempts)], {
      ...(uid === null ? {} : { uid, gid: uid }),
      env: { ...process.env, HOME: home },
    });
    const { confinement, seen } = JSON.parse(stdout);
    if (confinement === 'none') {
      t.pass('skipped', { skip: 'this machine offers neither Landlock nor bubblewrap' });
      return;
    }
    const spied = Object.entries(seen).filter(([, text]) => String(text).includes(CANARY));
    t.same(spied, [], 'nothing was read');
    t.equal(Object.keys(seen).length, new Set([...pages, ...paths]).size, 'everything was tried');
    const written = readdirSync(home, { recursive: true }).filter((path) => String(path).includes('evil'));
    t.same(written, [], 'nothing was written');
  });
}

t.test('Nothing of a browser listens but the proxy that the service gives it', async (t) => {
  const service = await startTestService(t, { driver: 'process' });
  const { id } = await service.live();
  const pids = pidsNaming(`b-${id}`);
  t.ok(pids.length > 0);
  const inodes = new Set(pids.flatMap(socketsOf));
  const listening = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === '0A' && inodes.has(fields[9] ?? '')),
  );
  t.same(listening, []);
  t.notMatch(commandLines(pids), /remote-debugging-(port|address)/);
});

t.test('No page reaches the service, however its address is spelled, and all others of this machine', async (t) => {
  const site = await openSite(t);
  const shop = new URL(site.set('/', '<title>The shop</title>'));
  const service = await startTestService(t, { driver: 'process' });
  const { port } = new URL(service.url);
  const { id } = await service.live();
  for (const host of ['127.0.0.1', 'localhost', 'shop.localhost', '[::ffff:127.0.0.1]']) {
    const answer = await service.run(id, `agent.go('http://${host}:${shop.port}/').title`);
    t.match(answer, { status: 200, body: 'The shop' }, host);
  }
  const hosts = [
    '127.0.0.1',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '0x7f.1',
    '127.0.0.2',
    '127.255.255.254',
    '0.0.0.0',
    '0',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '１２７.０.０.１',
    '127。0。0。1',
    'user:pass@127.0.0.1',
  ];
  const cases = hosts.flatMap((host) => [
    { host, js: `agent.go('http://${host}:${port}/api/health').status` },
    {
      host,
      js: `agent.go('http://127.0.0.1:${shop.port}/'); agent.page("fetch('http://${host.replace(/.*@/, '')}:${port}/api/health', {mode: 'no-cors'}).then(() => 'reached', () => 'closed')")`,
    },
    {
      host,
      js: `agent.go('http://127.0.0.1:${shop.port}/'); agent.page("new Promise((done) => { const s = new WebSocket('ws://${host.replace(/.*@/, '')}:${port}/api/stream'); s.onopen = () => done('reached'); s.onerror = () => done('closed'); })")`,
    },
  ]);
  for (const { host, js } of sampled(cases, { name: 'own port', count: 20 })) {
    const { status, body } = await service.run(id, js);
    t.ok(status === 422 || body === 'closed', `${host}: ${js.slice(0, 30)}: ${JSON.stringify(body)}`);
  }
});

t.test('egress holds for browsers that run as processes, in the configuration and in a request', async (t) => {
  const site = await openSite(t);
  const url = site.set('/', '<title>The shop</title>');
  const service = await startTestService(t, { driver: 'process', egress: { deny: ['closed.localhost', '127.0.0.3'] } });
  const open = await service.live();
  const closed = await service.live({ egress: { deny: ['127.0.0.1'] } });
  const port = new URL(url).port;
  t.match(await service.run(open.id, `agent.go('${url}').title`), { body: 'The shop' });
  t.match(await service.run(open.id, `agent.go('http://127.0.0.3:${port}/')`), { status: 422 });
  t.match(await service.run(closed.id, `agent.go('${url}')`), {
    status: 422,
    body: { error: /egress|allowed|closed/ },
  });
});

function reachable(path: string): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o005) !== 0o005) return false;
    if (folder === dirname(folder)) return true;
  }
}

function pidsNaming(text: string): readonly number[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text) ? [Number(pid)] : [];
    } catch {
      return [];
    }
  });
}

function commandLines(pids: readonly number[]): string {
  return pids.map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8')).join('\n');
}

function socketsOf(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${descriptor}`))?.[1] ?? [];
    } catch {
      return [];
    }
  });
}
