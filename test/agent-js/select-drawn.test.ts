import { readFileSync } from 'node:fs';
import t from 'tap';
import { encodeError } from '#troupe/protocol/errors.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call } = await openAgent(t, lease, { actMs: 4_000, policy: 'off' });

const STYLE = `<style>[hidden] { display: none !important } td { border: 1px solid; width: 120px; height: 24px }
  .vh { position: absolute; width: 1px; height: 1px; overflow: hidden; clip: rect(0 0 0 0) }</style>`;
const open = (html: string) =>
  call('go', site.set('/page', `<!doctype html><meta charset=utf-8><title>Page</title>${STYLE}${html}`));

/** What the page holds after a choice by `#it`, or the words with which it fails. */
async function select(html: string, value: string | readonly string[], held: string): Promise<unknown> {
  await open(html);
  const refused = await call('act', '#it', 'select', value).then(
    () => null,
    (error: unknown) => encodeError(error).error,
  );
  return refused ?? (await call('page', held));
}

/** A list of a page's own; what is chosen is kept in `kept`, and shown. */
const list = (...options: readonly string[]) =>
  `<div role=combobox id=it tabindex=0 aria-label=Countries onclick="l.hidden = !l.hidden">Pick</div>
   <ul id=l role=listbox hidden>${options.join('')}</ul><script>var kept = '';
   for (const one of l.children) one.onclick = () => { kept = one.dataset.is; it.textContent = one.dataset.shows ?? one.dataset.is; l.hidden = true; }</script>`;
const li = (is: string, inner: string, more = '') => `<li role=option data-is="${is}" ${more}>${inner}</li>`;

type Case = readonly [html: string, value: string, held: string, result: unknown];

const hidden = (style: string) => list(li('Algeria', `<span style="${style}">Not Selected,</span>Algeria`));

const DRAWN: Readonly<Record<string, Case>> = {
  'words that are clipped away': [
    list(li('Algeria', '<span class=vh>Not Selected,</span>Algeria')),
    'Algeria',
    'kept',
    'Algeria',
  ],
  'words that are drawn through': [hidden('opacity:0'), 'Algeria', 'kept', 'Algeria'],
  'words of no size': [hidden('font-size:0'), 'Algeria', 'kept', 'Algeria'],
  'words far outside': [hidden('position:absolute;left:-9999px'), 'Algeria', 'kept', 'Algeria'],
  'words far outside of a page that is read from the right': [
    `<style>html { direction: rtl; overflow-x: hidden }</style>${hidden('position:absolute;left:-9999px')}`,
    'Algeria',
    'kept',
    'Algeria',
  ],
  'a page that is read from the right, scrolled to its other end': [
    `<style>html { direction: rtl } body { width: 3000px }</style><div style="position: absolute; top: 50px; right: 2000px">
     ${list(li('Algeria', '<b style="position: absolute; right: 0">Algeria</b>&nbsp;'))}</div><script>scrollTo(-1600, 0)</script>`,
    'Algeria',
    'kept',
    'Algeria',
  ],
  'words in a box of no height': [
    hidden('display:inline-block;height:0;overflow:hidden'),
    'Algeria',
    'kept',
    'Algeria',
  ],
  'a name that nobody sees': [
    list(li('Algeria', 'Algeria', 'aria-label="Country Algeria, not selected"')),
    'Algeria',
    'kept',
    'Algeria',
  ],
  'what is drawn and not read out': [
    list(li('Algeria', '<span aria-hidden=true>Algeria</span><span class=vh>Country: Algeria</span>')),
    'Algeria',
    'kept',
    'Algeria',
  ],
  'a flag': [
    list(li('Algeria', '<img alt="Flag of Algeria" width=10 height=10> Algeria')),
    'Algeria',
    'kept',
    'Algeria',
  ],
  'capitals that a style makes': [
    list(li('Algeria', 'Algeria', 'style="text-transform:uppercase"')),
    'ALGERIA',
    'kept',
    'Algeria',
  ],
  'zero-width characters': [list(li('Algeria', 'Al\u2060ge\u200cria\u200e')), 'Algeria', 'kept', 'Algeria'],
  'letters that are composed in another way': [list(li('Cote', 'Co\u0302te')), 'C\u00f4te', 'kept', 'Cote'],
  'a text that a style draws': [
    `<style>li::before { content: attr(data-is) }</style>${list(li('Algeria', ''))}`,
    'Algeria',
    'kept',
    'Algeria',
  ],
  'of two that are drawn alike the enabled one': [
    list(li('off', 'Algeria', 'aria-disabled=true'), li('on', 'Algeria')),
    'Algeria',
    'kept',
    'on',
  ],
  'an option without a role': [
    `<div role=combobox id=it tabindex=0 aria-label=Countries onclick="l.hidden = false">Pick</div><div id=l hidden><p><span class=vh>Not Selected,</span>Algeria</p></div>
     <script>l.onclick = () => { it.textContent = 'Algeria'; l.hidden = true; }</script>`,
    'Algeria',
    'it.textContent',
    'Algeria',
  ],
  'the drawn text of one is the name of another': [
    list(li('Red', 'Red', 'aria-label=Blue'), li('Blue', 'Blue', 'aria-label=Red')),
    'Red',
    'kept',
    '#it has two options that "Red" may mean: one that shows it, and one that is named so and shows "Blue"',
  ],
  'a text in a shadow root, and hidden words around its slot': [
    `<script>customElements.define('x-item', class extends HTMLElement { constructor() { super();
       this.attachShadow({ mode: 'closed' }).innerHTML = '<style>.vh { position: absolute; clip-path: inset(50%) }</style><span class=vh>Item</span><slot></slot>'; } });</script>
     ${list('<x-item role=option data-is=Algeria>Algeria</x-item>')}`,
    'Algeria',
    'kept',
    'Algeria',
  ],
  'a list of what is drawn in the error': [
    list(li('Algeria', '<span class=vh>Not Selected,</span>Algeria'), li('Canada', '<i class=vh>x</i>Canada')),
    'Chile',
    'kept',
    '#it has no option "Chile"; it has "Algeria", "Canada"',
  ],
  'a choice in the place of which the page shows another': [
    list(li('Algeria', 'Algeria', 'data-shows=Canada'), li('Canada', 'Canada')),
    'Algeria',
    'kept',
    '#it does not take what was chosen: it shows "Canada"',
  ],
  'a choice that is shown by hidden words and no-break spaces': [
    list(li('x', 'New York', 'data-shows="New\u00a0York\u200b"')),
    'New York',
    'kept',
    'x',
  ],
};

