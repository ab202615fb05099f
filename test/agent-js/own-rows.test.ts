import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, look, failure } = await openAgent(t, lease);

/** Each element that hears it tells the page who did: its id, and what was hit. */
const on = (selector: string, type = 'click'): string =>
  `<script>for (const one of document.querySelectorAll(${JSON.stringify(selector)}))
    one.addEventListener(${JSON.stringify(type)}, (event) => { heard.push([one.id || one.localName, event.target.localName]); });</script>`;
const each = (items: readonly string[], html: (item: string) => string): string => items.map(html).join('');
const BOX =
  '<style>.slot { width: 40px; height: 40px; border: 1px solid } i { display: inline-block; width: 14px; height: 14px; border: 1px solid }</style>';

async function open(html: string): Promise<readonly string[]> {
  const page = `<!doctype html><meta charset=utf-8><title>Page</title><script>var heard = [];</script>${html}`;
  await call('go', site.set('/page', page));
  const { elements } = await look({ full: true });
  return elements.map(({ locator }) => locator);
}

/** What a page is made of, and the locators that a look should list, in their order. */
const PAGES: { readonly [what: string]: readonly [html: string, listed: readonly string[]] } = {
  'rows that listen, beside the controls in them': [
    `<ul><li tabindex=0><span>Ada</span> <button>Delete</button></li><li><span>Bob</span> <button>Delete</button></li>
     <li style="cursor: pointer"><span>Cyd</span> <input type=checkbox></li></ul>
     <table><tr style="cursor: pointer"><td><input type=checkbox><td>Eve</table>${on('li, tr')}`,
    [
      '{li}Ada Delete',
      '{button:1}Delete',
      '{li}Bob Delete',
      '{button:2}Delete',
      '{li}Cyd',
      '{input}Cyd',
      '{tr}Eve',
      '{input}Eve',
    ],
  ],
  'a node of a diagram beside its handle': [
    `${BOX}<div><div role=group tabindex=0 style="width: 150px">Node<i class=handle></i></div></div>${on('[role], i')}`,
    ['{group}Node', '{i}handle'],
  ],
  'rows of several, with more controls than two in each': [
    `<div>${each(['Ada', 'Bob'], (name) => `<div class=mail>${name} <button>A</button><button>B</button><button>C</button></div>`)}</div>${on('.mail')}`,
    ['Ada', 'Bob'].flatMap((name, nth) => [
      `{div}${name} A B C`,
      ...['A', 'B', 'C'].map((text) => `{button:${nth + 1}}${text}`),
    ]),
  ],
  'the content of each branch of a tree beside its expander': [
    `${BOX}<ul>${each(['Ada', 'Bob'], (name) => `<li><div class=content><i class=caret></i><span>${name}</span></div></li>`)}</ul>${on('.content, i')}`,
    ['{div}Ada', '{i}caret Ada', '{div}Bob', '{i}caret Bob'],
  ],
  'a box in a label once, if a library hides an input beside it': [
    `${BOX}${each(
      ['checkbox', 'radio'],
      (kind) => `<label><i role=${kind} tabindex=0></i><input type=${kind} aria-hidden=true tabindex=-1
       style="position: absolute; width: 1px; height: 1px; margin: 0; clip-path: inset(50%)">A ${kind}</label>`,
    )}
     <label><i role=switch tabindex=0></i><input type=checkbox>Mail</label>`,
    ['{checkbox}A checkbox', '{radio}A radio', '{switch}', '{input}Mail'],
  ],
  'a branch of a tree once, if its head is a button': [
    `<div role=tree>${each(['src', 'test'], (name) => `<div role=treeitem aria-expanded=false><div role=button tabindex=0>${name}</div></div>`)}
     <div role=treeitem tabindex=0>docs</div></div>`,
    ['{button}src', '{button}test', '{treeitem}docs'],
  ],
  'a box in a cell once, if the cell listens for it, too': [
    `<div role=grid>${each(['Ada', 'Bob'], (name) => `<div role=row style="display: flex"><div role=gridcell class=cell><span style="cursor: pointer"><input type=checkbox></span></div><div role=gridcell>${name}</div></div>`)}</div>${on('.cell, span')}`,
    ['{input}Ada', '{input}Bob'],
  ],
  'rows in the order of the Tab key, if their list listens for them': [
    `<ul id=list>${each(['Ada', 'Bob'], (name) => `<li tabindex=0>${name} <button>Delete</button></li>`)}</ul>${on('#list')}`,
    ['{li}Ada Delete', '{button:1}Delete', '{li}Bob Delete', '{button:2}Delete'],
  ],
  'an item of a component with its text in a slot': [
    `<x-item style="display: block; cursor: pointer">Ada</x-item><script>customElements.define('x-item', class extends HTMLElement { connectedCallback() {
       this.attachShadow({ mode: 'open' }).innerHTML = '<li tabindex=0><slot></slot> <button>Delete</button></li>';
       this.shadowRoot.firstChild.addEventListener('click', () => {}); } });</script>`,
    ['{li}Ada Delete', '{button}Delete'],
  ],
  'no row of a list or table that listens for its controls': [
    `<ul id=list>${each(['Ada', 'Bob'], (name) => `<li>${name} <button>Delete</button></li>`)}</ul>
     <table id=table>${each(['Cyd', 'Dan'], (name) => `<tr><td>${name}<td><button>Delete</button>`)}</table>${on('#list, #table')}`,
    [1, 2, 3, 4].map((nth) => `{button:${nth}}Delete`),
  ],
  'no page, form, panel, bar or scroll area, and no frame of a field or a labelled box': [
    `<div id=root>${each(
      [
        '<form>Data <button>Go</button></form>',
        '<div id=bar class=bar>Tools <button>Go</button></div>',
        '<div id=scroll tabindex=0 style="overflow: auto; height: 60px">Text <button>Go</button></div>',
        '<div class=field>Name <input aria-label=Name></div><div class=field>kg <input aria-label=Weight></div>',
        '<div class=choice><label><input type=checkbox> Red</label></div><div class=choice><label><input type=checkbox> Blue</label></div>',
        '<div id=panel style="position: fixed; inset: 300px; background: white">Sure? <button>Go</button></div>',
      ],
      (part) => part,
    )}</div>${on('#root, form, #bar, #scroll, .field, .choice, #panel')}`,
    [
      '{button:1}Go',
      '{button:2}Go',
      '{button:3}Go',
      '{input}Name',
      '{input}Weight',
      '{input}Red',
      '{input}Blue',
      '{button:4}Go',
    ],
  ],
  'no row whose cells are operated one by one': [
    `<div role=grid><div role=row id=row><div role=gridcell>Ada</div><div role=gridcell><button>Delete</button></div></div></div>${on('#row')}`,
    ['{gridcell}Ada', '{button}Delete'],
  ],
  'no empty cell before the first day of a month': [
    `<div role=grid id=days><div role=row><div role=gridcell class=slot></div><div role=gridcell class=slot><button>1</button></div></div>
     <div role=row><div role=gridcell class=slot><button>2</button></div><div role=gridcell class=slot></div></div></div>${BOX}${on('#days')}`,
    ['{button}1', '{button}2'],
  ],
  'text that becomes a field when it gets the focus': [
    `<h2 id=title tabindex=0>Title</h2><p tabindex=0>Text</p>${on('#title', 'focus')}`,
    ['{h2}Title'],
  ],
  'the own box of a leaf of a tree': [
    `${BOX}<ul role=tree id=tree>${each(['Ada', 'Bob'], (name) => `<li role=treeitem tabindex=0><div><input type=checkbox tabindex=-1><span>${name}</span></div></li>`)}
     <li role=treeitem tabindex=0><i role=checkbox tabindex=-1></i>Cyd</li><li role=treeitem tabindex=0><i class=own tabindex=-1></i>Dan</li>
     <li role=treeitem><i class=tree-checkbox></i><i class=tree-icon></i>Eve</li></ul>${on('#tree, .own')}`,
    [
      ['{treeitem}Ada', '{input}Ada'],
      ['{treeitem}Bob', '{input}Bob'],
      ['{treeitem}Cyd', '{checkbox}Cyd'],
      ['{treeitem}Dan', '{i}Dan'],
      ['{treeitem}Eve', '{i}Eve'],
    ].flat(),
  ],
  'an expander without a text beside the item of a tree, out of the order of the Tab key': [
    `${BOX}<ul role=tree>${each(['Ada', 'Bob'], (name) => `<li role=treeitem tabindex=0><button tabindex=-1 aria-hidden=true><i></i></button>${name}</li>`)}</ul>${on('li, button')}`,
    ['{treeitem}Ada', '{button}Ada', '{treeitem}Bob', '{button}Bob'],
  ],
  'no link without a text or a listener over an item that is pressed itself': [
    `<ul>${each(['Ada', 'Bob'], (name) => `<li role=tab tabindex=0 style="position: relative">${name}<a tabindex=-1 href="#" style="position: absolute; inset: 0"></a></li>`)}</ul>${on('li')}`,
    ['{tab}Ada', '{tab}Bob'],
  ],
  'no list on which something is dropped while nothing is dragged': [
    `<ul class=list><li>One</li><li>Two</li></ul><div class=list><p>Three</p><p>Four</p></div>
     <div class=list><div><ul><li>Five</li></ul></div></div><div class=list>Drop files here</div>
     ${on('.list', 'dragover')}${on('.list', 'drop')}`,
    ['{div}Drop files here'],
  ],
  'a list on which something is dropped that is dragged': [
    `<ul class=list><li draggable=true>One</li><li>More</li></ul><ul class=list><li>Two</li><li>Three</li></ul>${on('.list', 'dragover')}${on('.list', 'drop')}`,
    ['{ul}One More', '{li}One', '{ul}Two Three'],
  ],
  'no cell that only reacts to the pointer above it': [
    `<table><tr><td>One<td>Two<tr><td>Three<td style="cursor: pointer">Four</table><p>Five</p>${on('td, p', 'mouseenter')}`,
    ['{td}Four', '{p}Five'],
  ],
};

