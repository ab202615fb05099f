import { expect, type Locator } from 'playwright/test';
import t from 'tap';
import { encodeError } from '#troupe/protocol/errors.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { openReader } from '../support/reader.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call } = await openAgent(t, lease, { policy: 'off' });
const { page } = await openReader(t);

/** Is given to what holds at once. */
const SOON = { timeout: 1_000 };
/** Is given to what must not come true. */
const NEVER = { timeout: 20 };

/** The element in question, with these attributes and this in place of its text. */
type It = (attributes?: string, content?: string) => string;

const show = (id: string) => `<script>document.getElementById('${id}').showModal()</script>`;
const modal = (id: string, content: string) => `<dialog id=${id}>${content}</dialog>`;
const shadow = (content: string, light = '', mode = 'open') =>
  `<div id=host>${light}</div><template id=inner>${content}</template>
   <script>host.attachShadow({ mode: '${mode}' }).append(inner.content.cloneNode(true))</script>`;
const VEIL = '<div style="position:fixed;inset:0;background:#fff;z-index:9"></div>';
const OTHER = '<h2>Another</h2><p>Something else</p>';
/** A square, as the file of a picture. */
const SQUARE = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')}`;

/** What may become of any element. */
const STATES: Readonly<Record<string, (it: It) => string>> = {
  plain: (it) => it(),
  'display: none': (it) => it('style="display:none"'),
  'in display: none': (it) => `<div style="display:none">${it()}</div>`,
  'visibility: hidden': (it) => it('style="visibility:hidden"'),
  'in visibility: hidden': (it) => `<div style="visibility:hidden">${it()}</div>`,
  'visible in visibility: hidden': (it) => `<div style="visibility:hidden">${it('style="visibility:visible"')}</div>`,
  'visibility: collapse': (it) => it('style="visibility:collapse"'),
  'in visibility: collapse': (it) => `<div style="visibility:collapse">${it()}</div>`,
  'opacity: 0': (it) => it('style="opacity:0"'),
  'in opacity: 0': (it) => `<div style="opacity:0">${it()}</div>`,
  hidden: (it) => it('hidden'),
  'hidden with a display of its own': (it) => it('hidden style="display:block"'),
  'hidden=until-found': (it) => it('hidden=until-found'),
  'in hidden=until-found': (it) => `<div hidden=until-found>${it()}</div>`,
  'no width': (it) => it('style="display:block;width:0;padding:0;border:0;overflow:hidden"'),
  'no height': (it) => it('style="display:block;height:0;padding:0;border:0;overflow:hidden"'),
  'neither width nor height': (it) => it('style="display:block;width:0;height:0;padding:0;border:0;overflow:hidden"'),
  'no size, and content flows over': (it) => it('style="display:block;width:0;height:0;padding:0;border:0"'),
  'in no size that it flows over': (it) => `<div style="width:0;height:0">${it()}</div>`,
  'in no size that clips': (it) => `<div style="width:0;height:0;overflow:hidden">${it()}</div>`,
  'in no height that clips': (it) => `<div style="height:0;overflow:hidden">${it()}</div>`,
  'in no height that is scrolled': (it) => `<div style="height:0;overflow:auto">${it()}</div>`,
  'display: contents': (it) => it('style="display:contents"'),
  'in display: contents': (it) => `<div style="display:contents">${it()}</div>`,
  'display: contents around an element': (it) => it('style="display:contents"', '<b>~</b>'),
  'display: contents around an element that is hidden': (it) =>
    it('style="display:contents"', '<b style="display:none">~</b>'),
  'clip-path: inset(50%)': (it) => it('style="clip-path:inset(50%)"'),
  'clip: rect(0 0 0 0)': (it) => it('style="position:absolute;clip:rect(0 0 0 0)"'),
  'for screen readers alone': (it) =>
    it(
      'style="position:absolute;width:1px;height:1px;margin:-1px;padding:0;overflow:hidden;clip:rect(0,0,0,0);white-space:nowrap;border:0"',
    ),
  'far off to the left': (it) => it('style="position:absolute;left:-9999px"'),
  'far down': (it) => it('style="position:absolute;top:9999px"'),
  'transform: scale(0)': (it) => it('style="display:block;transform:scale(0)"'),
  'transform: translate(-9999px)': (it) => it('style="display:block;transform:translate(-9999px)"'),
  'content-visibility: hidden': (it) => it('style="display:block;content-visibility:hidden"'),
  'in content-visibility: hidden': (it) => `<div style="content-visibility:hidden">${it()}</div>`,
  'in content-visibility: auto, in view': (it) => `<div style="content-visibility:auto">${it()}</div>`,
  'in content-visibility: auto, out of view': (it) =>
    `<div style="height:9999px"></div><div style="content-visibility:auto">${it()}</div>`,
  'in closed details': (it) => `<details><summary>More</summary>${it()}</details>`,
  'in open details': (it) => `<details open><summary>More</summary>${it()}</details>`,
  'in the summary of closed details': (it) => `<details><summary>More ${it()}</summary></details>`,
  'in a closed dialog': (it) => modal('d', it()),
  'in an open dialog': (it) => `<dialog open>${it()}</dialog>`,
  'in a modal dialog': (it) => modal('d', it()) + show('d'),
  'behind a modal dialog': (it) => it() + modal('d', OTHER) + show('d'),
  'behind a modal dialog that was opened and closed': (it) =>
    `${it()}${modal('d', OTHER)}${show('d')}<script>d.close()</script>`,
  'behind aria-modal': (it) => `${it()}<div role=dialog aria-modal=true>${OTHER}</div>`,
  'in aria-modal': (it) => `<div role=dialog aria-modal=true>${it()}</div><p>Behind</p>`,
  'in the lower of two modal dialogs': (it) => modal('a', it()) + modal('b', OTHER) + show('a') + show('b'),
  'in the upper of two modal dialogs': (it) => modal('a', OTHER) + modal('b', it()) + show('a') + show('b'),
  'in the lower of two, which comes later': (it) => modal('b', OTHER) + modal('a', it()) + show('a') + show('b'),
  'in the upper of two, which comes first': (it) => modal('b', it()) + modal('a', OTHER) + show('a') + show('b'),
  'behind two modal dialogs': (it) => it() + modal('a', OTHER) + modal('b', OTHER) + show('a') + show('b'),
  inert: (it) => it('inert'),
  'in inert': (it) => `<div inert>${it()}</div>`,
  'in a modal dialog in inert': (it) => `<div inert>${modal('d', it())}</div>${show('d')}`,
  'in a closed popover': (it) => `<div popover>${it()}</div>`,
  'in an open popover': (it) => `<div id=d popover>${it()}</div><script>d.showPopover()</script>`,
  'in a popover over a modal dialog': (it) =>
    `<div id=c popover=manual>${it()}</div>${modal('d', OTHER)}${show('d')}<script>c.showPopover()</script>`,
  'in a popover of a modal dialog': (it) =>
    `${modal('d', `<div id=c popover=manual>${it()}</div>`)}${show('d')}<script>c.showPopover()</script>`,
  'in a popover under a modal dialog': (it) =>
    `<div id=c popover=manual>${it()}</div>${modal('d', OTHER)}<script>c.showPopover()</script>${show('d')}`,
  'under a veil': (it) => it() + VEIL,
  'scrolled out of a box': (it) =>
    `<div style="height:50px;overflow:auto"><div style="height:500px"></div>${it()}</div>`,
  'cut off by a box': (it) => `<div style="height:50px;overflow:hidden"><div style="height:500px"></div>${it()}</div>`,
  'in a shadow root': (it) => shadow(it()),
  'in a slot': (it) => shadow('<b>Slot: </b><slot></slot>', it()),
  'in no slot': (it) => shadow('<b>No slot</b>', it()),
  'in a modal dialog of a shadow root, by a slot': (it) =>
    `${shadow('<dialog><slot></slot></dialog>', it())}<p>Behind</p>
     <script>host.shadowRoot.querySelector('dialog').showModal()</script>`,
  'in a template': (it) => `<template>${it()}</template>`,
  'in noscript': (it) => `<noscript>${it()}</noscript>`,
  'aria-hidden': (it) => it('aria-hidden=true'),
  'in aria-hidden': (it) => `<div aria-hidden=true>${it()}</div>`,
  'role=presentation': (it) => it('role=presentation'),
  'text-transform': (it) => it('style="text-transform:uppercase"'),
  'text before it by a style': (it) => `<style>#it::before { content: 'By style: ' }</style>${it()}`,
  'a part that is hidden': (it) => it('', '~<span hidden> secretly</span>'),
  'a part that is invisible': (it) => it('', '~<span style="visibility:hidden"> secretly</span>'),
  'lines and spaces': (it) => it('', '  ~\n\t '),
  removed: (it) => `${it()}<script>document.getElementById('it').remove()</script>`,
  'removed and put back': (it) =>
    `${it()}<script>{ const one = document.getElementById('it'); one.remove(); document.body.append(one) }</script>`,
  'in a table row': (it) => `<table><tr><td>1<td>${it()}</table>`,
  'in a table row that is collapsed': (it) => `<table><tr style="visibility:collapse"><td>1<td>${it()}</table>`,
};

