import t from 'tap';
import { startShop } from '../../examples/shop/shop.mjs';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const shop = await startShop({ port: 0 });
t.teardown(() => shop.close());
const service = await startTestService(t, { forward: [Number(new URL(shop.url).port)] });
const { id } = await service.live();

const value = async (js: string) => {
  const { status, body } = await service.run(id, js);
  if (status !== 200) throw new Error(`${js}: ${JSON.stringify(body)}`);
  return body;
};

t.test('a script uses page beside agent', async (t) => {
  t.equal(await value(`await page.goto(${JSON.stringify(shop.url)}); await page.title()`), 'Products · Teapot & Pen');
  t.equal(await value(`page.getByRole('link', {name: 'Log in'}).click(); agent.tabs()[0].url`), `${shop.url}/login`);
  t.match(await value('expect(page).toHaveURL(/login$/); page.url()'), /login$/);
});
