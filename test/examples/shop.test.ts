import t, { type Test } from 'tap';
import { startShop } from '../../examples/shop/shop.mjs';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

/** Somebody who shops without a browser: keeps cookies, and follows no redirect by itself. */
class Visitor {
  readonly #base: string;
  readonly #cookies = new Map<string, string>();

  constructor(base: string) {
    this.#base = base;
  }

  async fetch(path: string, options: RequestInit = {}): Promise<{ status: number; location: string; text: string }> {
    const cookie = [...this.#cookies].map((pair) => pair.join('=')).join('; ');
    const headers = { ...(cookie === '' ? {} : { cookie }), ...options.headers };
    const response = await fetch(this.#base + path, { ...options, redirect: 'manual', headers });
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=');
      this.#cookies.set(name, value);
    }
    return { status: response.status, location: response.headers.get('location') ?? '', text: await response.text() };
  }

  post(path: string, fields: Record<string, string> = {}): ReturnType<Visitor['fetch']> {
    return this.fetch(path, { method: 'POST', body: new URLSearchParams(fields) });
  }

  async login(): Promise<void> {
    await this.post('/login', { user: 'ada', password: 'lovelace' });
  }
}

async function openShop(t: Test): Promise<{ url: string; visitor: Visitor }> {
  const shop = await startShop({ port: 0 });
  t.teardown(() => shop.close());
  return { url: shop.url, visitor: new Visitor(shop.url) };
}

const address = {
  fullName: 'Ada <i>Lovelace</i>',
  street: '12 St James’s Square',
  postcode: 'SW1Y 4JH',
  city: 'London',
  country: 'BE',
};
const delivery = { shipping: 'express', deliveryDate: '2099-03-04', reference: 'job-7', note: '"&', terms: 'yes' };

function formOf(fields: Record<string, string>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('attachment', new File(['hello'], 'note.txt', { type: 'text/plain' }));
  return form;
}

t.test('An order is placed as it was entered and counted by its reference', async (t) => {
  const { visitor, url } = await openShop(t);
  t.match(await visitor.post('/cart/add', { slug: 'blue-teapot', quantity: '2' }), { status: 303, location: '/cart' });
  t.match(await visitor.fetch('/checkout'), { status: 303, location: '/login?next=%2Fcheckout' });
  const wrong = await visitor.post('/login', { user: 'ada', password: 'hopper', next: '/checkout' });
  t.match(wrong, { status: 403, text: /The user name or the password is wrong\..*name="next" value="\/checkout"/s });
  const right = await visitor.post('/login', { user: 'ada', password: 'lovelace', next: '/checkout' });
  t.match(right, { status: 303, location: '/checkout' });

  const placed = await visitor.fetch('/checkout', { method: 'POST', body: formOf({ ...address, ...delivery }) });
  t.match(placed, { status: 303, location: '/orders/TR-1001?placed' });
  const { text: page } = await visitor.fetch(placed.location);
  t.match(page, 'Ada &lt;i&gt;Lovelace&lt;/i&gt;');
  t.match(page, 'note.txt (5 bytes)');
  t.match((await visitor.fetch('/orders/TR-1001/invoice.txt')).text, /Total +€82\.30/);
  t.match((await visitor.fetch('/orders/TR-1001/lines.csv')).text, 'TR-1001,Blue teapot,2,69.80\r\n');
  t.match((await visitor.fetch('/cart')).text, 'There is nothing here yet.');

  const [order] = JSON.parse((await visitor.fetch('/api/orders?reference=job-7')).text);
  t.match(order, { ...address, ...delivery, terms: undefined, number: 'TR-1001', user: 'ada', totalCents: 8230 });
  t.same(JSON.parse((await visitor.fetch('/api/orders?reference=job-8')).text), []);

  const stranger = new Visitor(url);
  await stranger.post('/login', { user: 'grace', password: 'hopper' });
  t.match(await stranger.fetch('/orders/TR-1001'), { status: 404 });
  await stranger.post('/api/reset');
  t.equal((await visitor.fetch('/api/orders')).text.trim(), '[]');
});

t.test('A checkout with faults names each of them and places nothing', async (t) => {
  const { visitor } = await openShop(t);
  await visitor.login();
  await visitor.post('/cart/add', { slug: 'tea-cup' });
  const form = formOf({ ...address, ...delivery, country: 'XX', deliveryDate: '2020-01-01', note: 'x'.repeat(501) });
  const { status, text } = await visitor.fetch('/checkout', { method: 'POST', body: form });
  t.equal(status, 422);
  t.same(
    [...text.matchAll(/id="(\w+)-fault">([^<]+)</g)].map(([, name, message]) => `${name}: ${message}`),
    [
      'country: Please choose a country.',
      'deliveryDate: The earliest day is tomorrow.',
      'note: At most 500 characters.',
    ],
  );
  t.equal((await visitor.fetch('/api/orders')).text.trim(), '[]');
});

t.test('Layout b stays until another is asked for, and its checkout takes two steps', async (t) => {
  const { visitor } = await openShop(t);
  await visitor.login();
  await visitor.fetch('/?layout=b');
  t.match((await visitor.fetch('/products/tea-cup')).text, /Put in basket.*<dialog id="notice"/s);
  await visitor.post('/notice');
  t.notMatch((await visitor.fetch('/products/tea-cup')).text, '<dialog');
  await visitor.post('/cart/add', { slug: 'tea-cup' });
  t.match((await visitor.fetch('/checkout?step=2')).text, 'Checkout, step 1 of 2', 'no step can be skipped');
  const first = await visitor.fetch('/checkout', { method: 'POST', body: formOf(address) });
  t.match(first, { status: 303, location: '/checkout?step=2' });
  const second = await visitor.fetch(first.location, { method: 'POST', body: formOf(delivery) });
  t.match(second, { status: 303, location: '/orders/TR-1001?placed' });
  t.match((await visitor.fetch('/products/tea-cup?layout=rename-split')).text, /<main>.*Put in basket/s);
  t.match((await visitor.fetch('/products/tea-cup?layout=a')).text, 'Add to cart');
  t.match((await visitor.fetch('/products/tea-cup?layout=nonsense')).text, 'Add to cart');
});

t.test('Search results come late, one after the other', async (t) => {
  const { url } = await openShop(t);
  const startedAt = performance.now();
  const response = await fetch(`${url}/api/search?q=tea`);
  const arrivals: number[] = [];
  let text = '';
  for await (const chunk of response.body ?? []) {
    arrivals.push(performance.now() - startedAt);
    text += Buffer.from(chunk).toString();
  }
  const names = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).name);
  t.same(names, ['Blue teapot', 'Green teapot', 'Tea cup', 'Green tea, 100 g']);
  t.ok((arrivals[0] ?? 0) >= 295, `the first after ${arrivals[0]} ms`);
  t.ok(arrivals.length > 1, 'not all at once');
});

t.test('What is not for the shop is refused: other sites, other places, too much, and no form', async (t) => {
  const { visitor, url } = await openShop(t);
  const foreign = { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } };
  t.match(await visitor.fetch('/api/reset', foreign), { status: 403 });
  for (const next of ['//evil.test/', '/\\evil.test', 'https://evil.test/']) {
    t.match(await visitor.post('/login', { user: 'ada', password: 'lovelace', next }), { status: 303, location: '/' });
  }
  t.match(await visitor.post('/cart/add', { slug: 'x'.repeat(1024 * 1024) }), { status: 413 });
  const broken = { method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=x' }, body: 'nothing' };
  t.match(await visitor.fetch('/cart/add', broken), { status: 400 });
  t.match(await visitor.fetch('/nowhere'), { status: 404 });
  t.match(await visitor.fetch('/cart/add'), { status: 405 });
  t.match((await visitor.fetch('/search?q=%22%3E%3Cscript%3E')).text, 'value="&quot;&gt;&lt;script&gt;"');
  t.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
});