const NATIVE: Readonly<Record<string, Case>> = {
  'no-break spaces': [
    '<select id=it><option>Pick<option value=x>&nbsp;New&nbsp;York&ensp;</select>',
    'New York',
    'it.value',
    'x',
  ],
  'zero-width characters': [
    '<select id=it><option>Pick<option value=x>New&zwnj;&#8288;York</select>',
    'NewYork',
    'it.value',
    'x',
  ],
  'a label with blanks': [
    '<select id=it><option>Pick<option value=x label=" New&nbsp; York ">NYC</select>',
    'New York',
    'it.value',
    'x',
  ],
  'of two texts the enabled one': [
    '<select id=it><option>Pick<option value=a disabled>One<option value=b>One</select>',
    'One',
    'it.value',
    'b',
  ],
  'of two texts the one that is not in a disabled group': [
    '<select id=it><option>Pick<optgroup disabled label=A><option value=a>One</optgroup><optgroup label=B><option value=b>One</optgroup></select>',
    'One',
    'it.value',
    'b',
  ],
  'of two texts the shown one': [
    '<select id=it><option>Pick<option value=a hidden>One<option value=b style="display:none">One<option value=c>One</select>',
    'One',
    'it.value',
    'c',
  ],
  'an option that nobody can see': [
    '<select id=it><option>Pick<option value=a hidden>One</select>',
    'One',
    'it.value',
    '#it has the option "One" hidden',
  ],
  'a label before a text': [
    '<select id=it><option>Pick<option value=a label=Blue>Red<option value=b label=Red>Green</select>',
    'Red',
    'it.value',
    '#it has two options that "Red" may mean: one that shows it, and one that is named so and shows "Blue"',
  ],
  'a list that the page styles, with words that nobody sees': [
    '<style>#it, #it::picker(select) { appearance: base-select }</style><select id=it><button><selectedcontent></selectedcontent></button><option>Pick<option value=x><span class=vh>Country</span>Algeria</select>',
    'Algeria',
    'it.value',
    'x',
  ],
  'an option that the page disables once it is chosen': [
    '<select id=it onchange="it.selectedOptions[0].disabled = true"><option>Pick<option value=a>One<option value=b>One</select>',
    'One',
    'it.value',
    'a',
  ],
  'labels in the error': [
    '<select id=it><option label=Uno>One<option>Two</select>',
    'Three',
    'it.value',
    '#it has no option "Three"; it has "Uno", "Two"',
  ],
};

