import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { FlowCatalog } from '#troupe/agent-js/flows/flow-catalog.js';
import { FlowNode } from '#troupe/protocol/flow-tree.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const { signal } = new AbortController();

function catalogOf(t: Test, files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'flows-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  return { folder, write, catalog: new FlowCatalog(folder) };
}

t.test('The tree has folders first, and of each file what its author says', async (t) => {
  const { catalog, folder } = catalogOf(t, {
    'zoo.js': '// Feeds.\n// Twice a day.\n() => 1',
    'shop/gift.md': '\n# A gift\n\nBuy one.',
    'shop/cart/empty.js': '1',
    'shop/data.json': '{}',
    '.hidden.js': '1',
    'node_modules.txt': '',
  });
  symlinkSync('/etc/hostname', join(folder, 'link.js'));
  const tree = await catalog.tree(signal);
  for (const node of tree) FlowNode.parse(node);
  t.match(tree, [
    {
      kind: 'folder',
      name: 'shop',
      entries: [
        { kind: 'folder', path: 'shop/cart', entries: [{ path: 'shop/cart/empty.js' }] },
        { kind: 'task', name: 'gift.md', path: 'shop/gift.md', about: 'A gift' },
      ],
    },
    { kind: 'flow', name: 'zoo.js', path: 'zoo.js', about: 'Feeds.\nTwice a day.', fault: null },
  ]);
  t.equal(tree.length, 2);
});

t.test('What its author says is found whatever ends its lines', async (t) => {
  const { catalog } = catalogOf(t, {
    'block.js': '/**\r\n * Feeds.\r\n * Twice.\r\n */\r\n() => 1',
    'lines.js': '// Feeds.\r\n// Twice.\r\n() => 1',
    'mac.js': '// Feeds.\r// Twice.\r() => 1',
  });
  const tree = await catalog.tree(signal);
  t.same(
    tree.map((node) => ('about' in node ? node.about : '')),
    ['Feeds.\nTwice.', 'Feeds.\nTwice.', 'Feeds.\nTwice.'],
  );
});

t.test('Arguments are listed whichever form the flow has', async (t) => {
  const { catalog } = catalogOf(t, {
    'arrow.js': "({ user = 'ada', 'pass-word': p, ...rest } = {}) => 1",
    'function.js': 'function (args) { const { base = `x`, nested: { deep } } = args; return args.user + args[0]; }',
    'plain.js': 'const { city } = args;\nagent.go(args.url);',
    'none.js': '() => agent.text()',
  });
  const args = Object.fromEntries((await catalog.tree(signal)).map((node) => [node.name, 'args' in node && node.args]));
  t.same(args, {
    'arrow.js': [
      { name: 'user', default: "'ada'" },
      { name: 'pass-word', default: null },
    ],
    'function.js': [
      { name: 'base', default: '`x`' },
      { name: 'nested', default: null },
      { name: 'user', default: null },
    ],
    'plain.js': [
      { name: 'city', default: null },
      { name: 'url', default: null },
    ],
    'none.js': [],
  });
});

t.test('A flow that does not parse says where, and is read again once it has changed', async (t) => {
  const { catalog, write } = catalogOf(t, { 'broken.js': '() => {\n  agent.go(;\n}' });
  t.match(await catalog.tree(signal), [{ fault: { line: 2, column: 12, error: /SyntaxError/ } }]);
  write('broken.js', '() => { agent.go("about:blank"); }');
  t.match(await catalog.tree(signal), [{ fault: null }]);
});

t.test('A source is answered for what is a flow of the folder, and nothing else', async (t) => {
  const { catalog } = catalogOf(t, { 'a/b.js': '() => 1', 'secret.json': '{}' });
  t.equal(await catalog.source('a/b.js'), '() => 1');
  for (const path of ['a/b', 'a', 'secret.json', '../x.js', '/etc/hostname.js', 'a/../../x.js', 'a\\b.js', 'x\0.js']) {
    await t.rejects(catalog.source(path), { code: 'NOT_FOUND' }, path);
  }
});

t.test('Where there is no folder there are no flows', async (t) => {
  t.same(await new FlowCatalog(join(tmpdir(), 'no-such-folder')).tree(signal), []);
});

t.test('Flows are listed by path with the first line of their leading comment', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'flows-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'shop', 'cart'), { recursive: true });
  const write = (path: string, text: string) => writeFileSync(join(folder, path), text);
  write('login.js', '// Logs in.\n// Needs an account.\n() => 1');
  write('shop/buy.js', '/**\n * Buys a teapot.\n * Twice.\n */\nfunction (args) {}');
  write('shop/cart/empty.js', '() => 1 // not a leading comment');
  write('shop/notes.md', '# no flow');
  write('.hidden.js', '// hidden');
  write('large.js', `// Large.\n${'x'.repeat(300_000)}`);
  symlinkSync('/etc/hostname', join(folder, 'link.js'));
  t.same(await new FlowCatalog(folder).list(signal), [
    { path: 'large', about: '' },
    { path: 'login', about: 'Logs in.' },
    { path: 'shop/buy', about: 'Buys a teapot.' },
    { path: 'shop/cart/empty', about: '' },
  ]);
});

t.test('Where there is no folder there are no flows', async (t) => {
  t.same(await new FlowCatalog(join(tmpdir(), 'no-such-folder')).list(signal), []);
});
