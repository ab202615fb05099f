import t from 'tap';
import type { WholeLook } from '#troupe/agent-js/look/look.js';
import { encodeError } from '#troupe/protocol/errors.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, look } = await openAgent(t, lease, { actMs: 8_000, policy: 'off' });

/** What hears something says so: the id of each element with `data-hears`, the event's type in front. */
const EARS = `<pre id=said></pre><script>
  const say = (text) => { said.textContent += text + ';'; };
  const hear = () => { for (const one of document.querySelectorAll('[data-hears]:not([data-heard])')) {
    one.dataset.heard = '';
    for (const type of one.dataset.hears.split(' ')) one.addEventListener(type, (event) => {
      if (one.localName === 'a') event.preventDefault();
      say(type + ' ' + one.id);
    });
  } };
  hear();
</script>`;
const STYLE = `<!doctype html><meta charset=utf-8><title>Presses</title><style>
  body { margin: 20px } .none { pointer-events: none } .auto { pointer-events: auto }
  .box { display: inline-block; padding: 15px; background: #ddd }</style>`;

type Action = readonly [locator: string, action: string, ...more: unknown[]];

const open = (html: string) => call('go', site.set('/page', STYLE + html + EARS));
const said = () => call('page', `said.textContent`);

/** 'held', or the words with which an act fails. */
async function act([locator, name, ...more]: Action, options: object = {}): Promise<string> {
  const last = more.at(-1);
  const given = typeof last === 'object' ? [...more.slice(0, -1), { ...last, ...options }] : [...more, options];
  return call('act', locator, name, ...given).then(
    () => 'held',
    (error: unknown) => {
      const { code, error: text } = encodeError(error);
      return code === 'ACTION_FAILED' ? text : `${code}: ${text}`;
    },
  );
}

const NO_PRESS = /receives no clicks: its pointer-events is none$/;
const CLICK = 'data-hears="click dblclick contextmenu"';
const card = (html: string) => `<div id=card class=box ${CLICK}><p>A card</p>${html}</div>`;

