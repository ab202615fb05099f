import { forMembers } from './account.mjs';
import { price } from './catalog.mjs';
import { COUNTRIES, SHIPPINGS } from './checkout-form.mjs';
import { html } from './html.mjs';
import { download, failure, json, page } from './replies.mjs';

/** The order book: for people who have logged in, and as JSON for those who count. */
export const orderRoutes = [
  ['GET', '/orders', forMembers(orderList)],
  ['GET', '/orders/:number', forMembers(withOrder(orderPage))],
  ['GET', '/orders/:number/invoice.txt', forMembers(withOrder(invoice))],
  ['GET', '/orders/:number/lines.csv', forMembers(withOrder(csv))],
  ['GET', '/api/orders', orderBook],
  ['POST', '/api/reset', reset],
];

/** Every order of everybody, oldest first; `?reference=` picks those that carry it. */
function orderBook(visit) {
  const reference = visit.query.get('reference');
  return json(visit.store.orders().filter((order) => reference === null || order.reference === reference));
}

function reset(visit) {
  visit.store.reset();
  return json({ reset: true });
}

function withOrder(handler) {
  return (visit) => {
    const order = visit.store.order(visit.params.number);
    // Somebody else's order is no order: the answer must not tell whether the number exists.
    return order?.user === visit.session.account.user
      ? handler(visit, order)
      : failure(visit, 404, 'No such order', 'There is no order of yours with this number.');
  };
}

function orderList(visit) {
  const { user } = visit.session.account;
  const orders = visit.store.orders().filter((order) => order.user === user);
  const main = html`<h1>Orders</h1>
${
  orders.length === 0
    ? html`<p>You have not ordered anything yet.</p>`
    : html`<div class="scroll"><table>
<thead><tr><th scope="col">Number</th><th scope="col">Day</th><th scope="col">Reference</th><th scope="col">Total</th></tr></thead>
<tbody>${orders
        .slice(-100)
        .reverse()
        .map(
          (order) => html`<tr>
<td><a href="/orders/${order.number}">${order.number}</a></td>
<td>${order.placedAt.slice(0, 10)}</td>
<td>${order.reference}</td>
<td class="price">${price(order.totalCents)}</td>
</tr>`,
        )}</tbody>
</table></div>`
}`;
  return page(visit, { title: 'Orders', main });
}

function orderPage(visit, order) {
  const fact = (id, name, value) => value && html`<dt>${name}</dt><dd id="${id}">${value}</dd>`;
  const main = html`<h1>${visit.query.has('placed') ? `Thank you, ${visit.session.account.name}` : 'Order'}</h1>
${visit.query.has('placed') && html`<p role="status" class="done">Your order was placed.</p>`}
<dl>
${fact('order-number', 'Order number', order.number)}
${fact('order-total', 'Total', price(order.totalCents))}
${fact('order-address', 'Goes to', `${order.fullName}, ${order.street}, ${order.postcode} ${order.city}, ${COUNTRIES.get(order.country)}`)}
${fact('order-shipping', 'Shipping', SHIPPINGS.get(order.shipping).name)}
${fact('order-date', 'Delivery date', order.deliveryDate)}
${fact('order-reference', 'Reference', order.reference)}
${fact('order-note', 'Note', order.note)}
${order.attachment && fact('order-attachment', 'Attachment', `${order.attachment.name} (${order.attachment.bytes} bytes)`)}
</dl>
<div class="scroll"><table>
<thead><tr><th scope="col">Product</th><th scope="col">Quantity</th><th scope="col">Sum</th></tr></thead>
<tbody>${order.lines.map((line) => html`<tr><td>${line.name}</td><td>${line.quantity}</td><td class="price">${price(line.sumCents)}</td></tr>`)}</tbody>
</table></div>
<p class="row"><a href="/orders/${order.number}/invoice.txt">Invoice (text)</a> <a href="/orders/${order.number}/lines.csv">Lines (CSV)</a></p>`;
  return page(visit, { title: `Order ${order.number}`, main });
}

function invoice(_visit, order) {
  const lines = order.lines.map(
    (line) => `${String(line.quantity).padStart(3)} x ${line.name.padEnd(30)}${price(line.sumCents).padStart(10)}`,
  );
  const text = [
    `Teapot & Pen                        Invoice ${order.number}`,
    '',
    order.fullName,
    order.street,
    `${order.postcode} ${order.city}`,
    COUNTRIES.get(order.country),
    '',
    ...lines,
    `      ${'Shipping'.padEnd(30)}${price(order.shippingCents).padStart(10)}`,
    `      ${'Total'.padEnd(30)}${price(order.totalCents).padStart(10)}`,
    '',
  ];
  return download(`invoice-${order.number}.txt`, 'text/plain', text.join('\n'));
}

function csv(_visit, order) {
  const rows = order.lines.map((line) => [order.number, line.name, line.quantity, (line.sumCents / 100).toFixed(2)]);
  const text = [['order', 'product', 'quantity', 'sum'], ...rows].map((row) => row.map(cell).join(',')).join('\r\n');
  return download(`order-${order.number}.csv`, 'text/csv', `${text}\r\n`);
}

function cell(value) {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
