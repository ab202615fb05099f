import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { type DragCases, dragJudge } from '../support/drag-cases.js';
import { BOARD, scriptTags, UNMOVED } from '../support/drag-pages.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const agent = await openAgent(t, lease);
const tags = scriptTags(site);

const UI = tags('jquery/dist/jquery.js', 'jquery-ui/dist/jquery-ui.js');
const DRAGGED = `${UI}<style>#box { position: absolute; left: 40px; top: 40px; width: 80px; height: 40px; background: #cde }
  #bounds { position: relative; width: 400px; height: 200px; border: 1px solid }</style><div id=bounds><div id=box>Box</div></div>`;
const DROPPED = `${UI}${BOARD}`;

const JQUERY_UI: DragCases = {
  'jQuery UI: an item to another list': {
    html: `${DROPPED}<script>jQuery('#a, #b').sortable({ connectWith: 'ul' })</script>`,
    drag: ['{li}A1', '{li}B1'],
    ends: 'moved',
    proof: 'b.contains(A1)',
  },
  'jQuery UI: an item of a list that is connected with no other': {
    html: `${DROPPED}<script>jQuery('#a, #b').sortable()</script>`,
    drag: ['{li}A1', '{li}B1'],
    ends: 'fails',
    proof: 'a.contains(A1) && texts(b) === "B1,B2"',
  },
  'jQuery UI: an item by its text, where it has a handle': {
    html: `${DROPPED}<script>jQuery('li').prepend('<i>= </i>'); jQuery('#a, #b').sortable({ connectWith: 'ul', handle: 'i' })</script>`,
    drag: ['#A1', '#B1'],
    ends: 'fails',
    proof: 'texts(a) === "= A1,= A2,= A3,= A4" && texts(b) === "= B1,= B2"',
  },
  'jQuery UI: what stands over the place that has taken it': {
    html: `${DROPPED}<script>jQuery('#A1').draggable(); jQuery('#b').droppable({ drop() { says.textContent = 'dropped'; } })</script>`,
    drag: ['{li}A1', '{li}B2'],
    ends: 'moved',
    proof: 'says.textContent === "dropped"',
  },
  'jQuery UI: a helper, of which the place makes a copy': {
    html: `${DROPPED}<script>jQuery('#A1').draggable({ helper: 'clone' });
      jQuery('#b').droppable({ drop(event, ui) { jQuery('<li>').text(ui.draggable.text()).appendTo(this); } })</script>`,
    drag: ['{li}A1', '{li}B2'],
    ends: 'copied',
    proof: 'texts(a) === "A1,A2,A3,A4" && texts(b) === "B1,B2,A1"',
  },
  'jQuery UI: what reverts since no place takes it': {
    html: `${DROPPED}<script>jQuery('#A1').draggable({ revert: 'invalid', start() { says.textContent = 'begun'; } });
      jQuery('#b').droppable({ accept: '.other' })</script>`,
    drag: ['{li}A1', '{li}B2'],
    ends: 'fails',
    proof: `${UNMOVED} && A1.getBoundingClientRect().right < b.getBoundingClientRect().left && says.textContent === 'begun'`,
  },
  'jQuery UI: what reverts though the place has counted it': {
    html: `${DROPPED}<script>jQuery('#A1').draggable({ revert: true }); jQuery('#b').droppable({ drop() { B2.textContent = '1 item'; } })</script>`,
    drag: ['{li}A1', '{li}B2'],
    ends: 'dropped',
    proof: 'texts(a) === "A1,A2,A3,A4" && B2.textContent === "1 item"',
  },
  'jQuery UI: by an offset': {
    html: `${DRAGGED}<script>jQuery('#box').draggable()</script>`,
    drag: ['#box', { by: [120, 70] }],
    ends: 'moved',
    proof: 'box.offsetLeft === 160 && box.offsetTop === 110',
  },
  'jQuery UI: on a grid': {
    html: `${DRAGGED}<script>jQuery('#box').draggable({ grid: [50, 50] })</script>`,
    drag: ['#box', { by: [110, 60] }],
    ends: [100, 50],
    proof: 'box.offsetLeft === 140 && box.offsetTop === 90',
  },
  'jQuery UI: along an axis': {
    html: `${DRAGGED}<script>jQuery('#box').draggable({ axis: 'x' })</script>`,
    drag: ['#box', { by: [120, 70] }],
    ends: [120, 0],
    proof: 'box.offsetLeft === 160 && box.offsetTop === 40',
  },
  'jQuery UI: within bounds': {
    html: `${DRAGGED}<script>jQuery('#box').draggable({ containment: 'parent' })</script>`,
    drag: ['#box', { by: [500, 70] }],
    ends: [280, 70],
    proof: 'box.offsetLeft === 320 && box.offsetTop === 110',
  },
  'jQuery UI: what reverts': {
    html: `${DRAGGED}<script>jQuery('#box').draggable({ revert: true })</script>`,
    drag: ['#box', { by: [120, 70] }],
    ends: 'fails',
    proof: 'box.offsetLeft === 40 && box.offsetTop === 40',
  },
};

const SORTABLE = tags('sortablejs/Sortable.js');
const sortable = (first: string, second = first, more = ''): string =>
  `${SORTABLE}${BOARD}<script>${more}; Sortable.create(a, { ${first} }); Sortable.create(b, { ${second} })</script>`;
/** The page says when a drag has begun, for where nothing comes of it. */
const GROUP = "group: 'x', animation: 150, onStart() { says.textContent = 'begun'; }";
const BEGUN = "says.textContent === 'begun'";

