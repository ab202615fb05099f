import { forMembers } from './account.mjs';
import { cartLines, sumOf } from './cart.mjs';
import { price } from './catalog.mjs';
import { checkoutSteps, faultsOf, field, labelOf, readFields, SHIPPINGS } from './checkout-form.mjs';
import { html } from './html.mjs';
import { page, redirect } from './replies.mjs';

export const checkoutRoutes = [
  ['GET', '/checkout', forMembers(showStep)],
  ['POST', '/checkout', forMembers(takeStep)],
];

/** The step that is asked for, as an index; the second only once the first was filled in. */
function stepOf(visit, steps) {
  return visit.query.get('step') === '2' && visit.session.draft !== null ? steps.length - 1 : 0;
}

function showStep(visit) {
  if (visit.session.cart.size === 0) return redirect('/cart');
  const steps = checkoutSteps(visit.layout);
  const values = { fullName: visit.session.account.name, shipping: 'standard', ...visit.session.draft };
  return checkoutPage(visit, { steps, step: stepOf(visit, steps), values, faults: [] });
}

async function takeStep(visit) {
  const { session, store } = visit;
  if (session.cart.size === 0) return redirect('/cart');
  const steps = checkoutSteps(visit.layout);
  const step = stepOf(visit, steps);
  const values = { ...session.draft, ...readFields(await visit.form(), steps[step]) };
  const faults = faultsOf(values, steps[step]);
  if (faults.length > 0) return checkoutPage(visit, { steps, step, values, faults });
  if (step < steps.length - 1) {
    session.draft = values;
    return redirect('/checkout?step=2');
  }
  const { terms: _, ...address } = values;
  const lines = cartLines(session);
  const shippingCents = SHIPPINGS.get(values.shipping).cents;
  const order = store.addOrder({
    user: session.account.user,
    ...address,
    lines,
    shippingCents,
    totalCents: sumOf(lines) + shippingCents,
  });
  session.cart.clear();
  session.draft = null;
  return redirect(`/orders/${order.number}?placed`);
}

function checkoutPage(visit, { steps, step, values, faults }) {
  const { layout, session } = visit;
  const last = step === steps.length - 1;
  const title = steps.length === 1 ? 'Checkout' : `Checkout, step ${step + 1} of ${steps.length}`;
  const main = html`<h1>${title}</h1>
${faults.length > 0 && faultList(faults, layout)}
<p class="hint">${session.cart.size === 1 ? 'One product' : `${session.cart.size} products`}, ${price(sumOf(cartLines(session)))} without shipping.</p>
<form method="post" action="/checkout${step > 0 && '?step=2'}" enctype="multipart/form-data" class="stack" novalidate>
${steps[step].map((name) => field(name, { values, faults, layout }))}
<p><button>${last ? layout.words.order : 'Continue'}</button></p>
</form>`;
  return page(visit, { status: faults.length > 0 ? 422 : 200, title, main });
}

function faultList(faults, { words }) {
  return html`<div role="alert" class="alert"><p>Please look at ${faults.length === 1 ? 'one field' : `${faults.length} fields`} again:</p>
<ul>${faults.map(([name, message]) => html`<li>${labelOf(name, words)}: ${message}</li>`)}</ul></div>`;
}
