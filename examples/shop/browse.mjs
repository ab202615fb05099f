import { setTimeout as delay } from 'node:timers/promises';
import { catalog, drawing, price } from './catalog.mjs';
import { html } from './html.mjs';
import { failure, page, redirect } from './replies.mjs';

/** Looking around: the product list, a product, the search. */
export const browseRoutes = [
  ['GET', '/', productList],
  ['GET', '/products/:slug', product],
  ['GET', '/art/:file', art],
  ['GET', '/search', searchPage],
  ['GET', '/api/search', searchAnswer],
  ['POST', '/notice', (visit) => ({ ...redirect(visit.back), cookies: ['notice=answered'] })],
];

function productList(visit) {
  const main = html`<h1>Products</h1>
<ul class="cards">${catalog.products.map(
    ({ slug, name, category, cents }) => html`<li>
<img src="/art/${slug}.svg" alt="" width="160" height="160">
<h2><a href="/products/${slug}">${name}</a></h2>
<p>${category} <span class="price">${price(cents)}</span></p>
</li>`,
  )}</ul>`;
  return page(visit, { title: 'Products', main });
}

function product(visit) {
  const found = catalog.find(visit.params.slug);
  if (found === null) return failure(visit, 404, 'No such product', 'We do not sell this, or no longer.');
  const { slug, name, text, cents } = found;
  const { words, wrapped } = visit.layout;
  const quantity = wrapped
    ? html`<select id="quantity" name="quantity">${[1, 2, 3, 4, 5].map((n) => html`<option>${n}</option>`)}</select>`
    : html`<input id="quantity" name="quantity" type="number" min="1" max="20" value="1" required>`;
  const main = html`<div class="product">
<img src="/art/${slug}.svg" alt="" width="320" height="320">
<div>
<h1>${name}</h1>
<p>${text}</p>
<p class="price">${price(cents)}</p>
<form method="post" action="/cart/add" class="row">
<input type="hidden" name="slug" value="${slug}">
<label for="quantity">Quantity</label> ${quantity}
<button>${words.add}</button>
</form>
</div>
</div>`;
  return page(visit, { title: name, main });
}

function art(visit) {
  const found = catalog.find(visit.params.file.replace(/\.svg$/, ''));
  if (found === null) return failure(visit, 404, 'No such picture', 'There is no product of this name.');
  const headers = { 'content-type': 'image/svg+xml', 'cache-control': 'max-age=3600' };
  return { status: 200, headers, body: drawing(found) };
}

function searchPage(visit) {
  const main = html`<h1>Search</h1>
<form id="search" action="/search" class="row" role="search">
<label for="q">Search for</label>
<input id="q" name="q" type="search" value="${visit.query.get('q')}" autocomplete="off" maxlength="100">
<button>Search</button>
</form>
<p id="status" role="status"></p>
<ul id="results" class="rows" data-add="${visit.layout.words.add}"></ul>
<noscript><p>The search needs JavaScript.</p></noscript>`;
  return page(visit, { title: 'Search', main, scripts: ['search.js'] });
}

/** A line of JSON for each product. The first comes after 300 to 500 ms, the last before 800, as from a slow index. */
function searchAnswer(visit) {
  const query = (visit.query.get('q') ?? '').slice(0, 100);
  return { status: 200, headers: { 'content-type': 'application/x-ndjson' }, body: lines(query, visit.signal) };
}

async function* lines(query, signal) {
  const found = catalog.search(query);
  const firstMs = 300 + ([...query].reduce((sum, character) => sum + (character.codePointAt(0) ?? 0), 0) % 200);
  await delay(firstMs, undefined, { signal });
  for (const { slug, name, text, cents } of found) {
    yield `${JSON.stringify({ slug, name, text, price: price(cents) })}\n`;
    await delay(280 / found.length, undefined, { signal });
  }
}
