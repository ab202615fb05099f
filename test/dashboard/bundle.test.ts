import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const PAGE = 'dist/web/dashboard';
/** With the styles of all pages, which are loaded at once. */
const MAX_BYTES = 84 * 1024;
const text = (file: string) => readFileSync(join(PAGE, file), 'utf8');

/** Files that are loaded with the page: those that it names, and their static imports. */
function loadedAtOnce(): ReadonlySet<string> {
  const found = new Set<string>();
  const add = (file: string) => {
    if (found.has(file)) return;
    found.add(file);
    if (!file.endsWith('.js')) return;
    for (const [, name] of text(file).matchAll(/(?:from|import)\s*["']\.\/([\w.-]+)["']/g)) add(`assets/${name}`);
  };
  for (const [, file] of text('index.html').matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)) if (file) add(file);
  return found;
}

t.test('The first page loads at most 84 kB compressed, without the editor and the remote desktop', async (t) => {
  const files = [...loadedAtOnce()];
  const bytes = files.reduce((sum, file) => sum + gzipSync(text(file)).length, 0);
  t.ok(bytes > 20_000 && bytes <= MAX_BYTES, `${bytes} bytes in ${files.join(', ')}`);
  const later = readdirSync(join(PAGE, 'assets')).filter((file) => !files.includes(`assets/${file}`));
  t.match(later.join(' '), /script-editor.*/);
  t.match(later.join(' '), /rfb.*/);
});

t.test('No page builds markup from text', async (t) => {
  const sources = readdirSync('web', { recursive: true, encoding: 'utf8' }).filter((file) =>
    /^(?!node_modules).*\.(svelte|ts)$/.test(file),
  );
  t.ok(sources.length > 30);
  for (const file of sources) {
    t.notMatch(
      readFileSync(join('web', file), 'utf8'),
      /innerHTML|outerHTML|insertAdjacentHTML|@html|document\.write/,
      file,
    );
  }
});
