import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, look } = await openAgent(t, lease);

const SWITCH = '<button role=switch aria-checked=false style="width:44px;height:22px"></button>';
const SLIDER = '<div role=slider tabindex=0 aria-valuenow=5 style="width:90px;height:9px;background:#ccc"></div>';
const deep = (html: string, levels = 8): string => `${'<div>'.repeat(levels)}${html}${'</div>'.repeat(levels)}`;
const ICON = '<svg width=12 height=12><path d="M0 0h9v9z"/></svg>';
const POPUP = 'position:absolute;background:#fff;border:1px solid';

/** A page, and what its look lists. */
const PAGES: { readonly [what: string]: readonly [html: string, ...locators: string[]] } = {
  // A text that is drawn beside a control is its name, however deep it stands.
  'a slider in wrappers': [`<div style="display:flex"><label>Volume</label>${deep(SLIDER)}</div>`, '{slider}Volume'],
  'a label in wrappers': [`<div style="display:flex">${deep('Volume')}${deep(SLIDER)}</div>`, '{slider}Volume'],
  'a slider below its heading': [`<div>${deep('<b>Volume</b>', 6)}${deep(SLIDER)}</div>`, '{slider}Volume'],
  'a spinbutton between its buttons': [
    `<div style="display:flex"><div style="width:100px">Guests</div>${deep('<button>-</button><input role=spinbutton size=2><button>+</button>', 5)}</div>`,
    '{button}-',
    '{spinbutton}Guests',
    '{button}+',
  ],
  'a radio in wrappers': [
    `<div><div style="display:flex">${deep('<input type=radio>')}<div>Small</div></div><div style="display:flex">${deep('<input type=radio>')}<div>Large</div></div></div>`,
    '{input}Small',
    '{input}Large',
  ],
  'a file': [`<div style="display:flex"><div>Photo</div>${deep('<input type=file>')}</div>`, '{input}Photo'],
  'a field beside a button': [
    `<div><div>Search</div>${deep('<input><button>Go</button>', 5)}</div>`,
    '{input}Search',
    '{button}Go',
  ],
  'a switch at the end of its row': [
    `<div style="display:flex;justify-content:space-between;width:600px"><span>Dark mode</span>${SWITCH}</div>
     <div style="display:flex;justify-content:space-between;width:600px"><span>Sounds</span>${SWITCH}</div>`,
    '{switch}Dark mode',
    '{switch}Sounds',
  ],
  'a column of labels': [
    '<div style="display:grid;grid-template-columns:220px 200px"><div>Mail</div><div><input></div><div>Telephone number</div><div><input></div></div>',
    '{input}Mail',
    '{input}Telephone number',
  ],
  'labels before fields in one line': [
    '<div>First <input size=5> Last <input size=5></div>',
    '{input}First',
    '{input}Last',
  ],
  'labels after boxes in one line': [
    '<div><input type=checkbox> Tea <input type=checkbox> Milk</div>',
    '{input}Tea',
    '{input}Milk',
  ],
  'a number below its box': [
    '<div style="display:flex;gap:9px"><div style="width:30px"><input type=radio><div>1</div></div><div style="width:30px"><input type=radio><div>2</div></div></div>',
    '{input}1',
    '{input}2',
  ],
  'a label that is drawn first': [
    '<div style="display:flex;flex-direction:row-reverse;justify-content:flex-end"><input><span>Name</span></div>',
    '{input}Name',
  ],
  'a text that is read from the right': ['<div dir=rtl><span>שם</span> <input></div>', '{input}שם'],
  'a long text beside a box, with a link in it': [
    '<div style="width:300px"><input type=checkbox> I agree to the <a href=#t>terms</a> of use</div>',
    '{input}I agree to the',
    '{a}terms',
  ],
  'the thumbs of a range': [
    `<div><div>Price</div><div style="position:relative;height:30px"><div role=slider tabindex=0 style="position:absolute;left:0;width:9px;height:9px;background:red"></div><div role=slider tabindex=0 style="position:absolute;left:80px;width:9px;height:9px;background:red"></div></div></div>`,
    '{slider:1}Price',
    '{slider:2}Price',
  ],

  // What is no name: it is far, of something else, or passes.
  'the next text of the document': [
    `<div>${SWITCH} <button>Save</button></div><footer style="margin-top:20px">© Troupe</footer>`,
    '{switch}',
    '{button}Save',
  ],
  'a text far away on the same line': [
    `<div>${SWITCH}<span style="margin-left:200px">Elsewhere</span></div>`,
    '{switch}',
  ],
  'a text far above': ['<div><p style="margin:0 0 90px">Far</p><input></div>', '{input}'],
  'a text below a field': ['<div><input><p>Required</p></div>', '{input}'],
  'a text after a field': ['<div><input> kg</div>', '{input}'],
  'the label of the next field': [
    '<div><div><input></div><div>Mail</div><div><input></div></div>',
    '{input:1}',
    '{input}Mail',
  ],
  'an item of a menu': [
    `<div>${SWITCH}</div><div style="${POPUP};left:60px;top:8px"><ul><li role=menuitem onclick="1">ada</li></ul></div>`,
    '{switch}',
    '{menuitem}ada',
  ],
  'a popup without a role': [
    `<div id=app style="position:relative">${SWITCH}</div><div style="${POPUP};left:60px;top:8px">Saved</div>`,
    '{switch}',
  ],
  'a popup in a holder of no size': [
    `<div>${SWITCH}</div><div><div style="${POPUP};left:60px;top:8px">Saved</div></div>`,
    '{switch}',
  ],
  'a tip over the field': [
    `<div style="position:relative;margin-top:40px"><div role=tooltip style="${POPUP};top:-28px">At least 8 characters</div><input></div>`,
    '{input}',
  ],
  'a message above the field': ['<div><div role=alert>Wrong password</div><input></div>', '{input}'],
  'a text that is not visible': ['<div><span style="visibility:hidden">Ghost</span><input></div>', '{input}'],
  'a text that is not visible, in a part': [
    '<div><div><i style="visibility:hidden">Ghost</i></div><input></div>',
    '{input}',
  ],
  'a text for screen readers alone': [
    '<div><span style="position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)">Ghost</span><input></div>',
    '{input}',
  ],
  'a transparent text': ['<div><span style="opacity:0">Ghost</span><input></div>', '{input}'],
  'a text in a part of a label that is not visible': [
    '<label>Name <i style="visibility:hidden">Ghost</i><input></label>',
    '{input}Name',
  ],
  'a heading over several fields': ['<div><h2>Address</h2><div><input><input></div></div>', '{input:1}', '{input:2}'],

  // A class that only says how something is drawn.
  'a class for the focus': ['<div><button class="mantine-focus-auto m_77c9d27d"><i></i></button></div>', '{button}'],
  'a class for a hairline': ['<div><button class="van-hairline--left"><i></i></button></div>', '{button}'],
  'a class for translators': ['<div><button class="notranslate"><i></i></button></div>', '{button}'],

  'a class for links beside that of a toggler': [
    `<div><button class="p-tree-toggler p-link">${ICON}</button></div>`,
    '{button}tree toggler',
  ],

  'a slider whose thumb is far from the text': [
    `<div><div>Brightness</div><div style="position:relative;width:600px;height:6px;margin-top:9px;background:#ccc">
     <span role=slider tabindex=0 aria-valuenow=80 style="position:absolute;left:480px;top:-5px;width:16px;height:16px;background:#333"></span></div></div>`,
    '{slider}Brightness',
  ],

  // An icon that keys do not reach is a part of the field that it is drawn in.
  'the arrows of a number': [
    `<div><label for=n>Amount</label><br><span><input id=n><span><button tabindex=-1 class=number-up>${ICON}</button><button tabindex=-1 class=number-down>${ICON}</button></span></span></div>`,
    '{input}Amount',
    '{button}number up Amount',
    '{button}number down Amount',
  ],
  'the eye of a password': [
    `<div><label for=p>Password</label><br><span><input id=p type=password>${ICON.replace('<svg', '<svg class=eye onclick="1" style="cursor:pointer"')}</span></div>`,
    '{input}Password',
    '{svg}eye Password',
  ],
  'an icon that keys reach': [
    `<div><input placeholder=Words><button class=search>${ICON}</button></div>`,
    '{input}Words',
    '{button}search',
  ],
  'an arrow beside the year of a calendar': [
    `<div style="position:relative;width:300px"><span tabindex=-1 onclick="1" style="cursor:pointer" class=prev-month>${ICON}</span><span>May <input aria-label=Year value=2026 tabindex=-1 style="width:60px"></span>
     <span onclick="1" style="cursor:pointer;position:absolute;right:0" class=next-month>${ICON}</span></div>`,
    '{span}prev month',
    '{input}Year',
    '{span}next month',
  ],
  'an icon below a field': [
    `<div><input placeholder=Words><br><button tabindex=-1 class=search>${ICON}</button></div>`,
    '{input}Words',
    '{button}search',
  ],
};

