import { html } from '../../shop/html.mjs';
import { json } from '../../shop/replies.mjs';
import { officePage } from './office.mjs';

/** Pages on which flows fail: always, and every other time. */
export const brokenRoutes = [
  ['GET', '/office/broken/:what', broken],
  ['POST', '/office/broken/save', () => ({ ...json({ error: 'the database is read-only' }), status: 500 })],
  ['GET', '/office/unsteady/:what', unsteady],
];

const OVERLAY = html`<div id="banner" class="overlay">We have new terms.</div>`;

const BROKEN = {
  price: () => html`<p>Blue teapot: <b id="price">€34.90</b></p>`,
  publish: () => html`<p><button>Publish now</button> <button>Preview</button></p>`,
  covered: () => html`<p><button>Accept order</button></p>${OVERLAY}`,
  save: () => html`<p><button id="send">Save</button> <span id="state" role="status">Draft</span></p>`,
  total: () => html`<p><button id="total">Add up</button> <span id="state" role="status">No total yet</span></p>`,
  report: () => html`<p role="status">Preparing the report …</p>`,
  late: () => html`<p>Pieces: <b id="pieces" data-later="30000" data-text="12">loading</b></p>`,
  archive: () => html`<p><button id="archive">Archive orders</button> <span id="state" role="status"></span></p>`,
};

function broken(visit) {
  const main = BROKEN[visit.params.what];
  return main === undefined
    ? officePage(visit, 'No such page', html`<p>There is no such page.</p>`, 404)
    : officePage(visit, 'Orders to do', main());
}

const UNSTEADY = {
  /** @param bad whether this visit is one that fails */
  busy: (visit, bad) =>
    bad ? officePage(visit, 'Busy', html`<p>Please come back later.</p>`, 503) : officePage(visit, 'Sales', html``),
  late: (visit, bad) =>
    officePage(visit, 'Visitors', html`<p id="visitors" data-later="${bad ? 30_000 : 0}" data-text="312">loading</p>`),
  missing: (visit, bad) => officePage(visit, 'Offers', bad ? html`` : html`<p><button>New offer</button></p>`),
  covered: (visit, bad) => officePage(visit, 'Returns', html`<p><button>Accept return</button></p>${bad && OVERLAY}`),
  price: (visit, bad) => officePage(visit, 'Prices', html`<p id="price">${bad ? '€0.00' : '€34.90'}</p>`),
};

const visits = new Map();

/** Fails at the first visit, the third, and so on. */
function unsteady(visit) {
  const { what } = visit.params;
  const answer = UNSTEADY[what];
  if (answer === undefined) return officePage(visit, 'No such page', html`<p>There is no such page.</p>`, 404);
  const count = (visits.get(what) ?? 0) + 1;
  visits.set(what, count);
  return answer(visit, count % 2 === 1);
}
