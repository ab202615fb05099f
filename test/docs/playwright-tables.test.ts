import { readFileSync } from 'node:fs';
import t from 'tap';
import { playwrightTables } from '#troupe/agent-js/playwright-api/docs.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test('docs/playwright.md has the tables of what is offered', (t) => {
  const text = readFileSync('docs/playwright.md', 'utf8');
  t.ok(text.includes(playwrightTables()), 'run: node scripts/playwright-docs.mjs');
  t.end();
});