/** By the name of a kind: the element, its locator, and how Playwright would find it otherwise than by its id. */
const KINDS = {
  button: {
    it: (attributes = '', content = '~') => `<button id=it ${attributes}>${content.replace('~', 'Save')}</button>`,
    byRole: '{button}Save',
    theirs: () => page.getByRole('button', { name: 'Save', exact: true }),
  },
  paragraph: {
    it: (attributes = '', content = '~') => `<p id=it ${attributes}>${content.replace('~', 'Tea for two')}</p>`,
    byRole: '{p}Tea for two',
    theirs: () => page.locator('p:has-text("Tea for two")'),
  },
  heading: {
    it: (attributes = '', content = '~') => `<h3 id=it ${attributes}>${content.replace('~', 'Order')}</h3>`,
    byRole: '{h3}Order',
    theirs: () => page.getByRole('heading', { level: 3, name: 'Order', exact: true }),
  },
} as const satisfies Record<string, { it: It; byRole: string; theirs: () => Locator }>;

/** What only some elements have. Each is `#it`; `role` also finds it. */
interface Special {
  readonly html: string;
  readonly role?: readonly [ours: string, theirs: Parameters<typeof page.getByRole>];
}

const SPECIAL: Readonly<Record<string, Special>> = {
  'an option of a closed select': { html: '<select><option>Tea<option id=it>Milk</select>' },
  'an option of a list': { html: '<select size=3><option>Tea<option id=it>Milk</select>' },
  'a select': {
    html: '<label>Drink <select id=it><option>Tea<option value=m selected>Milk</select></label>',
    role: ['{select}Drink', ['combobox', { name: 'Drink' }]],
  },
  'a button of a disabled fieldset': {
    html: '<fieldset disabled><button id=it>Save</button></fieldset>',
    role: ['{button}Save', ['button', { name: 'Save' }]],
  },
  'a button of the legend of a disabled fieldset': {
    html: '<fieldset disabled><legend><button id=it>Save</button></legend></fieldset>',
    role: ['{button}Save', ['button', { name: 'Save' }]],
  },
  'a disabled button': {
    html: '<button id=it disabled>Save</button>',
    role: ['{button}Save', ['button', { name: 'Save' }]],
  },
  'an aria-disabled button': {
    html: '<button id=it aria-disabled=true>Save</button>',
    role: ['{button}Save', ['button', { name: 'Save' }]],
  },
  'a button in aria-disabled': {
    html: '<div role=toolbar aria-disabled=true><button id=it>Save</button></div>',
    role: ['{button}Save', ['button', { name: 'Save' }]],
  },
  'a disabled field behind a modal dialog': {
    html: `<label>Name <input id=it disabled value=Ada></label>${modal('d', OTHER)}${show('d')}`,
    role: ['{input}Name', ['textbox', { name: 'Name' }]],
  },
  'a checkbox': {
    html: '<label>Gift <input type=checkbox id=it checked></label>',
    role: ['{input}Gift', ['checkbox', { name: 'Gift' }]],
  },
  'a checkbox behind a modal dialog': {
    html: `<label>Gift <input type=checkbox id=it checked></label>${modal('d', OTHER)}${show('d')}`,
    role: ['{input}Gift', ['checkbox', { name: 'Gift' }]],
  },
  'a checkbox of no opacity under its label': {
    html: '<label style="position:relative">Gift <input type=checkbox id=it style="position:absolute;opacity:0"></label>',
    role: ['{input}Gift', ['checkbox', { name: 'Gift' }]],
  },
  'a checkbox that is not displayed, with its label': {
    html: '<label>Gift <input type=checkbox id=it checked style="display:none"></label>',
  },
  'a checkbox of no size, with its label': {
    html: '<label>Gift <input type=checkbox id=it checked style="appearance:none;width:0;height:0;margin:0"></label>',
  },
  'a switch': {
    html: '<div id=it role=switch aria-checked=true tabindex=0>Light</div>',
    role: ['{switch}Light', ['switch', { name: 'Light' }]],
  },
  'an empty field': {
    html: '<label>Name <input id=it></label>',
    role: ['{input}Name', ['textbox', { name: 'Name' }]],
  },
  'a full field': {
    html: '<label>Name <input id=it value=" Ada "></label>',
    role: ['{input}Name', ['textbox', { name: 'Name' }]],
  },
  'a full field behind a modal dialog': {
    html: `<label>Name <input id=it value=Ada></label>${modal('d', OTHER)}${show('d')}`,
    role: ['{input}Name', ['textbox', { name: 'Name' }]],
  },
  'a text area': {
    html: '<label>Note <textarea id=it>One\nTwo</textarea></label>',
    role: ['{textarea}Note', ['textbox', { name: 'Note' }]],
  },
  'a hidden field': { html: '<input id=it type=hidden value=token>' },
  'an empty paragraph': { html: '<p id=it></p>' },
  'an empty paragraph with a margin inside': { html: '<p id=it style="padding:1px"></p>' },
  'a paragraph with a break': { html: '<p id=it><br></p>' },
  'a paragraph of white space': { html: '<p id=it> \n </p>' },
  'a paragraph of no-break space': { html: '<p id=it>&nbsp;</p>' },
  'display: contents around nothing': { html: '<p id=it style="display:contents"></p>' },
  'a break': { html: 'One<br id=it>Two' },
  'a rule': { html: '<hr id=it>' },
  'a drawing': { html: '<svg id=it width=20 height=20><circle cx=9 cy=9 r=5 /></svg>' },
  'a slanted line': { html: '<svg width=20 height=20><line id=it x1=1 y1=1 x2=9 y2=9 stroke=red /></svg>' },
  'a level line': { html: '<svg width=20 height=20><line id=it x1=1 y1=9 x2=9 y2=9 stroke=red /></svg>' },
  'a level line without a stroke': { html: '<svg width=20 height=20><line id=it x1=1 y1=9 x2=9 y2=9 /></svg>' },
  'a path': { html: '<svg width=20 height=20><path id=it d="M1 1 L9 9 L1 9 Z" /></svg>' },
  'a path that is empty': { html: '<svg width=20 height=20><path id=it d="" /></svg>' },
  'a part of a drawing that is used': {
    html: '<svg width=20 height=20><defs><rect id=r width=9 height=9 /></defs><use id=it href=#r /></svg>',
  },
  'a part of a drawing that is only defined': {
    html: '<svg width=20 height=20><defs><rect id=it width=9 height=9 /></defs></svg>',
  },
  'a text of a drawing': { html: '<svg width=99 height=20><text id=it y=15>Map</text></svg>' },
  'an image': { html: `<img id=it alt=Logo src='${SQUARE}'>`, role: ['{img}Logo', ['img', { name: 'Logo' }]] },
  'an image that is missing': { html: '<img id=it src=/missing.png>' },
  'an image that is missing, with a text': { html: '<img id=it src=/missing.png alt=Logo>' },
  'an image that is missing, with a size': { html: '<img id=it src=/missing.png width=9 height=9>' },
  'a floated picture in a link': {
    html: `<a id=it href=/x><img alt=Logo style="float:left" src='${SQUARE}'></a>`,
    role: ['{a}Logo', ['link', { name: 'Logo' }]],
  },
  'a placed picture in a link': {
    html: `<a id=it href=/x><img alt=Logo style="position:absolute" src='${SQUARE}'></a>`,
    role: ['{a}Logo', ['link', { name: 'Logo' }]],
  },
  'a table row': { html: '<table><tr id=it><td>Tea<td>2 €</table>' },
  'a table row that is collapsed': { html: '<table><tr id=it style="visibility:collapse"><td>Tea<td>2 €</table>' },
  'a column': { html: '<table><col id=it><tr><td>Tea</table>' },
  'an area of a picture': {
    html: `<img src='${SQUARE}' width=99 height=99 usemap=#m><map name=m><area id=it href=/x alt=North shape=rect coords=1,1,50,50></map>`,
  },
  'the dialog itself, modal': { html: modal('it', OTHER) + show('it') },
  'the dialog itself, closed': { html: modal('it', OTHER) },
  'the dialog itself, under another': { html: modal('it', OTHER) + modal('b', OTHER) + show('it') + show('b') },
  'the dialog itself, open by a style alone': { html: `<style>dialog { display: block }</style>${modal('it', OTHER)}` },
  'the dialog itself, modal and hidden by removing its attribute': {
    html: `${modal('it', OTHER)}${show('it')}<script>it.removeAttribute('open')</script>`,
  },
  'the page behind a modal dialog that is hidden': {
    html: `<p id=it>Tea</p>${modal('d', OTHER)}${show('d')}<script>d.removeAttribute('open')</script>`,
  },
  'a script': { html: '<script id=it>0</script>' },
};