t.test('look lists rows that are pressed themselves, and no part of the page that only holds controls', async (t) => {
  for (const [what, [html, listed]] of Object.entries(PAGES)) t.strictSame(await open(html), listed, what);
});

t.test('a press on a row is one on the row, wherever its controls stand', async (t) => {
  const wide = 'width: 90%; height: 60px';
  await open(`<ul style="text-align: center">${each(['Ada', 'Bob'], (name) => `<li><button style="${wide}">Delete</button><small>${name}</small></li>`)}</ul>
    <table><tr><td style="width: 300px"><input type=checkbox style="${wide}"><td>Cyd</table>${on('li, tr, button, input')}`);
  for (const [locator, hit] of [
    ['{li}Delete Ada', ['li', 'small']],
    ['{li}Delete Bob', ['li', 'small']],
    ['{tr}Cyd', ['tr', 'td']],
  ] as const) {
    await call('page', 'heard.length = 0');
    await call('act', locator, 'click');
    t.strictSame(await call('page', 'heard'), [hit], locator);
  }
  await open(`<article style="position: relative; width: 200px; height: 60px">Card
    <a href="#x" style="position: absolute; inset: 0">Open</a></article>${on('article')}`);
  const { error } = await failure('act', '{article}Card Open', 'click');
  t.match(error, /^{article}Card Open cannot be clicked: {a}Open in it covers all of it/);
  t.strictSame(await call('page', 'heard'), []);
});

