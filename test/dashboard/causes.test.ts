import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import t from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { openReader } from '../support/reader.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const FOLDER = 'examples/suite/flows/broken';

/** What the first click shows of each cause; `mark`: it is about an element that the page shows. */
const CAUSES: { readonly [flow: string]: { readonly texts: readonly string[]; readonly mark?: true } } = {
  'ambiguous-locator': { texts: ['LOCATOR_AMBIGUOUS', '{button:6}Edit'] },
  'covered-element': { texts: ['ACTION_FAILED', 'is covered by'], mark: true },
  'late-text': { texts: ['MATCH_FAILED', 'Expected', '12', 'loading'], mark: true },
  'missing-element': { texts: ['LOCATOR_NOT_FOUND', '{button}Publish now'] },
  'page-exception': { texts: ['MATCH_FAILED', 'Page errors', 'TypeError'], mark: true },
  'server-error': { texts: ['MATCH_FAILED', 'Failed requests', '500', '/office/broken/save'], mark: true },
  'syntax-error': { texts: ['SCRIPT_ERROR', "Unexpected token ';'"] },
  timeout: { texts: ['WAIT_TIMEOUT'] },
  'wrong-dialog': { texts: ['MATCH_FAILED', 'Archive 3 orders?'] },
  'wrong-text': { texts: ['MATCH_FAILED', '€39.90', '€34.90'], mark: true },
};

const office = spawn(process.execPath, ['examples/suite/office/main.mjs', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
t.teardown(async () => {
  const ended = once(office, 'close');
  office.kill();
  await ended;
});
const [opened] = await once(createInterface(office.stdout), 'line');
const base = /http:\S+/.exec(String(opened))?.[0] ?? '';
const service = await startTestService(t, { maxSessions: 2, forward: [Number(new URL(base).port)] });
const { page, shows, holds } = await openReader(t);
page.setDefaultTimeout(120_000);

t.test('From a failed run, two clicks lead to the line, the picture and the request of each cause', async (t) => {
  const names = readdirSync(FOLDER).map((file) => file.replace(/\.js$/, ''));
  t.same(names.sort(), Object.keys(CAUSES).sort());
  const flows = Object.fromEntries(
    names.map((name) => [`broken/${name}.js`, readFileSync(`${FOLDER}/${name}.js`, 'utf8')]),
  );
  const jobs = names.map((name) => {
    return { prompt: name, name, flowFiles: [`broken/${name}.js`], maxIterations: 0, args: { base } };
  });
  const run = (await service.call('POST', '/api/batches', { name: 'Ten causes', flows, jobs })).body.id;
  const ended = async () => (await service.call('GET', `/api/batches/${run}`)).body.endedAt !== null;
  await eventually('the run ends', ended, 300_000);
  for (const [name, { texts, mark }] of Object.entries(CAUSES)) {
    await page.goto(`${service.url}/#/runs/${run}`);
    await page.getByRole('link', { name, exact: true }).click();
    const card = page.getByRole('region', { name: texts[0] ?? '' });
    await card.getByLabel('Source').waitFor();
    // The record has the frame too; the place with its column is of the report.
    await card
      .getByText(new RegExp(`broken/${name}\\.js:\\d+:\\d+`))
      .first()
      .waitFor();
    const text = ((await card.textContent()) ?? '').replace(/\s+/g, ' ');
    for (const wanted of texts) t.match(text, wanted, `${name}: ${wanted}`);
    t.match(text, new RegExp(`broken/${name}\\.js:\\d+:\\d+`), `${name} has its place`);
    t.match(text, /> ?\d+ \|/, `${name} has its line`);
    // A busy machine may not draw the page in time: then there is no picture, and no element in it.
    const id = page.url().split('/').at(-1);
    const { failure } = (await service.call('GET', `/api/sessions/${id}/report.json`)).body;
    const pictured = failure.screenshot !== undefined;
    if (pictured) await holds('document.querySelector("figure img")?.naturalWidth > 300');
    if (!mark) t.notOk(failure.box, `${name}: no element to mark`);
    t.equal(await card.locator('.mark').count(), pictured && failure.box !== undefined ? 1 : 0, `${name}: the mark`);
    await page.getByRole('tab', { name: 'Network' }).click();
    await shows(name === 'syntax-error' ? 'The session made no requests' : '/office/');
  }
});
