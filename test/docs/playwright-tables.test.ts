import { readFileSync } from 'node:fs';
import t from 'tap';
import { NOT_OFFERED } from '#troupe/agent-js/playwright-api/classes.js';
import { playwrightTables } from '#troupe/agent-js/playwright-api/docs.js';
import { NOT_MATCHERS } from '#troupe/agent-js/playwright-api/matchers.js';
import { SCRIPT_CALLS } from '#troupe/agent-js/script-api.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test('docs/playwright.md has the tables of what is offered', (t) => {
  const text = readFileSync('docs/playwright.md', 'utf8');
  t.ok(text.includes(playwrightTables()), 'run: node scripts/playwright-docs.mjs');
  t.end();
});

t.test('what agent has under the name of Playwright is named where Playwright’s own is refused', (t) => {
  const calls = new Set(SCRIPT_CALLS.agent);
  const refused = Object.entries({ ...NOT_OFFERED, ...NOT_MATCHERS });
  const named = refused.flatMap(([name, hint]) => {
    const call = [name, name.replace(/^toHave/, 'expect')].find((same) => calls.has(same));
    if (call === undefined) return [];
    t.match(hint, `agent.${call}(`, name);
    return [name];
  });
  t.has(named, ['pdf', 'requests', 'screenshot', 'toHaveScreenshot']);
  t.match(NOT_OFFERED.storageState, 'agent.saveState(');
  t.match(NOT_OFFERED.newContext, 'agent.session(');
  t.match(NOT_OFFERED.pause, 'agent.handoff(');
  t.end();
});
