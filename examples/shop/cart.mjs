import { catalog, price } from './catalog.mjs';
import { html } from './html.mjs';
import { failure, page, redirect } from './replies.mjs';

const MAX_QUANTITY = 20;

export const cartRoutes = [
  ['GET', '/cart', cartPage],
  ['POST', '/cart/add', add],
  ['POST', '/cart/update', update],
  ['POST', '/cart/remove', remove],
  ['POST', '/cart/empty', empty],
];

/** The cart's lines with names and prices as they are now. */
export function cartLines(session) {
  if (!session) return [];
  return [...session.cart].map(([slug, quantity]) => {
    const { name, cents } = catalog.find(slug);
    return { slug, name, quantity, cents, sumCents: cents * quantity };
  });
}

export function sumOf(lines) {
  return lines.reduce((sum, line) => sum + line.sumCents, 0);
}

function cartPage(visit) {
  const { words, wrapped } = visit.layout;
  const lines = cartLines(visit.session);
  const title = words.cart;
  if (lines.length === 0) {
    const main = html`<h1>${title}</h1><p>There is nothing here yet.</p><p><a href="/">See the products</a></p>`;
    return page(visit, { title, main });
  }
  const main = html`<h1>${title}</h1>
<form method="post" action="/cart/update">
<div class="scroll"><table>
<thead><tr><th scope="col">Product</th><th scope="col">Price</th><th scope="col">Quantity</th><th scope="col">Sum</th><td></td></tr></thead>
<tbody>${lines.map((line) => cartRow(line, wrapped))}</tbody>
<tfoot><tr><th scope="row" colspan="3">Total</th><td id="total" class="price">${price(sumOf(lines))}</td><td></td></tr></tfoot>
</table></div>
<p class="row"><button class="quiet">${words.update}</button></p>
</form>
<div class="row">
<form id="empty" method="post" action="/cart/empty"><button class="quiet">${words.empty}</button></form>
<a class="button" href="/checkout">${words.toCheckout}</a>
</div>`;
  return page(visit, { title, main, scripts: ['cart.js'] });
}

function cartRow({ slug, name, quantity, cents, sumCents }, wrapped) {
  const remove = html`<button class="quiet" formaction="/cart/remove" name="slug" value="${slug}" aria-label="Remove ${name}">Remove</button>`;
  return html`<tr>
<td><a href="/products/${slug}">${name}</a></td>
<td>${price(cents)}</td>
<td><input name="quantity.${slug}" type="number" min="0" max="${MAX_QUANTITY}" value="${quantity}" aria-label="Quantity of ${name}"></td>
<td>${price(sumCents)}</td>
<td>${wrapped ? html`<details><summary aria-label="More for ${name}">More</summary>${remove}</details>` : remove}</td>
</tr>`;
}

async function add(visit) {
  const form = await visit.form();
  const slug = String(form.get('slug') ?? '');
  if (catalog.find(slug) === null) return failure(visit, 400, 'No such product', 'We do not sell this, or no longer.');
  const { cart } = visit.openSession();
  const quantity = Math.max(1, count(form.get('quantity') ?? '1'));
  cart.set(slug, Math.min(MAX_QUANTITY, (cart.get(slug) ?? 0) + quantity));
  return redirect('/cart');
}

async function update(visit) {
  const form = await visit.form();
  const { cart } = visit.openSession();
  for (const slug of [...cart.keys()]) {
    const value = form.get(`quantity.${slug}`);
    if (value === null) continue;
    const quantity = count(value);
    if (quantity === 0) cart.delete(slug);
    else cart.set(slug, quantity);
  }
  return redirect('/cart');
}

async function remove(visit) {
  const form = await visit.form();
  visit.session?.cart.delete(String(form.get('slug') ?? ''));
  return redirect('/cart');
}

function empty(visit) {
  visit.session?.cart.clear();
  return redirect('/cart');
}

/** A whole number from 0 to the most one may order; anything else counts as none. */
function count(text) {
  const value = Number(text);
  return Number.isInteger(value) && value > 0 ? Math.min(value, MAX_QUANTITY) : 0;
}
