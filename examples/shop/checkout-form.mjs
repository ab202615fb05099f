import { price } from './catalog.mjs';
import { html } from './html.mjs';

export const COUNTRIES = new Map([
  ['AT', 'Austria'],
  ['BE', 'Belgium'],
  ['DK', 'Denmark'],
  ['FR', 'France'],
  ['DE', 'Germany'],
  ['IT', 'Italy'],
  ['JP', 'Japan'],
  ['NL', 'Netherlands'],
  ['ES', 'Spain'],
  ['CH', 'Switzerland'],
]);

export const SHIPPINGS = new Map([
  ['standard', { name: 'Standard', cents: 490 }],
  ['express', { name: 'Express', cents: 1250 }],
  ['pickup', { name: 'Pick up in the shop', cents: 0 }],
]);

const ADDRESS = ['fullName', 'street', 'postcode', 'city', 'country'];
const DELIVERY = ['shipping', 'deliveryDate', 'reference', 'note', 'attachment', 'terms'];
const MOVED_ADDRESS = ['country', 'postcode', 'city', 'street', 'fullName'];
const MOVED_DELIVERY = ['deliveryDate', 'note', 'reference', 'attachment', 'shipping', 'terms'];

/** The fields of each step of the checkout, in the order of the layout. */
export function checkoutSteps({ moved, split }) {
  const address = moved ? MOVED_ADDRESS : ADDRESS;
  const delivery = moved ? MOVED_DELIVERY : DELIVERY;
  return split ? [address, delivery] : [[...address, ...delivery]];
}

const LENGTHS = { fullName: 100, street: 100, postcode: 10, city: 100, reference: 64, note: 500 };

/** What the fields of a form hold, as text; the attachment as `{name, bytes}`, since its content is not kept. */
export function readFields(form, names) {
  const values = {};
  for (const name of names) {
    const value = form.get(name);
    if (name === 'attachment') {
      const given = typeof value === 'object' && value !== null && value.size > 0;
      values.attachment = given ? { name: value.name.slice(0, 200), bytes: value.size } : null;
    } else {
      values[name] = typeof value === 'string' ? value.trim() : '';
    }
  }
  return values;
}

/** A message for each of the named fields that is wrong: `[name, message]`, in the order of the page. */
export function faultsOf(values, names) {
  return names.map((name) => [name, fault(name, values[name])]).filter(([, message]) => message !== null);
}

function fault(name, value) {
  switch (name) {
    case 'fullName':
    case 'street':
    case 'city':
      return value === '' ? 'Please fill this in.' : tooLong(name, value);
    case 'postcode':
      return /^[A-Za-z0-9][A-Za-z0-9 -]{2,9}$/.test(value) ? null : 'A postcode has 3 to 10 letters and digits.';
    case 'country':
      return COUNTRIES.has(value) ? null : 'Please choose a country.';
    case 'shipping':
      return SHIPPINGS.has(value) ? null : 'Please choose how it should come.';
    case 'deliveryDate':
      if (!isDate(value)) return 'Please choose a day.';
      return value < earliestDelivery() ? 'The earliest day is tomorrow.' : null;
    case 'terms':
      return value === 'yes' ? null : 'We need your consent.';
    case 'attachment':
      return null;
    default:
      return tooLong(name, value);
  }
}

function tooLong(name, value) {
  return value.length > LENGTHS[name] ? `At most ${LENGTHS[name]} characters.` : null;
}

function isDate(text) {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
}

function earliestDelivery() {
  return new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
}

/** The label of a field, also for the list of faults above the form. */
export function labelOf(name, words) {
  const others = { postcode: 'Postcode', country: 'Country', note: 'Note for us', attachment: 'Attachment' };
  return words[name] ?? others[name];
}

/** A field with its label, what was entered, and what is wrong with it. */
export function field(name, { values, faults, layout }) {
  const value = values[name] ?? '';
  const message = faults.find(([faulty]) => faulty === name)?.[1];
  const state = message && html`aria-invalid="true" aria-describedby="${name}-fault"`;
  const label = labelOf(name, layout.words);
  const note = message && html`<span class="fault" id="${name}-fault">${message}</span>`;
  const labelled = (control) => html`<p><label for="${name}">${label}</label>${control}${note}</p>`;
  switch (name) {
    case 'country':
      return labelled(html`<select id="country" name="country" ${state}>
<option value="">Choose …</option>
${[...COUNTRIES].map(([code, text]) => html`<option value="${code}" ${value === code && 'selected'}>${text}</option>`)}
</select>`);
    case 'shipping':
      return layout.wrapped
        ? labelled(html`<select id="shipping" name="shipping" ${state}>
${[...SHIPPINGS].map(([id, kind]) => html`<option value="${id}" ${value === id && 'selected'}>${shippingText(kind)}</option>`)}
</select>`)
        : html`<fieldset ${state}><legend>${label}</legend>
${[...SHIPPINGS].map(
  ([id, kind]) =>
    html`<label><input type="radio" name="shipping" value="${id}" ${value === id && 'checked'}> ${shippingText(kind)}</label>`,
)}${note}</fieldset>`;
    case 'deliveryDate':
      return labelled(
        html`<input id="deliveryDate" name="deliveryDate" type="date" min="${earliestDelivery()}" value="${value}" ${state}>`,
      );
    case 'note':
      return labelled(html`<textarea id="note" name="note" rows="3" ${state}>${value}</textarea>`);
    case 'attachment':
      return labelled(html`<input id="attachment" name="attachment" type="file">`);
    case 'terms':
      return html`<p><label><input type="checkbox" name="terms" value="yes" ${value === 'yes' && 'checked'} ${state}> ${label}</label>${note}</p>`;
    default:
      return labelled(html`<input id="${name}" name="${name}" value="${value}" ${state}>`);
  }
}

function shippingText({ name, cents }) {
  return cents === 0 ? `${name}, free` : `${name}, ${price(cents)}`;
}