t.test('the boxes of a code are one field, which takes it', async (t) => {
  const slots = '<div class=slot></div>'.repeat(4);
  const field = (style: string, more: string): string =>
    `<input id=code maxlength=4 aria-label=Code style="position: absolute; ${style}" ${more}>`;
  const pages = {
    'a field far outside': `<div><div id=slots>${slots}</div>${field('left: -9999px', '')}</div>`,
    'a field under its boxes': `<div id=slots style="position: relative">${field('opacity: 0; top: 0; left: 0; width: 30px', '')}${slots}</div>`,
    'a field that says what it is for': `<div><div id=slots>${slots}</div>${field('left: -9999px', 'autocomplete=one-time-code')}</div>`,
  };
  for (const [what, html] of Object.entries(pages)) {
    const listed = await open(`${BOX}<style>.slot { position: relative; background: white }</style>${html}<script>
      for (const slot of document.querySelectorAll('.slot')) slot.addEventListener('click', () => code.focus());
      slots.addEventListener('click', () => {});</script>`);
    t.strictSame(listed, ['{input}Code'], what);
    await call('act', '{input}Code', 'input', '1234');
    t.equal(await call('page', 'code.value'), '1234', what);
  }
  const boxes = await open(`${BOX}<div><div>${slots}</div><input maxlength=4 aria-label=Year></div>${on('.slot')}`);
  t.equal(boxes.length, 5, 'of a field that is in sight, boxes are nothing');
});

t.test('a ring is pressed on its line', async (t) => {
  const ring = (id: string, more: string): string =>
    `<circle id=${id} cx=100 cy=100 r=60 fill=none stroke=teal stroke-width=20 ${more} />`;
  const slice = 377 / 8;
  const pages: { readonly [what: string]: readonly [html: string, ids: readonly string[]] } = {
    'a ring': [ring('one', ''), ['one']],
    arcs: [
      each(
        ['M 20 100 A 80 80 0 0 1 180 100', 'M 180 100 A 80 80 0 0 1 20 100'],
        (d) => `<path id=${d.startsWith('M 20') ? 'up' : 'down'} d="${d}" fill=none stroke=teal stroke-width=12 />`,
      ),
      ['up', 'down'],
    ],
    'slices of a ring': [
      each(['0', '1', '2', '3', '4', '5', '6', '7'], (nth) =>
        ring(`s${nth}`, `stroke-dasharray="${slice} 377" stroke-dashoffset="${-slice * Number(nth)}"`),
      ),
      [0, 1, 2, 3, 4, 5, 6, 7].map((nth) => `s${nth}`),
    ],
  };
  for (const [what, [html, ids]] of Object.entries(pages)) {
    const listed = await open(`<svg width=200 height=200>${html}</svg>${on('circle, path')}`);
    t.equal(listed.length, ids.length, what);
    for (const locator of listed) await call('act', locator, 'click');
    t.strictSame(
      ((await call('page', 'heard')) as string[][]).map(([id]) => id),
      ids,
      what,
    );
  }
});

t.end();
