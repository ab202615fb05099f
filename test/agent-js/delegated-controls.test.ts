import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, look, failure } = await openAgent(t, lease);

const onDocument = '<script>document.addEventListener("pointerdown", () => {})</script>';
const on = (id: string, type = 'click') => `<script>${id}.addEventListener(${JSON.stringify(type)}, () => {})</script>`;

/** What a page is made of, and the locators that a look should list, in their order. */
const PAGES: { readonly [what: string]: readonly [html: string, listed: readonly string[]] } = {
  'elements whose touches the page handles itself, if its document listens': [
    `<style>.box { width: 120px; height: 40px; touch-action: none } b { touch-action: none }</style>
     <div class=box>Drag <b>me</b></div><div class=box>Tap me</div><div style="touch-action: none; height: 400px">Page</div>${onDocument}`,
    ['{div}Drag me', '{div}Tap me'],
  ],
  'cells of a table whose rows and cells say by number where they stand, if what is around them listens': [
    `<div id=sheet><table><tr index=0><td col=0>Ada</td><td col=1>30</td><td></td></tr>
     <tr index=1><td col=0>Ben</td><td col=1>40</td><td></td></tr></table></div>${on('sheet', 'dblclick')}`,
    ['{td}Ada', '{td}30', '{td}Ben', '{td}40'],
  ],
  'no element by its touches alone': ['<div style="touch-action: none; width: 99px">Still</div>', []],
  'elements in the tab order, if the document listens': [
    `<ul tabindex=0><li tabindex=0>First</li><li tabindex=0>Second</li></ul><div role=tabpanel tabindex=0>Panel</div>
     <div tabindex=0 style="overflow: auto; height: 30px"><p>Text</p><p>More</p></div>${onDocument}`,
    ['{li}First', '{li}Second'],
  ],
  'what shows a hand only while the pointer is above it': [
    `<style>.row:not(.off):hover { cursor: pointer } .list:hover i { cursor: pointer }</style>
     <div class=list><div class=row>One</div><div class="row off">Two</div><div class=row>Three</div><i>Sign</i></div>`,
    ['{div}One', '{div}Three'],
  ],
  'the days of a calendar whose listener is on its frame': [
    `<div id=calendar><p>May</p><div>${'Mo Tu We'.replace(/\w+/g, '<b>$&</b>')}</div>
     <div class=week>${[4, 5, 6, 7, 8, 9, 10].map((day) => `<span> ${day}</span>`).join('')}</div></div>${on('calendar')}`,
    [4, 5, 6, 7, 8, 9, 10].map((day) => `{span}${day}`),
  ],
  'cells with the cursor of a hand, and not the frame that listens for them': [
    `<style>.cell { cursor: pointer }</style><div id=frame><p>Mo Tu We</p><div><div class=cell>1</div><div class=cell>2</div>
     <div class=cell>3</div></div></div>${on('frame')}`,
    ['{div}1', '{div}2', '{div}3'],
  ],
  'the days of a month that is a table, and not its weeks': [
    `<table id=month><tr>${['S', 'M', 'T', 'W', 'T', 'F', 'S'].map((day) => `<th>${day}</th>`).join('')}</tr>
     <tr><td></td>${[1, 2, 3, 4, 5, 6].map((day) => `<td>${day}</td>`).join('')}</tr>
     <tr>${[7, 8, 9, 10, 11, 12, 13].map((day) => `<td>${day}</td>`).join('')}</tr><tr><td>14</td></tr></table>${on('month')}`,
    Array.from({ length: 14 }, (_, day) => `{td}${day + 1}`),
  ],
  'the rows of a table, also one with fewer cells than the others': [
    `<table id=people>${['Ada', 'Ben'].map((name) => `<tr><td>${name}</td>${'<td>Some text</td>'.repeat(6)}</tr>`).join('')}
     <tr><td>Cleo</td></tr></table>${on('people')}`,
    ['Ada', 'Ben'].map((name) => `{tr}${name}${' Some text'.repeat(6)}`).concat('{tr}Cleo'),
  ],
  'the days of all weeks of a calendar, whose days are made of more than one element': [
    `<div id=month><div class=heads>${['Su', 'Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa'].map((day) => `<span>${day}</span>`).join('')}</div>
     ${[0, 7]
       .map(
         (from) =>
           `<div class=week>${Array.from({ length: 7 }, (_, day) => `<div class=day><div><b>${from + day + 1}</b></div></div>`).join('')}</div>`,
       )
       .join('')}</div>${on('month', 'mousedown')}`,
    Array.from({ length: 14 }, (_, day) => `{div}${day + 1}`),
  ],
  'the days of weeks that are alike, and not the weeks': [
    `<div id=month>${[0, 7, 14]
      .map(
        (from) =>
          `<div class=week><div><div class=days>${Array.from({ length: 7 }, (_, day) => `<div class=day><p><i><b>${from + day + 1}</b></i></p></div>`).join('')}</div></div></div>`,
      )
      .join('')}</div>${on('month', 'mousedown')}`,
    Array.from({ length: 21 }, (_, day) => `{div}${day + 1}`),
  ],
  'the days of a month beside its events, which listen themselves': [
    `<div id=month>${[0, 7]
      .map(
        (from) =>
          `<div class=week><div class=days>${Array.from({ length: 7 }, (_, day) => `<div class=day><b>${from + day + 1}</b></div>`).join('')}</div></div>`,
      )
      .join(
        '',
      )}<div id=event style="cursor: pointer">Meeting</div></div>${on('month', 'mousedown')}${on('event', 'mousedown')}`,
    [...Array.from({ length: 14 }, (_, day) => `{div}${day + 1}`), '{div}Meeting'],
  ],
  'no heads of days that are buttons': [
    `<div id=frame><div>${['Su', 'Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa'].map((day) => `<span class=head>${day}</span>`).join('')}</div>
     <div>${Array.from({ length: 7 }, (_, day) => `<button>${day + 1}</button>`).join('')}</div></div>${on('frame')}`,
    Array.from({ length: 7 }, (_, day) => `{button}${day + 1}`),
  ],
  'the handle by which an option is carried': [
    `<style>.grip { cursor: move; width: 16px; height: 16px }</style><div role=listbox tabindex=0 aria-label=Tasks>${[
      'Mail',
      'Sort',
    ]
      .map((name) => `<div role=option style="width: 200px">${name}<div class=grip></div></div>`)
      .join('')}</div>`,
    ['{option}Mail', '{div}grip Mail', '{option}Sort', '{div}grip Sort'],
  ],
  'the cells of a sheet that say where they stand, if the document listens': [
    `<table><tr><th>Car<th>Make</table><table><tr><td data-x=0 data-y=0>Jazz<td data-x=1 data-y=0>Honda<tr><td data-x=0 data-y=1>Civic<td data-x=1 data-y=1>Seat</table>
     <script>document.addEventListener('mousedown', () => {})</script>`,
    ['{td}Jazz', '{td}Honda', '{td}Civic', '{td}Seat'],
  ],
  'the small parts of the rows of a list that listens for them': [
    `<style>i { display: inline-block; width: 16px; height: 16px }</style><div id=tree>${['Ada', 'Ben', 'Cyd']
      .map((name) => `<div class=row><i class="x-expander"></i><i class="icon"></i><span>${name}</span></div>`)
      .join('')}</div>${on('tree')}`,
    ['{div}Ada', '{i}x expander Ada', '{div}Ben', '{i}x expander Ben', '{div}Cyd', '{i}x expander Cyd'],
  ],
  'the heads of the columns of a grid, beside the fields and handles in them': [
    `<div id=heads role=row><div role=columnheader>Name<input aria-label="Filter"></div><div role=columnheader>Age</div></div>${on('heads')}`,
    ['{columnheader}Name', '{input}Filter', '{columnheader}Age'],
  ],
  'each tile of a board, one with controls in it too': [
    `<div><div class=tile>Alpha</div><div class=tile>Beta <button>Press</button></div></div>
     <script>for (const tile of document.querySelectorAll('.tile')) tile.addEventListener('mousedown', () => {})</script>`,
    ['{div}Alpha', '{div}Beta Press', '{button}Press'],
  ],
  'cards that listen, beside the controls in them': [
    `<div><div class=card>Alpha <button>Yes</button></div><div class=card>Beta <button>No</button></div></div>
     <script>for (const card of document.querySelectorAll('.card')) card.addEventListener('click', () => {})</script>`,
    ['{div}Alpha Yes', '{button}Yes', '{div}Beta No', '{button}No'],
  ],
  'a slider without the track around it': [
    `<div id=slider style="width: 200px; height: 20px"><div id=rail style="height: 4px"></div>
     <div style="margin-top: -10px" role=slider tabindex=0 aria-label=Volume aria-valuenow=3>3</div></div>${on('slider', 'mousedown')}${on('rail')}`,
    ['{slider}Volume'],
  ],
  'a check box without the frame that is drawn around it': [
    `<div id=frame style="cursor: pointer; padding: 4px"><input type=checkbox aria-label="Choose all"></div>${on('frame')}`,
    ['{input}Choose all'],
  ],
  'a combobox without the text in it that shows what is chosen': [
    `<span role=combobox tabindex=0 aria-label=State><span role=textbox aria-readonly=true>Alabama</span></span>`,
    ['{combobox}State'],
  ],
  'no label of a group of buttons, and no frame of panels': [
    `<div id=label>Framework</div><div role=radiogroup aria-labelledby=label><label><input type=radio name=r>Svelte</label></div>
     <div id=panels><div role=tabpanel>Left</div></div>${on('label')}${on('panels', 'touchstart')}`,
    ['{input}Svelte'],
  ],
  'a drop-down by the placeholder that it draws': [
    `<div role=combobox tabindex=0><div><span class=x-toggle-placeholder>Select user</span><i></i></div></div>`,
    ['{combobox}Select user'],
  ],
  'no frame around the label of a box': [
    `<input type=checkbox id=box><div id=frame style="cursor: pointer"><label for=box>Accept</label></div>${on('frame')}`,
    ['{input}Accept'],
  ],
  'the buttons of a component, by the names of its parts': [
    `<x-field id=field></x-field><script>field.attachShadow({ mode: 'open' }).innerHTML = ['field-button increase-button', 'toggle-button']
      .map((part) => '<div part="' + part + '" style="cursor: pointer; width: 20px; height: 20px"></div>').join('');</script>`,
    ['{div}increase', '{div}toggle'],
  ],
  'an editor that takes what is dropped, and not its lines': [
    `<div id=editor><div>Text</div><p>More</p></div>${['mousedown', 'dragover', 'drop'].map((type) => on('editor', type)).join('')}`,
    ['{div}Text More'],
  ],
};

t.test('look lists what a person can operate, wherever its listeners are', async (t) => {
  for (const [what, [html, listed]] of Object.entries(PAGES)) {
    await call('go', site.set('/page', `<!doctype html><meta charset=utf-8><title>Page</title>${html}`));
    const { elements } = await look({ full: true });
    t.strictSame(
      elements.map(({ locator }) => locator),
      listed,
      what,
    );
  }
});

t.test('a place for files that hears where drags begin is not dragged itself', async (t) => {
  const kinds = ['click', 'dragstart', 'dragover', 'drop'];
  await call(
    'go',
    site.set(
      '/page',
      `<div id=zone style="cursor: pointer">Drop here</div>${kinds.map((type) => on('zone', type)).join('')}`,
    ),
  );
  const { elements } = await look({ full: true });
  t.strictSame(
    elements.map(({ locator, actions }) => [locator, actions]),
    [['{div}Drop here', ['click']]],
  );
  await call('go', site.set('/page', `<div id=zone>Drop here</div>${on('zone', 'dragover')}${on('zone', 'drop')}`));
  const { error } = await failure('act', '{div}Drop here', 'input', 'text');
  t.equal(error, '{div}Drop here does not accept text: it is a div, which takes what is dropped on it');
});

t.end();
