import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { renderIndexHtml } from '#troupe/report/suite/index-html.js';
import { guardLeaks } from '../../support/leaks.js';
import { openReader } from '../../support/reader.js';
import { FAILURE, flowResult, HOSTILE, sampleFlows, sampleSuite } from './suite-fixture.js';

guardLeaks(t);

const htmlOf = (...args: Parameters<typeof sampleSuite>) =>
  [...renderIndexHtml(sampleSuite(...args), (path) => path)].join('');

t.test('An index over 200 failures with long texts stays under 5 MB', async (t) => {
  const long = '<'.repeat(100_000);
  const failure = {
    ...FAILURE,
    message: long,
    frame: long,
    expected: long,
    received: long,
    nearMisses: Array.from({ length: 10 }, () => long.slice(0, 300)),
    history: Array.from({ length: 10 }, (_, n) => ({ value: long.slice(0, 200), fromMs: n })),
    console: Array.from({ length: 5 }, () => ({ text: long, url: long, step: 1 })),
    requests: Array.from({ length: 5 }, () => ({ method: 'POST', url: long, status: 500, step: 1, body: long })),
    pending: { requests: Array.from({ length: 5 }, () => ({ method: 'GET', url: long, ms: 1 })), timers: [] },
    earlierSteps: Array.from({ length: 5 }, (_, n) => ({ index: n, js: long, outcome: long })),
    noScreenshot: long,
    noTrace: long,
  };
  const flows = Array.from({ length: 200 }, (_, n) => flowResult(`f${n}`, { outcome: 'failed', failure }));
  const bytes = Buffer.byteLength(htmlOf(flows));
  t.ok(bytes < 5_000_000, `${bytes} bytes`);
});

t.test('The index opens from a file, filters its flows, and runs nothing of what flows and pages say', async (t) => {
  const { page, problems, hosts, shows } = await openReader(t);
  const failure = {
    ...FAILURE,
    message: HOSTILE,
    frame: HOSTILE,
    nearMisses: [HOSTILE],
    step: { index: 1, js: HOSTILE, url: 'javascript:alert(4)', title: HOSTILE },
    url: 'javascript:alert(6)',
    title: HOSTILE,
  };
  const many = Array.from({ length: 195 }, (_, n) => flowResult(`area-${n % 9}/flow-${n}`));
  const hostile = flowResult(`x/${HOSTILE}`, {
    outcome: 'failed',
    failure,
    tags: [HOSTILE],
    again: HOSTILE,
    report: `javascript:alert(5)//${HOSTILE}`,
    quarantine: null,
  });
  const suite = { ...sampleSuite([...sampleFlows(), ...many, hostile]), name: HOSTILE, labels: { [HOSTILE]: HOSTILE } };
  const file = join(t.testdir({}), 'index.html');
  writeFileSync(
    file,
    [...renderIndexHtml(suite, (path) => path.split('/').map(encodeURIComponent).join('/'))].join(''),
  );
  let dialogs = 0;
  page.on('dialog', () => {
    dialogs += 1;
  });
  await page.goto(pathToFileURL(file).href);
  await shows('201 of 201');
  const opened = page.locator('details[open]');
  t.equal(await opened.count(), 2, 'a few failures are open at once');
  for (const row of await opened.all()) {
    t.ok(await row.locator('summary .state').isVisible(), 'how it ended is there while the row is open');
    t.notOk(await row.locator('summary .reason').isVisible(), 'its message is in the card');
  }
  await page.getByRole('button', { name: 'Flaky 1' }).click();
  await shows('1 of 201');
  t.ok(await page.getByText('Flaky: passed in 1.2 s (attempt 2 of 2)').isVisible());
  t.notOk(await page.getByText('shop/pay', { exact: true }).isVisible());
  await page.getByRole('button', { name: /^All/ }).click();
  await page.getByRole('searchbox').fill('@smoke shop');
  await shows('1 of 201');
  t.ok(await page.getByText('new since abcdef01').isVisible());
  t.equal(await page.locator('a[href^="javascript:" i], img[onerror], body script + script').count(), 0);
  t.same([...hosts], [], 'nothing is asked of any server');
  t.equal(dialogs, 0);
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await page.getByRole('searchbox').fill('');
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), width, 'no text is wider than the page');
  }
  t.same(
    problems.filter((text) => !/ERR_FILE_NOT_FOUND/.test(text)),
    [],
    'no errors; the pictures of this run do not exist',
  );
});
