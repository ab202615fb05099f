import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { fillHome } from '../support/many-sessions.js';
import { openReader } from '../support/reader.js';
import { makeHome, startTestService } from '../support/service.js';

guardLeaks(t);

const WIDTHS = [390, 1024, 1440] as const;
const SCHEMES = ['light', 'dark'] as const;
/** Where pictures of all pages are written, to be looked at; none if it is not set. */
const folder = process.env.TROUPE_PICTURES;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const { page, problems, shows } = await openReader(t);

/** Each page, and a text that it has when it is ready; `full`: with sessions only; `same`: with any number. */
const PAGES: readonly { path: string; text: string; full?: true; same?: true }[] = [
  { path: '#/', text: 'New' },
  { path: '#/runs/RUN', text: 'Re-run failed', full: true },
  { path: '#/sessions', text: 'running' },
  { path: '#/sessions/FAILED', text: 'Artifacts', full: true },
  { path: '#/sessions/FAILED/video', text: 'No video was kept', full: true },
  { path: '#/wall', text: 'No browsers running' },
  { path: '#/flows', text: 'examples/buy.js' },
  { path: '#/flows/examples/buy.js', text: 'Arguments' },
  { path: '#/stats', text: 'Statistics' },
  { path: '#/stats/orders/download-the-invoice', text: 'Failures by code', full: true },
  { path: '#/new', text: 'For an agent' },
  { path: '#/new?flow=examples/buy.js', text: 'As curl' },
  { path: '#/api', text: 'Sessions', same: true },
  { path: '#/api/getApiSessionsId', text: 'Try it', same: true },
];

async function findings(only: readonly string[] = []): Promise<readonly string[]> {
  await page.evaluate(axe);
  return await page.evaluate(
    `axe.run(document, ${JSON.stringify(only.length === 0 ? {} : { runOnly: only })}).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ' ' + target + ' ' + failureSummary)))`,
  );
}

for (const count of [0, 30, 3_000]) {
  t.test(`With ${count} sessions, every page fits every width, and axe finds nothing`, async (t) => {
    const home = makeHome(t);
    if (count > 0) await fillHome(home, count, Date.now());
    const service = await startTestService(t, {}, home);
    const [failed] = (await service.call('GET', '/api/sessions?state=failed&limit=1')).body;
    for (const { path, text, full, same } of PAGES) {
      if ((full && failed === undefined) || (same && count > 0)) continue;
      const address = path.replace('RUN', failed?.batch).replace('FAILED', failed?.id);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto('about:blank');
        await page.goto(`${service.url}/${address}`);
        await shows(text);
        for (const colorScheme of SCHEMES) {
          await page.emulateMedia({ colorScheme });
          const wide: number = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
          t.ok(wide <= 0, `${path}, ${width}: nothing is beyond the edge`);
          if (folder !== undefined) {
            mkdirSync(folder, { recursive: true });
            const name = `${path.replace(/\W+/g, '-')}-${count}-${width}-${colorScheme}.png`;
            await page.screenshot({ path: join(folder, name), fullPage: true });
          }
          // The narrow layout in light, the wide one in dark: axe takes seconds for a long page.
          if (width === 390 && colorScheme === 'light') t.same(await findings(), [], `${path}, ${width}, light`);
          if (width === 1440 && colorScheme === 'dark') {
            t.same(await findings(count === 30 ? [] : ['color-contrast']), [], `${path}, ${width}, dark`);
          }
        }
      }
    }
    await page.goto('about:blank');
    t.same(problems, [], 'nothing was wrong in the browser');
    await service.stop();
  });
}
