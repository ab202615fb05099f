import { readFile } from 'node:fs/promises';
import t from 'tap';
import { ERROR_TABLE } from '#troupe/protocol/errors.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const document = await readFile(new URL('../../docs/errors.md', import.meta.url), 'utf8');
const rows = [...document.matchAll(/^\| `([A-Z_]+)` +\| (\d{3}) +\| (.+?) +\| (.+?) +\|$/gm)];

t.test('Every error code is documented with its status, once, and no unknown code is documented', async (t) => {
  const documented = rows.map(([, code, status]) => `${code} ${status}`).sort();
  const table = Object.entries(ERROR_TABLE).map(([code, { status }]) => `${code} ${status}`);
  t.same(documented, table.sort());
});

t.test('Every documented code says what it means and what to do', async (t) => {
  for (const [, code, , meaning, remedy] of rows) {
    t.match(meaning, /^[A-Z`].*\.$/, `${code} has a meaning`);
    t.match(remedy, /^[A-Z`].*\.$/, `${code} has a remedy`);
  }
});