type Question = 'visible' | 'count' | 'text' | 'enabled' | 'checked' | 'value';
type Answers = Partial<Record<Question, boolean | number | string | null>>;
/** The locators of an element: Playwright's and ours ask for the same one. */
type By = 'css' | 'xpath' | 'role';

/** Answers of ours that differ from Playwright's: in which states, by which locators, and what ours are. */
interface Difference {
  readonly states: readonly string[];
  readonly by: readonly By[];
  readonly ours: Answers;
}
const EVERY_WAY: readonly By[] = ['css', 'xpath', 'role'];
const SEEN: Answers = { visible: true, count: 1 };
const UNSEEN: Answers = { visible: false, count: 0 };

const DIFFERENCES: readonly Difference[] = [
  // A box of no size that clips shows nothing of what is in it, as a folded panel: that is hidden.
  {
    states: [
      'button: in no size that clips',
      ...Object.keys(KINDS).flatMap((kind) => [
        `${kind}: in no height that clips`,
        `${kind}: in no height that is scrolled`,
      ]),
    ],
    by: EVERY_WAY,
    ours: UNSEEN,
  },
  // What is hidden from screen readers alone is there for everybody else, and so by its role and name.
  {
    states: ['button: aria-hidden', 'button: in aria-hidden', 'heading: aria-hidden', 'heading: in aria-hidden'],
    by: ['role'],
    ours: SEEN,
  },
  // The word h3 is that of the element, whatever role it has.
  { states: ['heading: role=presentation'], by: ['role'], ours: SEEN },
  // A name has in it what the document says, and not what styles put before it.
  {
    states: ['button: text before it by a style', 'heading: text before it by a style'],
    by: ['role'],
    ours: SEEN,
  },
  // The value of a select is what its chosen option reads, and that of a checkbox whether it is checked.
  { states: ['a select'], by: EVERY_WAY, ours: { value: 'Milk' } },
  { states: ['a checkbox', 'a checkbox behind a modal dialog'], by: EVERY_WAY, ours: { value: 'true' } },
  { states: ['a checkbox of no opacity under its label'], by: EVERY_WAY, ours: { value: 'false' } },
  // An option is selected or not, and neither checked nor unchecked.
  { states: ['an option of a list'], by: ['css', 'xpath'], ours: { checked: null } },
  // What the browser skips as it draws has no drawn text for Playwright; ours read what it would be.
  {
    states: [
      'button: hidden=until-found',
      'button: content-visibility: hidden',
      'button: in content-visibility: auto, out of view',
    ],
    by: EVERY_WAY,
    ours: { text: 'Save' },
  },
  { states: ['paragraph: in content-visibility: auto, out of view'], by: EVERY_WAY, ours: { text: 'Tea for two' } },
  { states: ['heading: in content-visibility: auto, out of view'], by: EVERY_WAY, ours: { text: 'Order' } },
  // The text of a text area is what stands in its markup.
  { states: ['a text area'], by: EVERY_WAY, ours: { text: 'One Two' } },
  // A line is as broad as it is drawn, though its box is not.
  { states: ['a level line'], by: ['css', 'xpath'], ours: SEEN },
  // A link whose picture does not take up room in it has no box of its own, and is seen all the same.
  { states: ['a floated picture in a link', 'a placed picture in a link'], by: EVERY_WAY, ours: SEEN },
  // An area of a picture is where its shape is.
  { states: ['an area of a picture'], by: ['css', 'xpath'], ours: SEEN },
];

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => encodeError(error).error,
  );

