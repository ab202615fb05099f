import { readFileSync } from 'node:fs';
import { html } from '../../shop/html.mjs';
import { download, failure, json, page, redirect } from '../../shop/replies.mjs';

/**
 * The back office of the example shop: tables, forms, dialogs, uploads, and downloads that the suite's flows use. Nothing
 * that is entered is kept, so flows can run side by side.
 */

const CLIENT = readFileSync(new URL('client.js', import.meta.url), 'utf8');

const STOCK = [
  ['Blue teapot', 'Tea', 12],
  ['Green teapot', 'Tea', 3],
  ['Tea cup', 'Tea', 140],
  ['Desk lamp', 'Desk', 0],
  ['Notebook', 'Desk', 75],
  ['Wall clock', 'Home', 8],
];

export const officeRoutes = [
  ['GET', '/office.js', () => ({ status: 200, headers: { 'content-type': 'text/javascript' }, body: CLIENT })],
  ['GET', '/office', start],
  ['GET', '/office/stock', stock],
  ['GET', '/office/dialogs', dialogs],
  ['GET', '/office/settings', settings],
  ['POST', '/office/settings', saved],
  ['GET', '/office/import', importPage],
  ['POST', '/office/import', imported],
  ['GET', '/office/reports', reports],
  ['GET', '/office/reports/:name', report],
  ['POST', '/office/draft', () => json({ saved: true })],
];

/** A page of the office, with its script. */
export function officePage(visit, title, main, status = 200) {
  return page(visit, { title, status, main: html`<h1>${title}</h1>${main}`, scripts: ['office.js'] });
}

function start(visit) {
  const links = ['stock', 'dialogs', 'settings', 'import', 'reports'];
  return officePage(
    visit,
    'Office',
    html`<ul>${links.map((name) => html`<li><a href="/office/${name}">${name}</a></li>`)}</ul>`,
  );
}

function stock(visit) {
  return officePage(
    visit,
    'Stock',
    html`<p class="row"><label for="filter">Filter</label><input id="filter" type="search"> <span id="count" role="status">${STOCK.length} products</span></p>
<div class="scroll"><table id="stock">
<thead><tr>${['Product', 'Category', 'Pieces'].map((name) => html`<th scope="col"><button class="quiet" data-sort>${name}</button></th>`)}<td></td></tr></thead>
<tbody>${STOCK.map(
      ([name, category, pieces]) => html`<tr><td>${name}</td><td>${category}</td><td>${pieces}</td>
<td><button class="quiet" data-edit>Edit</button></td></tr>`,
    )}</tbody>
</table></div>
<dialog id="edit" aria-labelledby="edit-title"><form method="dialog" class="stack">
<h2 id="edit-title">Edit</h2>
<p><label for="pieces">Pieces</label><input id="pieces" type="number" min="0"></p>
<p class="row"><button value="save">Save</button> <button value="cancel" class="quiet">Cancel</button></p>
</form></dialog>`,
  );
}

function dialogs(visit) {
  return officePage(
    visit,
    'Dialogs',
    html`<p class="row"><button data-dialog="alert">Check stock</button> <button data-dialog="confirm">Delete draft</button>
<button data-dialog="prompt">Rename draft</button> <button data-dialog="modal">Publish draft</button></p>
<p id="result" role="status"></p>
<dialog id="publish" aria-labelledby="publish-title"><form method="dialog"><h2 id="publish-title">Publish the draft?</h2>
<p class="row"><button value="published">Publish</button> <button value="kept" class="quiet">Keep it</button></p></form></dialog>`,
  );
}

function settings(visit) {
  return officePage(
    visit,
    'Settings',
    html`<form method="post" action="/office/settings" class="stack">
<p><label for="shop">Shop name</label><input id="shop" name="shop" value="Teapot & Pen" required></p>
<p><label for="mail">Mail</label><input id="mail" name="mail" type="email"></p>
<p><label for="currency">Currency</label><select id="currency" name="currency"><option>Euro</option><option>Yen</option><option>Krone</option></select></p>
<fieldset><legend>Newsletter</legend>
${['never', 'monthly', 'weekly'].map((how) => html`<label><input type="radio" name="newsletter" value="${how}" ${how === 'never' && 'checked'}> ${how}</label>`)}</fieldset>
<p><label><input type="checkbox" name="holiday" value="yes"> Closed for holidays</label></p>
<p><label for="opens">Opens on</label><input id="opens" name="opens" type="date"></p>
<p><label for="note">Note</label><textarea id="note" name="note"></textarea></p>
<p><button>Save settings</button></p></form>`,
  );
}

async function saved(visit) {
  const form = await visit.form();
  const names = ['shop', 'mail', 'currency', 'newsletter', 'holiday', 'opens', 'note'];
  return officePage(
    visit,
    'Settings saved',
    html`<dl>${names.map((name) => html`<dt>${name}</dt><dd id="${name}">${form.get(name) ?? 'no'}</dd>`)}</dl>`,
  );
}

function importPage(visit) {
  return officePage(
    visit,
    'Import',
    html`<form method="post" action="/office/import" enctype="multipart/form-data" class="stack">
<p><label for="file">CSV file</label><input id="file" name="file" type="file" multiple></p>
<p><button>Import</button></p></form>`,
  );
}

async function imported(visit) {
  const files = (await visit.form()).getAll('file').filter((file) => typeof file === 'object' && file.size > 0);
  if (files.length === 0) return failure(visit, 400, 'No file', 'Please choose a CSV file.');
  const rows = [];
  for (const file of files) {
    const lines = (await file.text()).trim().split('\n');
    rows.push({ name: file.name, bytes: file.size, products: lines.length - 1 });
  }
  return officePage(
    visit,
    'Imported',
    html`<table id="files"><thead><tr><th scope="col">File</th><th scope="col">Bytes</th><th scope="col">Products</th></tr></thead>
<tbody>${rows.map(({ name, bytes, products }) => html`<tr><td>${name}</td><td>${bytes}</td><td>${products}</td></tr>`)}</tbody></table>`,
  );
}

function reports(visit) {
  return officePage(
    visit,
    'Reports',
    html`<ul><li><a href="/office/reports/stock.csv">Stock (CSV)</a></li><li><a href="/office/reports/stock.json">Stock (JSON)</a></li></ul>
<p class="row"><button id="prepare">Prepare yearly report</button> <span id="ready" role="status"></span></p>
<p class="row"><button id="export">Export this page</button></p>`,
  );
}

function report(visit) {
  switch (visit.params.name) {
    case 'stock.csv':
      return download('stock.csv', 'text/csv', `${STOCK.map((row) => row.join(',')).join('\n')}\n`);
    case 'stock.json':
      return download('stock.json', 'application/json', JSON.stringify(STOCK));
    case 'latest':
      return redirect('/office/reports/stock.csv');
    default:
      return failure(visit, 404, 'No such report', 'There is no report of this name.');
  }
}
