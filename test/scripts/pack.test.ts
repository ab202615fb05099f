import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { skipWithout } from '../support/programs.js';

guardLeaks(t);

const LEFT_OUT = new Set(['.git', '.packages', '.tap', 'bench', 'dist', 'node_modules', 'test']);
const SHRINKWRAP = 'npm-shrinkwrap.json';

/** A copy of the checkout without its tests. Its packages are those of the checkout. */
async function copyOfCheckout(root: string): Promise<void> {
  for (const entry of await readdir('.')) {
    if (LEFT_OUT.has(entry) || entry.endsWith('.tgz')) continue;
    await cp(entry, join(root, entry), { recursive: true, filter: (path) => !path.endsWith('/node_modules') });
  }
  await symlink(join(process.cwd(), 'node_modules'), join(root, 'node_modules'));
}

/** What each file contains, but for what is built. */
async function contentsOf(root: string): Promise<Map<string, string>> {
  const contents = new Map<string, string>();
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !path.startsWith(join(root, 'dist/'))) contents.set(path, await readFile(path, 'latin1'));
  }
  return contents;
}

t.test('npm pack writes only dist and the package, also when it is killed', { skip: skipWithout('tar') }, async (t) => {
  const root = t.testdir({ checkout: {}, tmp: {}, packed: {} });
  const checkout = join(root, 'checkout');
  const tmp = join(root, 'tmp');
  const packed = join(root, 'packed');
  await copyOfCheckout(checkout);
  const before = await contentsOf(checkout);
  const env = { ...process.env, TMPDIR: tmp };

  const npm = spawn('npm', ['pack'], { cwd: checkout, env, detached: true, stdio: 'ignore' });
  const ended = once(npm, 'close');
  const isWritten = async () => {
    const found = [...(await readdir(tmp, { recursive: true })), ...(await readdir(checkout))];
    return npm.exitCode !== null || found.some((path) => path.endsWith(SHRINKWRAP));
  };
  await eventually('npm-shrinkwrap.json is written', isWritten, 300_000);
  t.equal(npm.exitCode, null, 'npm is still running');
  process.kill(-Number(npm.pid), 'SIGKILL');
  await ended;
  t.strictSame(await contentsOf(checkout), before);

  await promisify(execFile)('npm', ['pack', `--pack-destination=${packed}`], { cwd: checkout, env });
  t.strictSame(await contentsOf(checkout), before);
  const { version, scripts } = JSON.parse(await readFile('package.json', 'utf8'));
  t.same(await readdir(packed), [`troupe-${version}.tgz`]);
  await promisify(execFile)('tar', ['-xzf', `troupe-${version}.tgz`], { cwd: packed });
  const read = async (file: string) => JSON.parse(await readFile(join(packed, 'package', file), 'utf8'));

  const lock = JSON.parse(await readFile('package-lock.json', 'utf8'));
  const { packages } = await read(SHRINKWRAP);
  const paths = Object.keys(packages).filter((path) => path !== '');
  for (const path of paths) t.same(packages[path], lock.packages[path]);
  // Those of other machines, too, and neither what tests take nor what building takes.
  const names = paths.map((path) => path.slice('node_modules/'.length));
  const wanted = [packages[''], ...paths.map((path) => packages[path])].flatMap((entry) =>
    Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }),
  );
  t.same(
    wanted.filter((name) => !names.some((path) => path === name || path.endsWith(`/node_modules/${name}`))),
    [],
  );
  for (const name of ['tap', 'svelte', 'yaml', 'troupe-pages']) t.notOk(names.includes(name), name);
  t.notOk('devDependencies' in packages[''] || 'workspaces' in packages['']);
  const manifest = await read('package.json');
  t.same(manifest.scripts, { postinstall: scripts.postinstall });
  t.notOk('devDependencies' in manifest || 'workspaces' in manifest);
});

t.test('npm publish of the checkout is refused, and says what to run', async (t) => {
  const words = ['publish', '--dry-run', '--registry=http://127.0.0.1:9'];
  const refused: unknown = await promisify(execFile)('npm', words).catch((error) => error);
  t.match(refused, { code: 1, stderr: /Run npm pack, then npm publish / });
});
