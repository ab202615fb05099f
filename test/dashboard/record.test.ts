import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openSite } from '../support/agent-fixture.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { openReader } from '../support/reader.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const service = await startTestService(t, { maxSessions: 2 });
const site = await openSite(t);
const place = (x: number, y: number) => `style="position:absolute;left:${x}px;top:${y}px;width:200px;height:40px"`;
const shop = site.set(
  '/',
  `<title>Shop</title><input aria-label=Search ${place(50, 50)}>
   <button ${place(400, 50)} onclick="count.textContent = Number(count.textContent) + 1">Add</button>
   <p id=count ${place(50, 150)}>0</p>`,
);
const { page, shows, holds, problems } = await openReader(t);
const { id } = await service.live();
await service.run(id, `agent.go('${shop}')`);

const button = (name: string) => page.getByRole('button', { name, exact: true });
const save = page.getByRole('region', { name: 'Recording' }).getByRole('button', { name: 'Save as flow' });
const text = page.getByLabel('Recorded flow');
async function recorded(wanted: string): Promise<void> {
  await eventually('the flow is recorded', async () => (await text.inputValue()) === wanted, 15_000).catch(async () => {
    throw new Error(`The flow is not as wanted:\n${await text.inputValue()}`);
  });
}

/** Clicks in the picture, at a point of the page. */
async function clickAt(x: number, y: number): Promise<void> {
  await page.locator('canvas').scrollIntoViewIfNeeded();
  const box = await page.locator('canvas').boundingBox();
  const ratio = await page.evaluate<string>(`getComputedStyle(document.querySelector('canvas')).aspectRatio`);
  const [width = 1, height = 1] = ratio.split(' / ').map(Number);
  if (box === null) throw new Error('The picture is not to be seen');
  await page.mouse.click(box.x + (x * box.width) / width, box.y + (y * box.height) / height);
}

const begun = `agent.go('${shop}');\nagent.act('{input}Search', 'input', 'tea');\n`;
const added = "agent.act('{button}Add', 'click');\n";
const asserted = "agent.expect('#count').toHaveText('1');\n";

t.test('What a person with control does stands beside the picture as a flow, and what they assert', async (t) => {
  await page.goto(`${service.url}/#/sessions/${id}`);
  await holds('document.querySelector("canvas.shown")?.width > 300');
  t.equal(await text.count(), 0, 'nobody has control');
  await button('Take control').click();
  await button('Record').click();
  await shows('What you do in the page becomes lines of this flow.');
  await clickAt(150, 70);
  await page.keyboard.type('tea');
  await recorded(begun);
  await clickAt(500, 70);
  await recorded(begun + added);
  await button('Assert').click();
  await shows('the flow then expects what it shows');
  await clickAt(70, 185);
  await recorded(begun + added + asserted);
  t.match(await service.call('GET', `/api/sessions/${id}`), { body: { status: 'running' } });
});

t.test('A locator is picked by pointing, and no part of the flow', async () => {
  await button('Pick locator').click();
  await shows('Select an element to see its locator.');
  await clickAt(500, 70);
  await shows('{button}Add');
  await recorded(begun + added + asserted);
});

t.test('An edited text stays as it is: what comes then goes to its end, and a reload keeps it', async () => {
  const edited = `// Buys tea.\n${begun}${added}// Once is enough.\n`;
  await text.fill(edited);
  await clickAt(500, 70);
  await recorded(edited + added);
  await page.reload();
  await recorded(edited + added);
  // The control of the page before is kept for a moment.
  await page.getByRole('button', { name: /^Take (control|over)$/ }).click();
  await button('Stop recording').click();
  await clickAt(500, 70);
  await button('Record').click();
  // Another start says where it begins.
  await recorded(`${edited}${added}agent.go('${shop}');\n`);
  await text.fill(begun + added);
});

t.test('It is saved as a flow, which then passes, and never over another one', async (t) => {
  await save.click();
  await page.getByLabel('Path below flows/').fill('recorded/tea');
  await button('Save').click();
  await shows('Saved as recorded/tea.js');
  t.equal(
    readFileSync(join(service.home, 'flows', 'recorded', 'tea.js'), 'utf8'),
    `// What it does.\n${begun}${added}`,
  );
  await button('Close').click();
  await save.click();
  await page.getByLabel('Path below flows/').fill('recorded/tea');
  await button('Save').click();
  await eventually('it is refused', async () => (await page.getByRole('alert').count()) > 0);
  await button('Close').click();
  t.match(await service.job({ flowFiles: ['recorded/tea.js'] }), { status: 'completed' });
});

t.test('The recording is still there when the session has ended', async (t) => {
  await service.call('DELETE', `/api/sessions/${id}`);
  await page.getByRole('tab', { name: 'Recording' }).waitFor();
  await recorded(begun + added);
  const downloads = page.waitForEvent('download');
  await button('Download').click();
  t.equal((await downloads).suggestedFilename(), 'recorded.js');
  t.same(
    problems.filter((text) => !/status of 412/.test(text)),
    [],
  );
});