const heard = `<script>var log = []; for (const type of ['input', 'change']) it.addEventListener(type, (event) => log.push(type + ':' + (event.inputType ?? '') + ':' + it.value));</script>`;
const datalist = (options: string, more = '') =>
  `<input id=it list=d aria-label=City ${more}><datalist id=d>${options}</datalist>${heard}`;

const DATALISTS: Readonly<Record<string, Case>> = {
  'an option by its value': [
    datalist('<option value=Oslo><option value=Rome>', 'value=old'),
    'Rome',
    `[it.value, ...log].join()`,
    'Rome,input:insertReplacementText:Rome,change::Rome',
  ],
  'an option by its label': [
    datalist('<option value=osl label=Oslo><option value=rom>Rome</option>'),
    'Rome',
    'it.value',
    'rom',
  ],
  'no such option': [
    datalist('<option value=osl label=Oslo><option value=Rome>', 'value=old'),
    'Bern',
    'it.value',
    '#it has no option "Bern"; it has "Oslo", "Rome"',
  ],
  'a disabled option': [
    datalist('<option value=Oslo disabled>'),
    'Oslo',
    'it.value',
    '#it has the option "Oslo" disabled',
  ],
  'an option that comes with what is typed': [
    `${datalist('')}<script>let late; it.oninput = () => { clearTimeout(late); late = setTimeout(() => { d.innerHTML = it.value === 'Rome' ? '<option value=rom label=Rome>' : ''; }, 150); };</script>`,
    'Rome',
    'it.value',
    'rom',
  ],
  'a field whose page puts another value': [
    `${datalist('<option value=Oslo>')}<script>it.onchange = () => { it.value = 'Bern'; };</script>`,
    'Oslo',
    'it.value',
    '#it does not take what was chosen: it shows "Bern"',
  ],
  'a number': [datalist('<option value=5><option value=10>', 'type=number'), '10', 'it.value', '10'],
  'a field and its list in a shadow root': [
    `<div id=host></div><script>const root = host.attachShadow({ mode: 'open' }); root.innerHTML = '<input id=it list=d aria-label=City><datalist id=d><option value=Oslo></datalist>';</script>`,
    'Oslo',
    "root.querySelector('input').value",
    'Oslo',
  ],
  'a slider': [datalist('<option value=20><option value=80 label=High>', 'type=range'), 'High', 'it.value', '80'],
  'a field that is read only': [datalist('<option value=Oslo>', 'readonly'), 'Oslo', 'it.value', '#it is read only'],
};

/** A cell whose editor is opened by an event, and kept or dropped by keys. */
const cell = (
  editor: string,
  by = 'dblclick',
) => `<table id=grid><tr><td id=it tabindex=0>Oslo</td><td>Bern</td></tr></table><script>
  const all = ['Oslo', 'Rome', 'Riga'];
  const pop = document.createElement('div'); pop.style.cssText = 'position:absolute;left:10px;top:60px';
  const close = (text) => { pop.remove(); editing = false; it.textContent = text; };
  let editing = false;
  it.addEventListener('${by}', (event) => { if (editing) return; editing = true; const before = it.textContent; it.textContent = ''; ${editor} });
</script>`;
const FIELD = `const field = document.createElement('input'); field.value = before; it.append(field); field.focus();
  field.onkeydown = (event) => { if (event.key === 'Escape') close(before); if (event.key === 'Enter') close(field.value); };`;
const LISTED = `const fill = () => { pop.innerHTML = ''; for (const name of all.filter((one) => one.startsWith(field.value))) { const row = document.createElement('div'); row.textContent = name;
  row.onmousedown = (event) => event.preventDefault(); row.onclick = () => PICK; pop.append(row); } document.body.append(pop); };`;