const REFUSED: Readonly<Record<string, readonly [html: string, action: Action, words?: RegExp]>> = {
  "a link of Bootstrap's pagination": [
    `<ul id=list ${CLICK}><li id=item class=box ${CLICK}><a id=next href="/next" class=none>Next</a></li></ul>`,
    ['{a}Next', 'click'],
  ],
  'an icon in such a link': [
    `<li id=item class=box ${CLICK}><a href="/next" class=none><i id=icon>»</i> Next</a></li>`,
    ['#icon', 'click'],
    /^#icon receives no clicks: the pointer-events of \{a\}» Next is none$/,
  ],
  'a button on a card that is pressed itself': [card('<button class=none>Buy</button>'), ['{button}Buy', 'click']],
  'a button in a link to something else': [
    `<a id=card href="/card" class=box ${CLICK}>A card <button class=none>Buy</button></a>`,
    ['{button}Buy', 'click'],
  ],
  'a button in a fieldset': [
    `<form id=form ${CLICK}><fieldset class=none><button>Send</button></fieldset></form>`,
    ['{button}Send', 'click'],
  ],
  'a button of a toolbar that lies over something else': [
    `<div id=map style="position:absolute;inset:0" ${CLICK}></div>
     <div class=none style="position:absolute;left:50px;top:60px"><button>Zoom</button></div>`,
    ['{button}Zoom', 'click'],
  ],
  'a widget by its role': [card('<div role=button tabindex=0 class=none>Buy</div>'), ['{button}Buy', 'click']],
  'a link in a drawing': [
    `<svg id=drawing width=200 height=80 ${CLICK}><a href="/x" class=none><rect width=90 height=40 /><title>Bar</title></a></svg>`,
    ['{a}Bar', 'click'],
  ],
  'what only its listener makes a control': [
    card(`<div id=tile class="box none" ${CLICK}>Tile</div>`),
    ['#tile', 'click'],
  ],
  'a row whose table listens for all of its rows': [
    `<table><tbody id=rows ${CLICK}><tr><td>One</td></tr><tr id=two class=none><td>Two</td></tr></tbody></table>`,
    ['#two', 'click'],
  ],
  'a word in such a row': [
    `<table><tbody id=rows ${CLICK}><tr><td>One</td></tr><tr class=none><td id=two>Two</td></tr></tbody></table>`,
    ['#two', 'click'],
    /^#two receives no clicks: the pointer-events of \{tr\}Two is none$/,
  ],
  'what nothing is pressed around': ['<section class=box><p id=text class=none>Text</p></section>', ['#text', 'click']],
  'in a shadow root': [
    `<div id=card class=box ${CLICK}><div id=host></div></div>
     <script>host.attachShadow({ mode: 'closed' }).innerHTML = '<button style="pointer-events:none">Buy</button>';</script>`,
    ['{button}Buy', 'click'],
  ],
  'in a frame': [
    `<iframe srcdoc="<div onclick='parent.say(1)'><button style='pointer-events:none'>Buy</button></div>"></iframe>`,
    ['{button}Buy', 'click'],
  ],
  'at a point of its own': [card('<button class=none>Buy</button>'), ['{button}Buy', 'click', { x: 3, y: 3 }]],
  'a double click': [card('<button class=none>Buy</button>'), ['{button}Buy', 'dblclick']],
  'three clicks': [card('<button class=none>Buy</button>'), ['{button}Buy', 'tripleclick']],
  'a right click': [card('<button class=none>Buy</button>'), ['{button}Buy', 'rightclick']],
  'an upload by a button': [card('<button class=none>Attach</button>'), ['{button}Attach', 'upload', 'some.txt']],
  'a check box and its label': [
    card('<label class=none><input type=checkbox> Gift</label>').replace(CLICK, ''),
    ['{input}Gift', 'check'],
  ],
  'a label': [card('<label class=none for=gift>Gift</label><input id=gift type=checkbox>'), ['label', 'click']],
  'a field in a row that is pressed itself': [
    `<table><tr id=row ${CLICK}><td>One <a href="/x">x</a></td><td><input aria-label=Name class=none></td></tr></table>`,
    ['{input}Name', 'click'],
  ],
  'a list of its own': [
    card('<div role=combobox aria-label=Colour tabindex=0 class=none>Red</div>'),
    ['{combobox}Colour', 'select', 'Blue'],
  ],
  'an option of a list': [
    `<div id=box role=combobox aria-label=Colour aria-controls=list tabindex=0 onclick="list.hidden = false">Red</div>
     <div role=listbox id=list hidden><div role=option>Red</div><div role=option class=none>Blue</div></div>`,
    ['{combobox}Colour', 'select', 'Blue'],
    /^\{combobox\}Colour has the option "Blue", which receives no clicks: its pointer-events is none$/,
  ],
  'what stops taking the pointer as it arrives': [
    `<div id=card class=box ${CLICK}><button id=buy>Buy</button></div>
     <script>buy.onmouseenter = () => { buy.className = 'none'; };</script>`,
    ['{button}Buy', 'click'],
  ],
  'a check box on a card that is opened by it': [
    `<div id=card class=box><p>A card</p><input type=checkbox aria-label=Gift class=none></div>`,
    ['{input}Gift', 'click'],
  ],
};

for (const [name, [html, action, words = NO_PRESS]] of Object.entries(REFUSED)) {
  t.test(`what takes no press is not pressed through: ${name}`, async (t) => {
    await open(html);
    t.match(await act(action, { timeout: 500 }), words);
    t.equal(await said(), '');
  });
}

