import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readConfig } from '#troupe/config.js';
import { isReachable } from '#troupe/containers/chromium/browser-user.js';
import { encodeError } from '#troupe/protocol/errors.js';
import { startService } from '#troupe/service.js';
import { guardLeaks } from '../support/leaks.js';
import { runTroupe } from '../support/service-process.js';

guardLeaks(t);

const OTHER_USER = { uid: 1000, gid: 1000 };

interface OddHome {
  readonly what: string;
  /** Makes it; answers the home, where that is not the folder itself. */
  make(home: string): string | undefined;
  /** What the sentence names, below the folder. */
  readonly path: string;
  readonly says: RegExp;
  /** Root may do everything. */
  readonly notRoot?: true;
}

const file = (name: string) => (home: string) => {
  writeFileSync(join(home, name), 'x');
  return undefined;
};
const folder = (name: string) => (home: string) => {
  mkdirSync(join(home, name));
  return undefined;
};
const closed = (name: string, mode: number) => (home: string) => {
  if (name.includes('.')) writeFileSync(join(home, name), name === 'troupe.json' ? '{}' : '');
  else if (name !== '') mkdirSync(join(home, name));
  chmodSync(join(home, name), mode);
  return undefined;
};

const belowFile = (path: string) => (home: string) => {
  writeFileSync(join(home, 'h'), 'x');
  return join(home, path);
};

const HOMES: readonly OddHome[] = [
  { what: 'a file for flows', make: file('flows'), path: 'flows', says: /must be a folder, but is a file: move/ },
  { what: 'a file for sessions', make: file('sessions'), path: 'sessions', says: /must be a folder.*: move/ },
  { what: 'a file for tmp', make: file('tmp'), path: 'tmp', says: /must be a folder.*: move/ },
  { what: 'a folder for troupe.db', make: folder('troupe.db'), path: 'troupe.db', says: /must be a file.*: move it/ },
  {
    what: 'a folder for troupe.key',
    make: folder('troupe.key'),
    path: 'troupe.key',
    says: /must be a file.*: move it/,
  },
  {
    what: 'a folder for troupe.json',
    make: folder('troupe.json'),
    path: 'troupe.json',
    says: /a folder; move it away/,
  },
  {
    what: 'a file for the home',
    make: belowFile('h'),
    path: 'h',
    says: /its folder is a file; set TROUPE_HOME/,
  },
  {
    what: 'a home below a file',
    make: belowFile('h/deep/er'),
    path: 'h/deep/er',
    says: /set TROUPE_HOME to a folder/,
  },
  { what: 'a home in /proc', make: () => '/proc/nowhere/home', path: '', says: /cannot be created.*set TROUPE_HOME/ },
  {
    what: 'a home that may not be written',
    make: closed('', 0o555),
    path: '',
    says: /cannot be written.*set TROUPE_HOME/,
    notRoot: true,
  },
  {
    what: 'sessions that may not be written',
    make: closed('sessions', 0o555),
    path: 'sessions',
    says: /cannot be written by this user: change its owner or mode/,
    notRoot: true,
  },
  {
    what: 'a key that may not be read',
    make: closed('troupe.key', 0),
    path: 'troupe.key',
    says: /may not read or create it; change/,
    notRoot: true,
  },
  {
    what: 'settings that may not be read',
    make: closed('troupe.json', 0),
    path: 'troupe.json',
    says: /may not read it; change/,
    notRoot: true,
  },
  {
    what: 'a journal that may not be written',
    make: closed('troupe.db', 0o444),
    path: 'troupe.db',
    says: /read-only for this user; let the user write|cannot be opened/,
    notRoot: true,
  },
];

function made(t: Test, { make }: OddHome): { home: string; root: string } {
  const root = mkdtempSync(join(tmpdir(), 'h-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  chmodSync(root, 0o755);
  return { root, home: make(root) ?? root };
}

/** As a user that is not root, and owns the folder, where that matters. */
async function asUser<T>(root: string, notRoot: boolean, work: () => Promise<T>): Promise<T> {
  if (!notRoot || process.geteuid?.() !== 0) return await work();
  for (const name of ['', ...readdirSync(root)]) chownSync(join(root, name), OTHER_USER.uid, OTHER_USER.gid);
  process.seteuid?.(OTHER_USER.uid);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

/** A browser that says its version, and is never started: an embedded one would be unpacked by another user than ours. */
function namedBrowser(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'b-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  chmodSync(folder, 0o755);
  const file = join(folder, 'chromium');
  writeFileSync(file, '#!/bin/sh\necho Chromium 150.0.0.0\n', { mode: 0o755 });
  return file;
}

t.test('a home that cannot be used is one sentence, which names the path and the remedy', async (t) => {
  const browser = namedBrowser(t);
  // Another user than root may be unable to load the service, as from a checkout in /root.
  const isOpen = process.geteuid?.() !== 0 || (await isReachable(realpathSync('.'), OTHER_USER));
  if (!isOpen) t.pass('as another user than root', { skip: `another user cannot read ${process.cwd()}` });
  for (const odd of HOMES.filter(({ notRoot = false }) => isOpen || !notRoot)) {
    const { home, root } = made(t, odd);
    const options = { version: '0', log: () => undefined };
    const start = async () =>
      startService(readConfig({ port: '0' }, { TROUPE_HOME: home, TROUPE_CHROMIUM: browser }), options);
    const fault = await asUser(home, odd.notRoot === true, () =>
      start().then(
        (service) => service.stop({ drainMs: 0 }).then(() => 'it started'),
        (thrown: unknown) => thrown,
      ),
    );
    const { error } = encodeError(fault);
    t.match(error, odd.says, odd.what);
    t.ok(error.includes(home.startsWith('/proc') ? home : join(root, odd.path)), `${odd.what}: ${error}`);
    t.notMatch(error, /\n|Error:/, odd.what);
  }
});

t.test('the command says it on one line and ends', async (t) => {
  for (const what of ['a file for sessions', 'a folder for troupe.json']) {
    const odd = HOMES.find((one) => one.what === what);
    if (odd === undefined) throw new Error(what);
    const { code, output } = await runTroupe(made(t, odd).home, 'dashboard', '--port', '0');
    t.equal(code, 1, what);
    t.match(output, odd.says, what);
    t.equal(output.trim().split('\n').length, 1, output);
  }
});
