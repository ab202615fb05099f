import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { makeFirstHome } from '#troupe/cli/setup/make-first-home.js';
import { readConfig } from '#troupe/config.js';
import { guardLeaks } from '../../support/leaks.js';
import { skipWithout } from '../../support/programs.js';

guardLeaks(t);

const MAX_MEGABYTES = 3.2;

t.test('A home that is made gets the example flows, and one that has flows keeps its own', async (t) => {
  const home = join(t.testdir(), 'home');
  const config = readConfig({}, { TROUPE_HOME: home });
  await makeFirstHome(config);
  t.ok((await readdir(join(home, 'flows', 'examples'))).includes('login.js'));

  const used = join(t.testdirName, 'used');
  await mkdir(join(used, 'flows'), { recursive: true });
  await makeFirstHome(readConfig({}, { TROUPE_HOME: used }));
  t.same(await readdir(join(used, 'flows')), []);
});

t.test('What a service writes is kept out of git', { skip: skipWithout('git') }, async (t) => {
  const git = (folder: string, ...words: string[]) => promisify(execFile)('git', ['-C', folder, ...words]);
  const untracked = async (folder: string) => (await git(folder, 'status', '--short', '-uall')).stdout;
  const checkout = async (name: string, ignored?: string) => {
    const folder = join(t.testdirName, name);
    await mkdir(join(folder, 'flows'), { recursive: true });
    await git(folder, 'init', '--quiet');
    if (ignored !== undefined) await writeFile(join(folder, '.gitignore'), ignored);
    await makeFirstHome(readConfig({}, { TROUPE_HOME: folder }));
    for (const file of [
      'service.json',
      'service.json.7',
      'troupe.key',
      'troupe.db',
      'troupe.db-wal',
      'sessions/a',
      'tmp/b',
    ])
      await writeFile(join(folder, file), 'private');
    return folder;
  };
  t.testdir({});
  t.equal(await untracked(await checkout('plain')), '?? .gitignore\n');
  const own = await checkout('own', 'node_modules\n');
  t.equal(await readFile(join(own, '.gitignore'), 'utf8'), 'node_modules\n', 'a file of the user stays as it is');
  const ours = await readFile(new URL('../../../.gitignore', import.meta.url), 'utf8');
  t.equal(await untracked(await checkout('ours', ours)), '?? .gitignore\n', "Troupe's own checkout ignores the same");

  const outside = join(t.testdirName, 'outside');
  await makeFirstHome(readConfig({}, { TROUPE_HOME: outside }));
  t.notOk((await readdir(outside)).includes('.gitignore'), 'a home in no checkout has none');
});

t.test('Binaries for other platforms are removed from the installed packages, and nothing else', async (t) => {
  const folder = t.testdir();
  const uws = join(folder, 'node_modules', 'uWebSockets.js');
  const own = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  const packageIn = async (name: string, files: readonly string[]) => {
    const path = join(folder, 'node_modules', name);
    await mkdir(path, { recursive: true });
    await writeFile(join(path, 'package.json'), JSON.stringify({ name, main: 'index.js' }));
    for (const file of ['index.js', ...files]) await writeFile(join(path, file), 'x'.repeat(1_000_000));
    return path;
  };
  await packageIn('libsql', []);
  await packageIn('uWebSockets.js', [own, 'uws_win32_x64_115.node', 'uws_linux_mips_115.node', 'uws.h', 'other.node']);
  const unused = await packageIn(`@libsql/${process.platform}-${process.arch}-musl`, ['index.node']);
  const used = await packageIn(`@libsql/${process.platform}-${process.arch}-gnu`, ['index.node']);

  const copy = join(folder, 'unused-binaries.mjs');
  await copyFile('dist/cli/setup/unused-binaries.js', copy);
  const { removeUnusedBinaries } = await import(pathToFileURL(copy).href);
  t.equal(await removeUnusedBinaries(), 3);
  t.same((await readdir(uws)).sort(), ['index.js', 'other.node', 'package.json', own, 'uws.h'].sort());
  t.same((await readdir(unused)).sort(), ['index.js', 'package.json']);
  t.same((await readdir(used)).sort(), ['index.js', 'index.node', 'package.json']);
  t.equal(await removeUnusedBinaries(), 0, 'a second time there is nothing to do');

  await rename(join(uws, own), join(uws, `uws_${process.platform}_${process.arch}_1.node`));
  t.equal(await removeUnusedBinaries(), 1, 'none is kept where there is none for this Node');
});

t.test('The package is at most 3 MB, and has what an installed service needs', async (t) => {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    maxBuffer: 16 * 1024 * 1024,
  });
  // npm 11 answers a list, later ones an object by the package's name.
  const answer: unknown = JSON.parse(stdout);
  const [packed] = Object.values(Object(answer)) as { size: number; files: { path: string }[] }[];
  if (packed === undefined) throw new Error(stdout);
  t.ok(packed.size <= MAX_MEGABYTES * 1_000_000, `${packed.size} bytes`);
  const paths = packed.files.map(({ path }) => path);
  for (const path of [
    'dist/cli.js',
    'dist/client/index.js',
    'dist/agent-js.d.ts',
    'examples/flows/login.js',
    'scripts/postinstall.cjs',
    'skills/troupe/SKILL.md',
    'skills/troupe/references/flows.md',
    'worker-container/Dockerfile',
  ])
    t.ok(paths.includes(path), path);
  t.same(
    paths.filter((path) => /^(src|test|web|bench|node_modules)\//.test(path)),
    [],
  );
  const { files, scripts } = JSON.parse(await readFile('package.json', 'utf8'));
  t.ok(files.includes('npm-shrinkwrap.json') && /postpack/.test(scripts.postpack));
});
