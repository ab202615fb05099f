import { html } from './html.mjs';

/** Answers of the shop's handlers, as data; shop.mjs sends them. */

/** A page in the shop's frame. `main` is what {@link html} made. */
export function page(visit, { title, main, status = 200, scripts = [] }) {
  return {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: frame(visit, { title, main, scripts }).toString(),
  };
}

/** After a POST: the browser fetches `path`, and a reload repeats nothing. */
export function redirect(path) {
  return { status: 303, headers: { location: path }, body: '' };
}

export function json(value) {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: `${JSON.stringify(value, null, 2)}\n` };
}

/** A file that the browser saves. `name` is one of ours: letters, digits, dot and dash. */
export function download(name, type, body) {
  return {
    status: 200,
    headers: { 'content-type': `${type}; charset=utf-8`, 'content-disposition': `attachment; filename="${name}"` },
    body,
  };
}

/** A page that says what went wrong. */
export function failure(visit, status, title, text) {
  const main = html`<h1>${title}</h1><p>${text}</p><p><a href="/">Back to the products</a></p>`;
  return page(visit, { status, title, main });
}

function frame(visit, { title, main, scripts }) {
  const { layout, askCookies } = visit;
  const menu = layout.wrapped
    ? html`<details class="menu"><summary>Menu</summary>${links(visit)}</details>`
    : html`<div class="menu">${links(visit)}</div>`;
  const nav = html`<nav aria-label="Shop">${menu}</nav>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Teapot & Pen</title>
<link rel="stylesheet" href="/shop.css">
<link rel="icon" href="/art/blue-teapot.svg">
${scripts.map((script) => html`<script type="module" src="/${script}"></script>`)}
${askCookies && html`<script type="module" src="/notice.js"></script>`}
</head>
<body>
<header><p class="brand"><img src="/art/blue-teapot.svg" alt="" width="36" height="36"> Teapot & Pen</p>${!layout.moved && nav}</header>
<main>${main}</main>
<footer>${layout.moved && nav}<p>An example shop. Nothing here is real, and nothing is sent.</p></footer>
${askCookies && cookieNotice()}
</body>
</html>`;
}

function links({ session, layout, path }) {
  const count = session ? [...session.cart.values()].reduce((sum, quantity) => sum + quantity, 0) : 0;
  const link = (href, text) => html`<a href="${href}" ${href === path && html`aria-current="page"`}>${text}</a>`;
  return html`<ul>
<li>${link('/', 'Products')}</li>
<li>${link('/search', 'Search')}</li>
<li>${link('/orders', 'Orders')}</li>
<li>${link('/cart', count > 0 ? `${layout.words.cart} (${count})` : layout.words.cart)}</li>
<li>${
    session?.account
      ? html`<form method="post" action="/logout"><span class="who">${session.account.name}</span> <button class="quiet">Log out</button></form>`
      : link('/login', 'Log in')
  }</li>
</ul>`;
}

function cookieNotice() {
  return html`<dialog id="notice" aria-labelledby="notice-title"><form method="post" action="/notice">
<h2 id="notice-title">Cookies</h2>
<p>We keep your cart in a cookie. May we also keep one to count visits?</p>
<p class="row"><button>Only the cart</button> <button class="quiet">Both are fine</button></p>
</form></dialog>`;
}
