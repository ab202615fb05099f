import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { skipWithout } from '../support/programs.js';

guardLeaks(t);

t.test('The pictures of the documentation are those of the product', { skip: skipWithout('script') }, async (t) => {
  const folder = t.testdir({});
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/pictures.mjs', '--compare', folder], {
    encoding: 'utf8',
    timeout: 300_000,
    killSignal: 'SIGKILL',
  });
  t.match(stdout, /^(Words and pixels|Words alone) are compared/m);
  t.equal(status, 0, stdout + stderr);
});

t.test('Each picture of the documentation is made by the script, and is shown', async (t) => {
  const pages = ['README.md', ...readdirSync('docs').map((name) => `docs/${name}`)].filter((page) =>
    page.endsWith('.md'),
  );
  const shown = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/!\[[^\]]*\]\((?:docs\/)?images\/([\w-]+)\.png\)/g)].map(
      ([, name]) => name,
    ),
  );
  const made = Object.keys(JSON.parse(readFileSync('docs/images/pictures.json', 'utf8')).pictures);
  t.same([...new Set(shown)].sort(), made.sort());
  t.same(readdirSync('docs/images').sort(), [...made.map((name) => `${name}.png`), 'pictures.json'].sort());
});