async function theirAnswers(locator: Locator): Promise<Answers> {
  // Ours count what is visible.
  const count = await locator.filter({ visible: true }).count();
  const visible = await locator.isVisible();
  await (visible ? expect(locator).toBeVisible(SOON) : expect(locator).toBeHidden(SOON));
  // Ours read what is visible.
  if (!visible) return { visible, count };
  const asked = async <T>(answer: Promise<T>): Promise<T | null> => answer.catch(() => null);
  const { timeout } = SOON;
  // Ours read what is drawn, as Playwright does where it is asked to.
  // biome-ignore lint/performance/useDomNodeTextContent: what is drawn is wanted.
  const text = (await asked(locator.innerText({ timeout })))?.replace(/\s+/g, ' ').trim() ?? null;
  if (text !== null) await expect(locator).toHaveText(text, { ...SOON, useInnerText: true });
  const enabled = await locator.isEnabled({ timeout });
  const checked = await asked(locator.isChecked({ timeout }));
  const value = await asked(locator.inputValue({ timeout }));
  return { visible, count, text, enabled, checked, value };
}

/** Answers as `wanted` where ours say the same, else with what ours say instead. */
async function ourAnswers(locator: string, wanted: Answers): Promise<Answers> {
  const fails = (not: boolean, matcher: string, ...values: readonly unknown[]) =>
    failureOf(call('expect', locator, matcher, { not, values }));
  /** One matcher holds, and its opposite does not. */
  const isEither = async (what: boolean, [yes, no]: readonly [string, string]) => {
    const why = (await fails(false, what ? yes : no, SOON)) ?? (await fails(true, what ? no : yes, SOON));
    if (why !== null) return why;
    const held =
      (await fails(false, what ? no : yes, NEVER)) === null || (await fails(true, what ? yes : no, NEVER)) === null;
    return held ? `both ${yes} and ${no}` : what;
  };
  const answers: Answers = {};
  for (const [question, value] of Object.entries(wanted) as [Question, Answers[Question]][]) {
    const ours = async () => {
      switch (question) {
        case 'visible': {
          const why = await failureOf(call('wait', value === true ? locator : `!${locator}`, SOON));
          return why ?? (await isEither(value === true, ['toBeVisible', 'toBeHidden']));
        }
        case 'count':
          return (await fails(false, 'toHaveCount', value, SOON)) ?? value;
        case 'text':
          return value === null ? null : ((await fails(false, 'toHaveText', value, SOON)) ?? value);
        case 'enabled':
          return isEither(value === true, ['toBeEnabled', 'toBeDisabled']);
        case 'checked':
          if (value === null) return (await fails(true, 'toBeChecked', NEVER)) === null ? false : null;
          return (await fails(value !== true, 'toBeChecked', SOON)) ?? value;
        case 'value':
          // Ours have a value for other controls too, as for a switch.
          return value === null ? null : ((await fails(false, 'toHaveValue', value, SOON)) ?? value);
      }
    };
    answers[question] = (await ours()) ?? null;
  }
  return answers;
}

