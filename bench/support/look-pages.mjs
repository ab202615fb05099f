// The pages that looks are measured on, as the HTML that a server answers.

const range = (count, make) => Array.from({ length: count }, (_, index) => make(index + 1)).join('\n');
const page = (title, body) => `<!doctype html><meta charset=utf-8><title>${title}</title>${body}`;

export const form = page(
  'Sign up',
  `<h1>Sign up</h1><form>
  <p><label>First name <input value=Ada></label> <label>Last name <input></label></p>
  <p><label>E-mail <input type=email></label> <label>Password <input type=password></label></p>
  <p><label>Country <select><option>Austria<option>Belgium<option>Croatia</select></label></p>
  <p><label><input type=checkbox checked> Newsletter</label> <label><input type=checkbox> Terms accepted</label></p>
  <p><label><input type=radio name=pay> Card</label> <label><input type=radio name=pay checked> Cash</label></p>
  <p><label>Born <input type=date></label> <label>Comment <textarea></textarea></label></p>
  <p><button type=submit>Sign up</button> <button type=reset>Start again</button></p></form>
  <p><a href=/login>Log in instead</a> <a href=/imprint>Imprint</a></p>`,
);

/** 1,500 controls of three kinds under names of their own. */
export const controls = page(
  'Controls',
  `<h1>Controls</h1>${range(
    500,
    (n) =>
      `<div class=row><button>${word(n)} open</button> <label>${word(n + 7)} <input value=${n}></label> <a href=/item/${n}>${word(n + 13)} ${word(n + 200)}</a></div>`,
  )}`,
);

/** An encyclopedia's article: 10,000 nodes, 900 links. */
export const article = page(
  'Theatre troupe',
  `<main><h1>Theatre troupe</h1>${range(
    300,
    (n) =>
      `<section><h2>${word(n)} ${word(n * 3)}</h2><p>${range(
        3,
        (m) =>
          `The <b>${word(n + m)}</b> of the <i>${word(n * m)}</i> met <a href=/wiki/${n}_${m}>${word(n * 5 + m)} ${word(n + m * 11)}</a> in <span>${word(m * 17 + n)}</span> and <em>went</em> on tour <sup>${m}</sup>.`,
      )}</p><ul>${range(2, (m) => `<li>${word(n + m)} <span>${word(m)}</span></li>`)}</ul></section>`,
  )}</main>`,
);

/** A data grid: 500 rows, each with a check box, a link and a button. */
export const grid = page(
  'Orders',
  `<h1>Orders</h1><table><thead><tr><th></th><th>Order</th><th>Customer</th><th></th></tr></thead><tbody>${range(
    500,
    (n) =>
      `<tr><td><input type=checkbox aria-label="Select order ${n}"></td><td><a href=/orders/${n}>Order ${n}</a></td><td>${word(n)} ${word(n * 7)}</td><td><button>Edit</button></td></tr>`,
  )}</tbody></table>`,
);

/** A check-out: three steps, each in a frame of the one before, of one origin. */
export function frames(inner) {
  const steps = [
    `<h1>Basket</h1><p><button>Apply voucher</button> <label>Voucher <input></label> <a href=/shop>Go on shopping</a></p>`,
    `<h2>Address</h2><p><label>Street <input></label> <label>City <input></label> <button>Find address</button></p>`,
    `<h2>Delivery</h2><p><label><input type=radio name=how> Post</label> <label><input type=radio name=how> Courier</label></p>`,
    `<h2>Payment</h2><form><label>Card number <input></label> <label>Holder <input></label> <button>Pay</button></form>`,
  ];
  return page(
    'Check out',
    steps.reduceRight((nested, step) => step + inner(nested)),
  );
}

/** How many controls each of them has. */
export const CONTROLS = { form: 15, frames: 11, grid: 1_500, controls: 1_500, article: 900 };

/** A word for a number: two numbers below 8,000 have different ones. */
function word(number) {
  const syllables = [
    'ba',
    'ce',
    'di',
    'fo',
    'gu',
    'ha',
    'ke',
    'li',
    'mo',
    'nu',
    'pa',
    're',
    'si',
    'to',
    'vu',
    'wa',
    'xe',
    'yi',
    'zo',
    'lu',
  ];
  const at = (place) => syllables[Math.floor(number / 20 ** place) % 20];
  const text = at(0) + at(1) + at(2);
  return text[0].toUpperCase() + text.slice(1);
}