const CELLS: Readonly<Record<string, Case>> = {
  'a field whose list comes at once': [
    cell(
      `${FIELD} ${LISTED.replace('PICK', 'close(name)')} const first = field.value; field.value = ''; fill(); field.value = first; field.oninput = fill;`,
    ),
    'Rome',
    'it.textContent',
    'Rome',
  ],
  'a field whose list comes with what is typed, and Enter ends the edit': [
    cell(
      `${FIELD} ${LISTED.replace('PICK', '{ field.value = name; pop.remove(); }')} field.oninput = () => setTimeout(fill, 80);`,
    ),
    'Rome',
    'it.innerHTML',
    'Rome',
  ],
  'a field without a list': [
    cell(FIELD),
    'Rome',
    'it.innerHTML',
    '#it offers no options: no list opens in it or for what is typed',
  ],
  'a field without a list, by one click': [
    cell(FIELD, 'click'),
    'Rome',
    'it.innerHTML',
    '#it offers no options: no list opens in it or for what is typed',
  ],
  'a field whose list has no such option': [
    cell(
      `${FIELD} ${LISTED.replace('PICK', 'close(name)')} field.oninput = fill; const first = field.value; field.value = ''; fill(); field.value = first;`,
    ),
    'Bonn',
    'it.innerHTML',
    '#it has no option "Bonn"; it has "Oslo", "Rome", "Riga"',
  ],
  'a field that gives up what was chosen': [
    cell(`${FIELD} ${LISTED.replace('PICK', 'close(before)')} field.oninput = fill;`),
    'Rome',
    'it.textContent',
    '#it does not take what was chosen: it shows "Oslo"',
  ],
  'a select that a click opens': [
    cell(
      `const field = document.createElement('select'); for (const one of all) field.add(new Option(one)); it.append(field); field.value = before; field.focus();
       field.onkeydown = (event) => { if (event.key === 'Enter') close(field.value); if (event.key === 'Escape') close(before); };`,
      'click',
    ),
    'Riga',
    'it.innerHTML',
    'Riga',
  ],
  'a select that is left to be kept': [
    cell(
      `const field = document.createElement('select'); for (const one of all) field.add(new Option(one)); it.append(field); field.value = before; field.focus(); field.onblur = () => close(field.value);`,
    ),
    'Riga',
    'it.innerHTML',
    'Riga',
  ],
  'a select without such an option': [
    cell(
      `const field = document.createElement('select'); for (const one of all) field.add(new Option(one)); it.append(field); field.focus(); field.value = before;
       field.onkeydown = (event) => { if (event.key === 'Escape') close(before); };`,
    ),
    'Bonn',
    'it.innerHTML',
    '#it has no option "Bonn"; it has "Oslo", "Rome", "Riga"',
  ],
  'a field with a datalist': [
    cell(
      `${FIELD} field.setAttribute('list', 'names'); it.insertAdjacentHTML('beforeend', '<datalist id=names><option value=Rome><option value=Riga></datalist>');`,
    ),
    'Riga',
    'it.innerHTML',
    'Riga',
  ],
  'an editor that typing opens': [
    `<table id=grid><tr><td id=it tabindex=0>Oslo</td></tr></table><div id=pop></div><script>
     it.onkeydown = (event) => { if (it.firstElementChild || event.key.length > 1) return; const before = it.textContent; it.textContent = '';
       const field = document.createElement('input'); it.append(field); field.focus(); const close = (text) => { it.textContent = text; pop.textContent = ''; };
       field.onkeydown = (key) => { key.stopPropagation(); if (key.key === 'Escape') close(before); };
       field.oninput = () => { pop.innerHTML = ''; for (const name of ['Rome', 'Riga'].filter((one) => one.startsWith(field.value))) { const row = document.createElement('div'); row.setAttribute('role', 'option'); row.textContent = name; row.onclick = () => close(name); pop.append(row); } }; };</script>`,
    'Rome',
    'it.innerHTML',
    'Rome',
  ],
  'a cell that is drawn anew when its edit ends': [
    cell(
      `const field = document.createElement('select'); for (const one of all) field.add(new Option(one)); it.append(field); field.focus();
       field.onchange = () => { const drawn = it.cloneNode(); drawn.textContent = field.value; it.replaceWith(drawn); };`,
    ),
    'Riga',
    'it.innerHTML',
    'Riga',
  ],
  'a cell that shows the option in its own words': [
    cell(
      `const field = document.createElement('select'); for (const one of all) field.add(new Option(one)); it.append(field); field.focus();
       field.onchange = () => close(field.value.slice(0, 2).toUpperCase());`,
    ),
    'Riga',
    'it.innerHTML',
    'RI',
  ],
  'another cell that is drawn anew and shows the text': [
    `<table><tr><td id=it tabindex=0 onclick="other.outerHTML = other.outerHTML">Oslo</td><td id=other onclick="it.textContent = 'wrong'">Rome</td></tr></table>`,
    'Rome',
    'it.innerHTML',
    '#it offers no options: no list opens in it or for what is typed',
  ],
  'a button in the cell that opens a list': [
    `<table><tr><td id=it><div role=combobox id=b tabindex=0 aria-label=City onclick="l.hidden = false">Oslo</div></td></tr></table>
     <div id=l role=listbox hidden><div role=option onclick="b.textContent = 'Rome'; l.hidden = true">Rome</div></div>`,
    'Rome',
    'b.textContent',
    'Rome',
  ],
  'a select that stands in the cell': [
    '<table><tr><td id=it><select id=s><option>Oslo<option>Rome</select></td></tr></table>',
    'Rome',
    's.value',
    'Rome',
  ],
};