for (const [what, [html, ...locators]] of Object.entries(PAGES)) {
  t.test(`Names: ${what}`, async (t) => {
    await call('go', site.set('/names', `<!doctype html><meta charset=utf-8><title>Names</title>${html}`));
    t.same(
      (await look({ full: true })).elements.map(({ locator }) => locator),
      locators,
    );
  });
}

const MIRRORED = `<div style="display:inline-block;position:relative;border:1px solid;min-width:60px">
    <input id=a style="position:absolute;left:0;top:0;width:100%"><div id=m style="MIRROR">&nbsp;</div></div>
  <script>a.oninput = () => { m.textContent = a.value; };</script>`;
const EDITED = `<span title=tag2><span id=a contenteditable tabindex=0>tag2</span></span>
  <script>a.addEventListener('input', () => { a.parentElement.title = a.textContent; });</script>`;

/** Pages that show once more what is typed into their field, and the field's locator before and after it. */
const MIRRORS: { readonly [what: string]: readonly [html: string, locator: string] } = {
  'a mirror that is not visible': [MIRRORED.replace('MIRROR', 'visibility:hidden;white-space:pre'), '{input}'],
  'a mirror that is drawn': [MIRRORED.replace('MIRROR', 'white-space:pre'), '{input}'],
  'a mirror before the field': [
    '<div><span id=m></span> <input id=a></div><script>a.oninput = () => { m.textContent = a.value; };</script>',
    '{input}',
  ],
  'the title of what is edited': [EDITED, '{span}'],
  'a text in what is not edited': [
    '<b contenteditable=false title=tag2><i><span id=a contenteditable>tag2</span></i></b>',
    '{span}',
  ],
};

