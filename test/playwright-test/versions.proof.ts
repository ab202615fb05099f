import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { startShop } from '../../examples/shop/shop.mjs';
import { guardLeaks } from '../support/leaks.js';
import { type NewestPackage, newestPackage } from '../support/newest-package.js';
import { startTestService } from '../support/service.js';
import { runSuiteIn } from './run-suite.js';

guardLeaks(t);

const Range = z.object({ peerDependencies: z.object({ '@playwright/test': z.string().regex(/^>=\d+\.\d+$/) }) });
const range = Range.parse(JSON.parse(readFileSync('package.json', 'utf8'))).peerDependencies['@playwright/test'];
const OLDEST = `${range.slice(2)}.0`;

for (const tag of [OLDEST, 'latest', 'next']) {
  t.test(`the example suite passes with @playwright/test@${tag}`, async (t) => {
    const playwright = await newestPackage('@playwright/test', tag);
    if ('why' in playwright) {
      t.pass('this Playwright can be installed', { skip: playwright.why });
      return;
    }
    t.comment(`version ${playwright.version}`);
    const shop = await startShop({ port: 0 });
    t.teardown(() => shop.close());
    const service = await startTestService(t, { maxSessions: 3, forward: [Number(new URL(shop.url).port)] });
    const env = { TROUPE_URL: service.url, SHOP_URL: shop.url, OUTPUT_DIR: join(t.testdir(), 'out') };
    const { outcomes, said } = await runSuiteIn(projectOf(t, playwright), 'suite', env);
    const statuses = Object.values(outcomes).map(({ status }) => status);
    t.same(statuses, Array(10).fill('passed'), said.slice(0, 5_000));
    t.match(said, `"version": "${playwright.version}"`, 'it is the Playwright that ran');
    const { body } = await service.call('GET', '/api/sessions?label=suite=shop');
    t.equal(body.length, 10);
  });
}

/** The example in a project that has Troupe and another Playwright installed. What else Troupe needs is the checkout's. */
function projectOf(t: Test, playwright: NewestPackage): string {
  const project = join(t.testdirName, 'project');
  const troupe = join(project, 'node_modules', 'troupe');
  cpSync('dist', join(troupe, 'dist'), { recursive: true });
  cpSync('package.json', join(troupe, 'package.json'));
  cpSync('examples/playwright', join(project, 'suite'), { recursive: true });
  // Without it, the project would be a folder of the package "troupe", which finds itself before node_modules.
  writeFileSync(join(project, 'package.json'), '{"private": true}');
  symlinkSync(playwright.file('@playwright'), join(project, 'node_modules', '@playwright'));
  return project;
}