const SORTABLE_JS: DragCases = {
  ...kanban(),
  'Sortable, without animation': {
    html: sortable("group: 'x'"),
    drag: ['{li}A2', '{li}B1'],
    ends: 'moved',
    proof: 'b.contains(A2)',
  },
  'Sortable, with a slow animation': {
    html: sortable("group: 'x', animation: 300"),
    drag: ['{li}A1', '{li}B1'],
    ends: 'moved',
    proof: 'b.contains(A1)',
  },
  'Sortable, by pointer': {
    html: sortable(`${GROUP}, forceFallback: true`),
    drag: ['{li}A2', '{li}B1'],
    ends: 'moved',
    proof: 'b.contains(A2)',
  },
  'Sortable, to an empty list': {
    html: sortable(GROUP, GROUP, 'b.replaceChildren()'),
    drag: ['{li}A2', '#b'],
    ends: 'moved',
    proof: 'texts(b) === "A2"',
  },
  'Sortable, which leaves a copy': {
    html: sortable("group: { name: 'x', pull: 'clone' }, sort: false, animation: 150", GROUP),
    drag: ['{li}A2', '{li}B1'],
    ends: 'copied',
    proof: 'texts(a) === "A1,A2,A3,A4" && texts(b).includes("A2")',
  },
  'Sortable, by a handle': {
    html: sortable(
      `${GROUP}, handle: 'i'`,
      undefined,
      'for (const one of document.querySelectorAll("li")) one.insertAdjacentHTML("afterbegin", "<i id=grip" + one.id + ">=</i>")',
    ),
    drag: ['#gripA1', '#B1'],
    ends: 'moved',
    proof: 'b.contains(A1)',
  },
  'Sortable, by the text of an item that has a handle': {
    html: sortable(
      `${GROUP}, handle: 'i'`,
      undefined,
      'for (const one of document.querySelectorAll("li")) one.insertAdjacentHTML("afterbegin", "<i>=</i>")',
    ),
    drag: ['#A1', '#B1'],
    ends: 'fails',
    proof: 'texts(a) === "=A1,=A2,=A3,=A4"',
  },
  'Sortable, an item that is filtered': {
    html: sortable(`${GROUP}, filter: '#A1'`),
    drag: ['{li}A1', '{li}B1'],
    ends: 'fails',
    proof: UNMOVED,
  },
  'Sortable, a list that takes nothing': {
    html: sortable(GROUP, "group: { name: 'x', put: false }"),
    drag: ['{li}A1', '{li}B1'],
    ends: 'fails',
    proof: `a.contains(A1) && texts(b) === 'B1,B2' && ${BEGUN}`,
  },
  'Sortable, lists of two groups, by pointer': {
    html: sortable(`${GROUP}, forceFallback: true`, "group: 'y', forceFallback: true"),
    drag: ['{li}A1', '{li}B1'],
    ends: 'fails',
    proof: `a.contains(A1) && texts(b) === 'B1,B2' && ${BEGUN}`,
  },
  'Sortable, a list that is not sorted': {
    html: sortable(`${GROUP}, sort: false`),
    drag: ['{li}A1', '{li}A3'],
    ends: 'fails',
    proof: `${UNMOVED} && ${BEGUN}`,
  },
  'Sortable, an item that is put back': {
    html: sortable(`${GROUP}, onEnd({ item, from }) { from.prepend(item); }`),
    drag: ['{li}A1', '{li}B1'],
    ends: 'fails',
    proof: `${UNMOVED} && ${BEGUN}`,
  },
  'Sortable, a nested list': {
    html: sortable(
      `${GROUP}, fallbackOnBody: true`,
      GROUP,
      `B2.innerHTML = 'B2<ul id=nested style="min-height: 20px"><li id=N1>N1</li></ul>'; B2.style.height = 'auto';
       Sortable.create(document.getElementById('nested'), { ${GROUP} })`,
    ),
    drag: ['{li}A2', '#N1'],
    ends: 'moved',
    proof: 'document.getElementById("nested").contains(A2)',
  },
  'Sortable, two items that exchange their places': {
    html: `${BOARD}<script type=module>import Sortable from '${module('sortablejs/modular/sortable.complete.esm.js')}';
      for (const list of [a, b]) Sortable.create(list, { swap: true, swapClass: 'swapped', group: 'x', animation: 150 });</script>`,
    drag: ['{li}A1', '{li}A3'],
    ends: 'moved',
    proof: 'texts(a) === "A3,A2,A1,A4"',
  },
};

/** Two lists, one below the other: the way to the second leads over items of the first, which make room slowly. */
function kanban(): DragCases {
  const html = `${SORTABLE}<style>li { padding: 8px; border: 1px solid; width: 200px; list-style: none }</style>
    <ul id=a><li>A1<li>A2<li>A3<li>A4</ul><ul id=b><li>B1</ul>
    <script>for (const list of [a, b]) Sortable.create(list, { group: 'x', animation: 150 });
    const holds = (list, name) => [...list.children].some((one) => one.textContent === name);</script>`;
  const ways = ['A1', 'A2', 'A3', 'A4'].flatMap((one) => [[one, 'B1', 'b'] as const, ['B1', one, 'a'] as const]);
  return Object.fromEntries(
    ways.map(([from, to, list]) => [
      `Sortable, ${from} to ${to}, one list below the other`,
      { html, drag: [`{li}${from}`, `{li}${to}`], ends: 'moved', proof: `holds(${list}, '${from}')` },
    ]),
  );
}

function module(path: string): string {
  return /src="([^"]+)"/.exec(tags(path))?.[1] ?? '';
}

const judge = dragJudge(site, agent);

t.test('a drag by jQuery UI answers what has come of it, and fails if it has not come about', (t) =>
  judge(t, JQUERY_UI),
);

t.test('a drag by Sortable answers what has come of it, and fails if it has not come about', (t) =>
  judge(t, SORTABLE_JS),
);

t.end();
