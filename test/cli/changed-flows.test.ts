import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t from 'tap';
import { calledFlows } from '#troupe/agent-js/flows/called-flows.js';
import { changedFiles, concernedFiles } from '#troupe/cli/run/plan/changed-flows.js';
import { guardLeaks } from '../support/leaks.js';
import { skipWithout } from '../support/programs.js';

guardLeaks(t);

const TEXTS: { readonly [path: string]: string } = {
  'buy.js': "() => { Flow.run('shop/login', {name: 'ada'}); Flow.run('./shop/cart'); }",
  'look.ts': '(): void => { agent.look(); }',
  'any.js': "({which}) => Flow.run('shop/' + which)",
  'kept.js': "() => { const run = Flow.run; run('shop/cart'); }",
  'broken.js': '() => {',
  'task.md': '# Buy tea',
  'shop/login.ts': "(): void => { Flow.run('../lib/open'); }",
  'shop/cart.js': '() => { Flow.run("shop/cart-lines"); }',
  'shop/cart-lines.js': '() => { Flow.run("shop/cart"); }',
  'shop/_setup.js': "() => Flow.run('lib/seed')",
  'lib/open.js': '() => agent.go("/")',
  'lib/seed.js': '() => 1',
  'data.json': '{}',
  'types.d.ts': 'interface A {}',
};
const named = ['buy.js', 'look.ts', 'any.js', 'kept.js', 'broken.js', 'task.md', 'shop/cart.js', 'shop/login.ts'];
/** Those whose calls are not known run after any change of a flow. */
const UNKNOWN = ['any.js', 'kept.js', 'broken.js'];

t.test('A change concerns the flows that run what changed, at any depth', async (t) => {
  const concerned = (...changed: string[]) =>
    [...concernedFiles({ root: '/w/flows', named, texts: TEXTS }, new Set(changed))].sort();
  const and = (...paths: string[]) => [...UNKNOWN, ...paths].sort();
  t.same(concerned(), []);
  t.same(concerned('types.d.ts', 'quarantine.json'), []);
  t.same(concerned('look.ts'), and('look.ts'));
  t.same(concerned('lib/open.js'), and('buy.js', 'shop/login.ts'));
  t.same(concerned('shop/cart-lines.js'), and('buy.js', 'shop/cart.js'), 'flows may run one another');
  t.same(concerned('shop/gone.js'), UNKNOWN.toSorted(), 'one that was removed');
  t.same(concerned('lib/seed.js'), and('shop/cart.js', 'shop/login.ts'), 'what the setup of a folder runs');
  t.same(concerned('look.baselines/page-process-linux.png'), and('look.ts'));
  t.same(concerned('task.md'), and('task.md'));
  t.same(concerned('data.json'), [...named].sort(), 'any flow may read it');
  t.same([...calledFlows('shop/login.ts', TEXTS['shop/login.ts'] ?? '').names], ['lib/open']);
});

const skip = skipWithout('git');

t.test('Changed files are those that differ from a commit, or that git does not know', { skip }, async (t) => {
  const checkout = mkdtempSync(join(tmpdir(), 'changed-'));
  t.teardown(() => rmSync(checkout, { recursive: true }));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(checkout, path)), { recursive: true });
    writeFileSync(join(checkout, path), text);
  };
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...words], { cwd: checkout });
  git('init', '-q');
  for (const path of ['flows/a.js', 'flows/b.js', 'flows/c.js', 'src/app.js']) write(path, '1');
  git('add', '.');
  git('commit', '-q', '-m', 'one');
  t.same([...(await changedFiles(join(checkout, 'flows'), 'HEAD'))], []);
  write('flows/a.js', '2');
  write('flows/sub/new one.js', '1');
  write('src/app.js', '2');
  rmSync(join(checkout, 'flows/b.js'));
  t.same([...(await changedFiles(join(checkout, 'flows'), 'HEAD'))].sort(), ['a.js', 'b.js', 'sub/new one.js']);
  for (const ref of ['nowhere', '--output=x']) {
    await t.rejects(changedFiles(join(checkout, 'flows'), ref), { message: /--changed: git cannot compare/ }, ref);
  }
  await t.rejects(changedFiles(tmpdir(), 'HEAD'), { message: /--changed: git cannot compare/ });
});
