import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { findRunFiles } from '#troupe/cli/run/plan/run-files.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

function folderWith(t: Test, paths: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'run-files-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const path of paths) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), `// ${path}`);
  }
  return folder;
}

t.test('The nearest folder called flows is the root, and all of it goes along', async (t) => {
  const cwd = folderWith(t, [
    'e2e/flows/shop/buy.js',
    'e2e/flows/shop/data.json',
    'e2e/flows/login.js',
    'e2e/flows/.hidden.js',
    'e2e/flows/node_modules/x/index.js',
    'e2e/flows/photo.png',
    'e2e/other.js',
  ]);
  const files = await findRunFiles(['e2e/flows/shop/*.js'], { cwd, bases: [] });
  t.same(files.named, ['shop/buy.js']);
  t.same(Object.keys(files.texts), ['login.js', 'shop/buy.js', 'shop/data.json']);
  t.equal(files.texts['login.js'], '// e2e/flows/login.js');
});

t.test('Without one the current folder is the root, and what lies beside the named files goes along', async (t) => {
  const cwd = folderWith(t, ['tests/a.js', 'tests/b.md', 'tests/deep/c.js', 'd.js']);
  const files = await findRunFiles(['tests/a.js'], { cwd, bases: [] });
  t.same(files.named, ['tests/a.js']);
  t.same(Object.keys(files.texts), ['tests/a.js', 'tests/b.md']);
  const elsewhere = await findRunFiles([join(cwd, 'tests/a.js')], { cwd: tmpdir(), bases: [] });
  t.same(elsewhere.named, [`${cwd.split('/').at(-1)}/tests/a.js`]);
});

t.test('Globs look below their own folder, sort what they find, and take each file once', async (t) => {
  const cwd = folderWith(t, ['flows/b.js', 'flows/a.js', 'flows/x/c.js', 'flows/x/d.md', 'flows/x/e.txt']);
  const named = async (...words: string[]) => (await findRunFiles(words, { cwd, bases: [] })).named;
  t.same(await named('flows/**/*.js'), ['a.js', 'b.js', 'x/c.js']);
  t.same(await named('flows/x/*', 'flows/a.js', './flows/*.js'), ['x/c.js', 'x/d.md', 'a.js', 'b.js']);
  t.same(await named('flows/{a,b}.js'), ['a.js', 'b.js']);
  t.same(await named(`${cwd}/flows/x/**`), ['x/c.js', 'x/d.md']);
});

t.test('A folder stands for all flows in it and below it', async (t) => {
  const cwd = folderWith(t, [
    'flows/b.js',
    'flows/a.ts',
    'flows/a.d.ts',
    'flows/task.md',
    'flows/_setup.js',
    'flows/x/c.js',
    'flows/x/_teardown.ts',
    'flows/node_modules/d.js',
  ]);
  const named = async (...words: string[]) => (await findRunFiles(words, { cwd, bases: [join(cwd, 'flows')] })).named;
  t.same(await named('flows'), ['a.ts', 'b.js', 'x/c.js']);
  t.same(await named('./flows/'), ['a.ts', 'b.js', 'x/c.js']);
  t.same(await named('flows/x/c.js', 'flows'), ['x/c.js', 'a.ts', 'b.js'], 'each once');
  t.same(await named('x'), ['x/c.js'], 'also one of the flows folder of the home');
  const types = folderWith(t, ['flows/a.js']);
  writeFileSync(join(types, 'flows', 'types.ts'), 'export interface Order { id: string }\n');
  t.same((await findRunFiles(['flows'], { cwd: types, bases: [] })).named, ['a.js'], 'types alone are no flow');
});

t.test('A name that is not found from here is looked for in the flows folder of the home', async (t) => {
  const cwd = folderWith(t, ['flows/examples/login.js']);
  const files = await findRunFiles(['examples/login.js'], { cwd, bases: [join(cwd, 'flows')] });
  t.same(files.named, ['examples/login.js']);
});

t.test('What is wrong with a word is said in a sentence that names it', async (t) => {
  const cwd = folderWith(t, ['flows/a.js', 'flows/x.sh', 'other/flows/b.js', 'deep/c.js', 'tasks/a.md', 'empty/b.txt']);
  execFileSync('mkfifo', [join(cwd, 'flows', 'fifo.js')]);
  const refusals: [string[], RegExp, string?][] = [
    [['nope.js'], /There is no file or folder 'nope\.js'/],
    [['nope/**/*.js'], /No \.js, \.ts or \.md file matches 'nope\/\*\*\/\*\.js'/],
    [['tasks'], /There is no flow \(\.js or \.ts\) in '.*tasks'; to run its tasks, write '.*tasks\/\*\*\/\*\.md'/],
    [['empty'], /There is no flow \(\.js or \.ts\) in '.*empty'$/],
    [['flows/x.sh'], /neither a \.js or \.ts flow nor a \.md task file/],
    [['flows/fifo.js'], /'.*flows\/fifo\.js' is neither a file nor a folder/],
    [['flows/a.js', 'other/flows/b.js'], /one flows folder.*--flows/],
    [['deep/c.js'], /is not in the flows folder/, 'flows'],
  ];
  for (const [words, error, flows] of refusals) {
    await t.rejects(
      findRunFiles(words, { cwd, bases: [], flows }),
      { name: 'UsageError', message: error },
      words.join(),
    );
  }
});

t.test('Baselines go along, pictures in base64, also where only what lies beside the flow does', async (t) => {
  const baselines = ['a.baselines/home.docker-linux.png', 'a.baselines/home.look.txt'];
  const cwd = folderWith(t, [
    'flows/a.js',
    'flows/other.png',
    ...baselines.map((path) => `flows/${path}`),
    'tests/a.js',
    'tests/a.baselines/deep/x.png',
    ...baselines.map((path) => `tests/${path}`),
  ]);
  const { texts } = await findRunFiles(['flows/a.js'], { cwd, bases: [] });
  t.same(Object.keys(texts), [...baselines, 'a.js']);
  t.equal(
    Buffer.from(texts['a.baselines/home.docker-linux.png'] ?? '', 'base64').toString(),
    '// flows/a.baselines/home.docker-linux.png',
  );
  t.equal(texts['a.baselines/home.look.txt'], '// flows/a.baselines/home.look.txt');
  const beside = await findRunFiles(['tests/a.js'], { cwd, bases: [] });
  t.same(Object.keys(beside.texts), [...baselines.map((path) => `tests/${path}`), 'tests/a.js']);
});
