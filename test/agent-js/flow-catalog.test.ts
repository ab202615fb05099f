import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { flowCatalog } from '#troupe/agent-js/flows/flow-catalog.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const signal = new AbortController().signal;

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
  t.same(await flowCatalog(folder, signal), [
    { path: 'large', about: '' },
    { path: 'login', about: 'Logs in.' },
    { path: 'shop/buy', about: 'Buys a teapot.' },
    { path: 'shop/cart/empty', about: '' },
  ]);
});

t.test('Where there is no folder there are no flows', async (t) => {
  t.same(await flowCatalog(join(tmpdir(), 'no-such-folder'), signal), []);
});
