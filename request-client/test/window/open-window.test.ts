import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { openWindow } from '#request-client/window/open-window.js';
import { openFolder } from '../../../test/containers/driver-fixture.js';
import { eventually } from '../../../test/support/eventually.js';
import { guardLeaks } from '../../../test/support/leaks.js';

guardLeaks(t);

/** A program that records its arguments, and then runs `then`. */
function program(folder: string, name: string, then: string): { path: string; called(): string | null } {
  const path = join(folder, name);
  const log = `${path}.log`;
  writeFileSync(path, `#!/bin/sh\necho "$@" > '${log}.new' && mv '${log}.new' '${log}'\n${then}\n`, { mode: 0o755 });
  return { path, called: () => (existsSync(log) ? readFileSync(log, 'utf8').trim() : null) };
}

t.test('troupe requests opens BROWSER with a working URL, and ends when asked', async (t) => {
  const folder = openFolder(t);
  const browser = program(folder, 'browser', 'exit 0');
  const child = spawn(process.execPath, ['dist/cli.js', 'requests'], {
    env: { ...process.env, BROWSER: browser.path, TROUPE_HOME: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const address = /http:\S+/.exec(String(line))?.[0] ?? '';
  await eventually('the browser was called', () => browser.called() !== null);
  const url = new URL(browser.called() ?? '');
  t.equal(url.origin, new URL(address).origin);
  t.not(url.hash, new URL(address).hash);
  t.match(await (await fetch(url.origin)).text(), /<title>Troupe Requests/);
  const enter = { method: 'POST', body: JSON.stringify({ key: url.hash.slice(1) }) };
  t.equal((await fetch(`${url.origin}/api/enter`, enter)).status, 200);
  child.kill('SIGTERM');
  t.strictSame(await closed, [0, null]);
});

t.test('a file that is neither there nor a new collection is reported before anything opens', async (t) => {
  for (const name of ['missing', 'missing/new.json']) {
    const child = spawn(process.execPath, ['dist/cli.js', 'requests', name], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    t.teardown(() => child.kill('SIGKILL'));
    const said: string[] = [];
    child.stderr.on('data', (chunk) => said.push(String(chunk)));
    t.strictSame(await once(child, 'close'), [2, null]);
    t.match(said.join(''), /no file of that name/);
  }
});

t.test('a missing environment is reported before a collection is created', async (t) => {
  const file = join(openFolder(t), 'new.json');
  const child = spawn(process.execPath, ['dist/cli.js', 'requests', file, '--env', 'missing.json'], {
    stdio: 'ignore',
  });
  t.teardown(() => child.kill('SIGKILL'));
  t.strictSame(await once(child, 'close'), [2, null]);
  t.notOk(existsSync(file));
});

t.test('a new file is a new collection', async (t) => {
  const folder = openFolder(t);
  const file = join(folder, 'new.json');
  const child = spawn(process.execPath, ['dist/cli.js', 'requests', file, '--no-open'], {
    env: { ...process.env, TROUPE_HOME: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const closed = once(child, 'close');
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  await eventually('it runs', () => lines.length === 3);
  t.equal(lines[0], `Created ${file}`);
  t.match(JSON.parse(readFileSync(file, 'utf8')), { info: { name: 'new' }, item: [] });
  child.kill('SIGTERM');
  t.strictSame(await closed, [0, null]);
});

t.test('a Chromium of this machine opens a window of its own, whose end is the end of the window', async (t) => {
  const folder = openFolder(t);
  const chromium = program(folder, 'chromium', 'exec sleep 60');
  const env = { PATH: `${folder}:${process.env.PATH}`, DISPLAY: ':0' };
  const options = { browser: undefined, env, platform: 'linux', root: false } as const;
  const window = await openWindow('http://127.0.0.1:1/#x', options);
  await eventually('it was called', () => chromium.called() !== null);
  t.match(chromium.called(), /^--app=http:\/\/127\.0\.0\.1:1\/#x --user-data-dir=\S*troupe-window-/);
  const profile = /--user-data-dir=(\S+)/.exec(chromium.called() ?? '')?.[1] ?? '';
  t.ok(existsSync(profile));
  await window.close();
  await window.closed;
  t.notOk(existsSync(profile));
});

t.test('without a screen or a browser it says what to do', async (t) => {
  const nothing = { env: { PATH: '/nowhere' }, platform: 'linux', root: false } as const;
  t.match(await openWindow('http://x', { browser: undefined, ...nothing }), { problem: /no screen: open the URL/ });
  t.match(await openWindow('http://x', { browser: '/nowhere/browser', ...nothing }), {
    problem: /No browser could be opened .* BROWSER/,
  });
});