const PRESSED: Readonly<Record<string, readonly [html: string, action: Action, heard: string]>> = {
  'a word in a button': [
    `<button id=b ${CLICK}><span class=none>Save</span></button>`,
    ['button span', 'click'],
    'click b;',
  ],
  'a word in a button, by its text': [
    `<button id=b ${CLICK}><span class=none>Save</span></button>`,
    ['{span}Save', 'click'],
    'click b;',
  ],
  'an icon in a button': [
    `<button id=b aria-label=Close ${CLICK}><svg class=none width=20 height=20><path d="M0 0L20 20"/></svg></button>`,
    ['button svg', 'click'],
    'click b;',
  ],
  'an icon with a listener of its own': [
    `<button id=b aria-label=Close ${CLICK}><svg onclick="say('never')" class=none width=20 height=20><path d="M0 0L20 20"/></svg></button>`,
    ['button svg', 'click'],
    'click b;',
  ],
  'a word on a card': [card('<b id=word class=none>Buy</b>'), ['#word', 'click'], 'click card;'],
  'a button that is all there is in its link': [
    `<a id=link href="/x" ${CLICK}><button class=none>Buy</button></a>`,
    ['{button}Buy', 'click'],
    'click link;',
  ],
  'a part that takes the pointer again': [
    `<div ${CLICK} id=card class=box><a id=link href="/x" class=none data-hears=click><b class=auto>Next</b></a></div>`,
    ['{a}Next', 'click'],
    'click link;click card;',
  ],
  'a button on a card that takes no pointer': [
    `<div class="box none"><button id=b class=auto ${CLICK}>Buy</button></div>`,
    ['{button}Buy', 'click'],
    'click b;',
  ],
  'a button under a veil': [
    `<button id=b ${CLICK}>Buy</button><div class=none style="position:fixed;inset:0;background:#0001"></div>`,
    ['{button}Buy', 'click'],
    'click b;',
  ],
  'a label over its field': [
    `<div style="position:relative"><input id=name ${CLICK}><label class=none for=name style="position:absolute;left:4px;top:2px">Name</label></div>`,
    ['label', 'click'],
    'click name;',
  ],
  'a check box in an option': [
    `<div role=listbox><div role=option id=red class=box ${CLICK} onclick="tick.checked = !tick.checked"><input id=tick type=checkbox class=none aria-label=Red> Red</div></div>`,
    ['#tick', 'check'],
    'click red;',
  ],
  'a check box in a row': [
    `<table><tr id=row ${CLICK} onclick="tick.checked = !tick.checked"><td><input id=tick type=checkbox class=none aria-label=Red><td><a href="/x">Red</a></tr></table>`,
    ['#tick', 'click'],
    'click row;',
  ],
  'the thumb of a slider, on the track that is dragged for it': [
    `<div id=track class=box style="position:relative;width:200px" data-hears=pointerdown>
       <span role=slider tabindex=0 aria-label=Price aria-valuenow=5 class=none style="position:absolute;left:90px;top:5px;width:20px;height:20px"></span></div>`,
    ['{slider}Price', 'click'],
    'pointerdown track;',
  ],
  'the input of a combobox, in the combobox': [
    `<div role=combobox aria-haspopup=listbox id=box class=box ${CLICK}><input role=combobox aria-label=State class=none></div>`,
    ['{combobox}State', 'click'],
    'click box;',
  ],
  'what takes the pointer once its animation has ended': [
    `<style>@keyframes come { from { pointer-events: none } to { pointer-events: none } } #b { animation: come 2.5s }</style><button id=b ${CLICK}>Buy</button>`,
    ['{button}Buy', 'click'],
    'click b;',
  ],
  'what a script gives the pointer back': [
    `<button id=b class=none ${CLICK}>Buy</button><script>setTimeout(() => { b.className = ''; }, 700);</script>`,
    ['{button}Buy', 'click'],
    'click b;',
  ],
  'what takes the pointer while it is above its row': [
    `<style>#row:hover .none { pointer-events: auto }</style><div id=row class=box><button id=b class=none ${CLICK}>Buy</button></div>`,
    ['{button}Buy', 'click'],
    'click b;',
  ],
  'what stops taking the pointer once it is pressed': [
    `<div class=box><button id=b data-hears=pointerdown onpointerdown="b.className = 'none'">Hold</button></div>`,
    ['{button}Hold', 'click'],
    'pointerdown b;',
  ],
};