async function compare(
  t: Tap,
  state: string,
  html: string,
  byRole: readonly [ours: string, theirs: Locator] | null,
): Promise<void> {
  const url = site.set('/state', `<!doctype html><meta charset=utf-8><title>State</title>${html}`);
  await Promise.all([call('go', url), page.goto(url)]);
  const pairs: [By, string, Locator][] = [
    ['css', '#it', page.locator('#it')],
    ['xpath', '//*[@id="it"]', page.locator('//*[@id="it"]')],
    ...(byRole === null ? [] : [['role', ...byRole] satisfies [By, string, Locator]]),
  ];
  for (const [by, ours, locator] of pairs) {
    const theirs = await theirAnswers(locator);
    const different = DIFFERENCES.find(({ states, by: ways }) => states.includes(state) && ways.includes(by))?.ours;
    const wanted = { ...(different?.visible === false ? {} : theirs), ...different };
    t.same(await ourAnswers(ours, wanted), wanted, `${state}, ${ours}`);
    if (different === undefined) continue;
    for (const question of Object.keys(different) as Question[]) {
      t.not(theirs[question], different[question], `${state}, ${ours}: the difference in ${question} is one`);
    }
  }
}
type Tap = Pick<typeof t, 'same' | 'not'>;

for (const [kind, { it, byRole, theirs }] of Object.entries(KINDS)) {
  t.test(`a ${kind} in each state is seen, counted and read as Playwright does`, async (t) => {
    for (const [state, draw] of Object.entries(STATES))
      await compare(t, `${kind}: ${state}`, draw(it), [byRole, theirs()]);
  });
}

t.test('an element of each other kind is seen, counted and read as Playwright does', async (t) => {
  for (const [state, { html, role }] of Object.entries(SPECIAL))
    await compare(t, state, html, role === undefined ? null : [role[0], page.getByRole(...role[1])]);
});

t.test('each difference from Playwright is in a state that is tried', async (t) => {
  const tried = new Set([
    ...Object.keys(KINDS).flatMap((kind) => Object.keys(STATES).map((state) => `${kind}: ${state}`)),
    ...Object.keys(SPECIAL),
  ]);
  t.same(
    DIFFERENCES.flatMap(({ states }) => states).filter((state) => !tried.has(state)),
    [],
  );
});