for (const [what, [html, locator]] of Object.entries(MIRRORS)) {
  t.test(`A field is not called by its own value: ${what}`, async (t) => {
    await call('go', site.set('/names', `<!doctype html><title>Names</title>${html}`));
    for (const typed of ['dev', 'second']) {
      await call('act', locator, 'input', typed);
      const [field] = (await look({ full: true })).elements;
      t.equal(field?.locator, locator);
      t.equal(
        await call('page', "document.getElementById('a').value ?? document.getElementById('a').textContent"),
        typed,
      );
    }
    t.match(await call('act', locator, 'press', 'Enter'), { changed: Boolean });
  });
}

t.test('A menu changes the name of nothing beside it', async (t) => {
  await call(
    'go',
    site.set(
      '/names',
      `<!doctype html><title>Names</title><div id=app>${SWITCH}</div><button style="margin-top:150px" onclick="more()">More</button>
      <script>function more() { const popup = document.createElement('div');
        popup.style.cssText = 'position:absolute;left:60px;top:32px;background:#fff'; popup.innerHTML = '<b>Hello</b><ul><li role=menuitem onclick="document.title = 1">ada</li></ul>';
        document.body.append(popup); }</script>`,
    ),
  );
  await look({ full: true });
  await call('act', '{button}More', 'click');
  t.same(
    (await look({ full: true })).elements.map(({ locator }) => locator),
    ['{switch}', '{button}More', '{menuitem}ada'],
  );
  await call('act', '{*}ada', 'click');
  t.equal(await call('page', 'document.title'), '1');
});