for (const [what, cases] of Object.entries({
  'a drawn list': DRAWN,
  'a select': NATIVE,
  'a datalist': DATALISTS,
  'a cell': CELLS,
})) {
  t.test(`what is chosen in ${what} is what a person sees`, async (t) => {
    for (const [name, [html, value, held, result]] of Object.entries(cases)) {
      t.equal(await select(html, value, held), result, name);
    }
  });
}

t.test('nothing of a choice that failed is left in a cell or its field', async (t) => {
  for (const name of [
    'a field without a list',
    'a field whose list has no such option',
    'a select without such an option',
  ]) {
    const [html, value] = CELLS[name] ?? ['', ''];
    await select(html, value, '0');
    t.equal(await call('page', 'it.innerHTML'), 'Oslo', name);
  }
  await select(datalist('<option value=Oslo>', 'value=old'), 'Bern', '0');
  t.equal(await call('page', 'it.value'), 'old', 'a datalist');
  await select(
    `<input id=it role=combobox aria-label=City aria-controls=l><ul id=l role=listbox><li role=option>Oslo</ul>`,
    'Bern',
    '0',
  );
  t.equal(await call('page', 'it.value'), '', 'the filter of a list');
  const [left] = CELLS['a field without a list'] ?? [''];
  await select(
    left.replace("if (event.key === 'Escape') close(before);", 'field.onblur = () => close(field.value);'),
    'Rome',
    '0',
  );
  t.equal(
    await call('page', 'it.innerHTML'),
    'Oslo',
    'a cell that knows no Escape, and keeps what is in it when it is left',
  );
  await select(`<dialog id=around>${left}</dialog><script>around.showModal();</script>`, 'Rome', '0');
  t.equal(await call('page', 'around.open'), true, 'the dialog around a cell stays open');
  t.equal(await call('page', "it.querySelector('input')?.value ?? it.textContent"), 'Oslo');
});

t.test('an option is chosen in a cell by the menu of jQuery UI', async (t) => {
  const file = (path: string): string =>
    site.set(`/${path}`, (_request, response) => {
      response.writeHead(200, { 'content-type': path.endsWith('.css') ? 'text/css' : 'text/javascript' });
      response.end(readFileSync(new URL(`../../node_modules/${path}`, import.meta.url)));
    });
  const page = `<link rel=stylesheet href="${file('jquery-ui/themes/base/all.css')}"><script src="${file('jquery/dist/jquery.js')}"></script><script src="${file('jquery-ui/dist/jquery-ui.js')}"></script>
    ${cell(`${FIELD} jQuery(field).autocomplete({ source: all, minLength: 1, delay: 100 });`)}`;
  t.equal(await select(page, 'Riga', 'it.innerHTML'), 'Riga');
  t.match(await select(page, 'Bonn', '0'), /^#it has no option "Bonn"/);
  t.equal(await call('page', 'it.innerHTML'), 'Oslo');
});