for (const [name, [html, action, heard]] of Object.entries(PRESSED)) {
  t.test(`what is drawn for something else is pressed for that: ${name}`, async (t) => {
    await open(html);
    t.equal(await act(action), 'held');
    t.equal(await said(), heard);
  });
}

t.test(
  'what needs no press goes on: keys, the focus, lists of the browser, and the pointer above something',
  async (t) => {
    await open(`<div id=card class=box ${CLICK}><input id=name aria-label=Name class=none><br>
    <select id=size class=none><option>S<option>M</select><br><a href="#there" id=link class=none data-hears=keydown>Next</a>
    <span id=hint data-hears=mouseover><button class=none>Sold out</button></span></div>`);
    t.equal(await act(['{input}Name', 'input', 'Ada']), 'held');
    t.equal(await call('value', '#name'), 'Ada');
    t.equal(await act(['{input}Name', 'clear']), 'held');
    t.equal(await call('value', '#name'), '');
    t.equal(await act(['#size', 'select', 'M']), 'held');
    t.equal(await call('value', '#size'), 'M');
    t.equal(await act(['{a}Next', 'focus']), 'held');
    t.equal(await act(['{a}Next', 'press', 'Enter']), 'held');
    t.equal(await act(['{button}Sold out', 'hover']), 'held');
    t.equal(await said(), 'keydown link;mouseover hint;');
    await call('expect', '{button}Sold out', 'toBeEnabled', { not: false, values: [] });
  },
);

t.test(
  'a menu that takes the pointer from its page is closed by a press beside it, and by none on a control',
  async (t) => {
    await open(`<h1>Shop</h1><button id=buy ${CLICK}>Buy</button><div id=row onclick="say('row')" style="cursor:pointer">A row</div>
    <div id=menu class=auto style="width:200px">A menu</div><script>
    document.body.classList.add('none');
    document.addEventListener('pointerdown', (event) => {
      if (menu.contains(event.target)) return;
      menu.hidden = true;
      document.body.classList.remove('none');
    });
    </script>`);
    t.match(await act(['{button}Buy', 'click'], { timeout: 500 }), NO_PRESS);
    t.match(await act(['{div}A row', 'click'], { timeout: 500 }), NO_PRESS);
    const { elements } = (await look()) as WholeLook;
    t.same(
      elements.map(({ locator, disabled }) => [locator, disabled]),
      [
        ['{button}Buy', true],
        ['{div}A row', true],
      ],
    );
    t.equal(await act(['h1', 'click']), 'held');
    t.equal(await act(['{button}Buy', 'click']), 'held');
    t.equal(await said(), 'click buy;');
  },
);

t.test(
  'a look says of what takes no press that it is disabled, and nothing of what can be used all the same',
  async (t) => {
    await open(`<ul><li><a href="/1">One</a></li><li><a href="/2" class=none>Two</a></li></ul>
    ${card('<button class=none>Buy</button>')}<input aria-label=Name class=none><select aria-label=Size class=none><option>S</select>
    <a href="/3" class=none><b class=auto>Three</b></a><a href="/4"><button class=none>Four</button></a>
    <div role=option class=box onclick=""><input type=checkbox class=none aria-label=Red></div>
    <div style="height:2000px"></div><button class=none>Far</button><button>Near</button>`);
    const { elements } = (await look()) as WholeLook;
    const disabled = elements.filter((one) => one.disabled === true).map(({ locator }) => locator);
    t.same(disabled, ['{a}Two', '{button}Buy', '{button}Far']);
  },
);
