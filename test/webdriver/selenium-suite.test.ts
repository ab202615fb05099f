import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { startShop } from '../../examples/shop/shop.mjs';
import { chromedrivers } from '../support/chromedrivers.js';
import { guardLeaks } from '../support/leaks.js';
import { skipWithout } from '../support/programs.js';
import { sampled } from '../support/sampled.js';
import { openSelenium } from '../support/selenium.js';
import { startTestService } from '../support/service.js';
import { eachAtOnce } from './each-at-once.js';
import { PAGE_CASES } from './suite/page-cases.js';
import { SHOP_CASES } from './suite/shop-cases.js';

guardLeaks(t);

const AT_ONCE = 4;

t.test(
  'A suite of Selenium passes over test pages and a shop, several tests at a time',
  { skip: skipWithout('chromedriver', 'setpriv') },
  async (t) => {
    const shop = await startShop();
    t.teardown(() => shop.close());
    const pages = await startPages(t);
    const forward = [shop.url, pages].map((url) => Number(new URL(url).port));
    const service = await startTestService(t, { maxSessions: AT_ONCE, createTimeout: 300 });
    const all = [
      ...SHOP_CASES.map((one) => ({ ...one, site: shop.url })),
      ...PAGE_CASES.map((one) => ({ ...one, site: pages })),
    ];
    t.equal(all.length, 40);
    const cases = sampled(all, { proof: 'doors', name: 'selenium suite', count: 8 });
    await eachAtOnce(AT_ONCE, cases, async ({ name, site, run }) => {
      const options = { name: name.slice(0, 200), forward };
      const driver = await openSelenium(t, `${service.url}/wd/hub`, { 'troupe:options': options });
      try {
        await run(driver, site);
        t.pass(name);
      } catch (error) {
        t.fail(name, { error });
      }
      await driver.quit();
    });
    t.same((await service.call('GET', '/api/sessions?state=running')).body, []);
    t.equal((await service.call('GET', '/api/sessions?limit=200')).body.length, cases.length, 'a session for each');
    t.same(chromedrivers(), []);
  },
);

async function startPages(t: { teardown(work: () => void): void }): Promise<string> {
  const server = createServer((request, response) => {
    const name = (request.url ?? '').slice(1);
    const known = readdirSync('test/pages').includes(name);
    response.writeHead(known ? 200 : 404, { 'content-type': 'text/html' });
    response.end(known ? readFileSync(`test/pages/${name}`) : '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
