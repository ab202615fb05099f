import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startShop } from '../../examples/shop/shop.mjs';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { openReader } from '../support/reader.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const shop = await startShop({ port: 0 });
t.teardown(() => shop.close());
const service = await startTestService(t, { maxSessions: 2, forward: [Number(new URL(shop.url).port)] });
const { page, shows, holds, problems } = await openReader(t);
const file = join(service.home, 'flows', 'own', 'first.js');
const saved = () => readFileSync(file, 'utf8');
const editor = page.locator('.cm-content');
const save = () => page.getByRole('button', { name: 'Save', exact: true }).click();

/** Replaces what is in the editor. */
async function write(text: string): Promise<void> {
  await editor.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

t.test('A flow is created, edited with completions of calls and of their results, and saved', async (t) => {
  await page.goto(`${service.url}/#/flows`);
  await page.getByRole('button', { name: 'New flow' }).click();
  await page.getByLabel('Path below flows/').fill('own/first');
  await page.getByRole('button', { name: 'Create' }).click();
  await shows('own/first.js');
  t.match(saved(), 'agent.go(base)');
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  for (const [typed, offered] of [
    ['agent.scr', 'screenshot'],
    ["agent.expect('h1').toHaveTe", 'toHaveText'],
    ["await page.getByRole('button', { name: 'a)' }).dblc", 'dblclick'],
    ["await expect(page.locator('h1')).toBeVis", 'toBeVisible'],
  ] as const) {
    await write('');
    await page.keyboard.type(typed);
    await page.locator('.cm-completionLabel', { hasText: offered }).first().waitFor();
    await page.keyboard.press('Escape');
    t.pass(typed);
  }
  await write(`// Opens the shop.\n() => {\n  agent.go('${shop.url}');\n  agent.text('h1');\n};\n`);
  await shows('Not saved');
  await page.keyboard.press('Control+s');
  await shows('Saved');
  t.match(saved(), "agent.text('h1')");
});

t.test('A text with a syntax error is saved, and the page says where the error is', async () => {
  await write('() => {\n  let = ;\n}');
  await save();
  await shows('Saved, but it cannot run. Line 2');
});

t.test('What somebody else saved in between is overwritten only on demand', async (t) => {
  writeFileSync(file, '// Theirs.\n() => 1\n');
  await write('// Mine.\n() => 2\n');
  await save();
  await shows('This file was changed');
  t.match(saved(), 'Theirs');
  await page.getByRole('button', { name: 'Overwrite it' }).click();
  await shows('Saved');
  t.match(saved(), 'Mine');
});

t.test('A text that is not saved runs until the line of the caret, and is there again afterwards', async (t) => {
  await write(`() => {\n  agent.go('${shop.url}');\n  agent.text('h1');\n};\n`);
  await page.keyboard.press('Control+Home');
  await page.getByRole('button', { name: 'Run until line 1' }).waitFor();
  t.equal(await page.getByRole('button', { name: 'Run until line 1' }).isDisabled(), true, 'nothing runs before it');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.getByRole('button', { name: 'Run until line 3' }).click();
  const newest = async () => (await service.call('GET', '/api/sessions?limit=1')).body[0];
  await eventually('the flow stops', async () => (await newest())?.handoff != null, 60_000);
  const record = await newest();
  await shows('Stopped before line 3');
  await service.call('POST', `/api/sessions/${record.id}/handoff`, { answer: 'done' });
  const state = async () => (await service.call('GET', `/api/sessions/${record.id}`)).body.status;
  await eventually('the flow goes on', async () => (await state()) === 'completed', 60_000);
  await page.goto(`${service.url}/#/flows/own/first.js`);
  await shows('Not saved');
  await holds(
    `document.querySelector('[aria-label=Editor] .host')?.shadowRoot?.textContent.includes("agent.text('h1')")`,
  );
  t.match(saved(), 'Mine');
});

t.test('The editor loads and runs nothing that the content security policy forbids', async (t) => {
  // A browser that replaces all of an editable text tries to keep its style, which the policy refuses.
  t.same(
    problems.filter((text) => !/status of 412|Applying inline style/.test(text)),
    [],
  );
});
