import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call } = await openAgent(t, lease);
const open = (html: string) =>
  call('go', site.set('/changed', `<!doctype html><style>body { margin: 0 }</style>${html}`));

type Act = readonly [locator: string, action: string, value?: unknown];
/** A page, what is done to it, and what in it tells that something has come of it; null: nothing changes. */
const CASES: { readonly [what: string]: readonly [html: string, act: Act, proof: string | null] } = {
  'a menu that a style sheet shows on hover': [
    '<style>ul ul { display: none } li:hover ul { display: block }</style><ul><li><a href=#>Shop</a><ul><li><a href=#x id=inner>Tea</a></ul></ul>',
    ['{a}Shop', 'hover'],
    'inner.checkVisibility()',
  ],
  'a hint that is drawn after a word': [
    '<style>b::after { content: "Hint"; opacity: 0; transition: opacity .1s } b:hover::after { opacity: 1 }</style><b tabindex=0>Word</b>',
    ['b', 'hover'],
    'document.querySelector("b").matches(":hover")',
  ],
  'a button that changes its color': [
    '<style>button:hover { background: red }</style><button id=b>Go</button>',
    ['{button}Go', 'hover'],
    'getComputedStyle(b).backgroundColor === "rgb(255, 0, 0)"',
  ],
  'a button without a style for it': ['<button>Plain</button>', ['{button}Plain', 'hover'], null],
  'a table that scrolls its own body': [
    '<div role=grid aria-label=Orders id=g style="height:120px"><div id=body style="height:100%;overflow:auto"><div style="height:5000px">Rows</div></div></div><div style="height:5000px"></div>',
    ['{grid}Orders', 'scroll', 'down'],
    'body.scrollTop > 50 && scrollY === 0',
  ],
  'a table that listens to the wheel': [
    '<div id=g tabindex=0 role=grid aria-label=Wheel style="height:100px;overflow:hidden"><div id=rows style="position:relative;height:2000px">Rows</div></div><div style="height:5000px"></div><script>let at = 0; g.addEventListener("wheel", (event) => { event.preventDefault(); at += event.deltaY; rows.style.top = -at + "px"; }, { passive: false })</script>',
    ['{grid}Wheel', 'scroll', 'down'],
    'at > 0 && scrollY === 0',
  ],
  'a map on a canvas that listens to the wheel': [
    '<canvas id=map width=300 height=200></canvas><script>map.addEventListener("wheel", (event) => { event.preventDefault(); const context = map.getContext("2d"); context.fillRect(0, 0, 50, event.deltaY); window.zoomed = true; }, { passive: false })</script>',
    ['#map', 'scroll', 120],
    'window.zoomed',
  ],
  'a page whose sections the wheel turns': [
    '<style>html, body { height: 100%; overflow: hidden }</style><main id=m style="height:300%">Sections</main><script>addEventListener("wheel", (event) => { if (event.deltaY > 0) m.dataset.at = 2; })</script>',
    ['body', 'scroll', 'down'],
    'm.dataset.at === "2"',
  ],
  'an entry of a list': [
    '<div id=list style="height:100px;overflow:auto"><button>First</button><p style="height:3000px"></p></div>',
    ['{button}First', 'scroll', 'down'],
    'list.scrollTop > 20',
  ],
  'to the right': [
    '<div id=wide style="width:200px;overflow:auto"><p style="width:3000px">Wide</p></div>',
    ['#wide', 'scroll', 'right'],
    'wide.scrollLeft === 160',
  ],
  'a list that is at its end already': [
    '<div id=end style="height:50px;overflow:auto"><p style="height:100px">Short</p></div><p style="height:3000px"></p>',
    ['#end', 'scroll', 'up'],
    null,
  ],
  'a carousel that a button scrolls': [
    '<div id=strip style="width:200px;overflow:hidden"><p style="width:3000px">Strip</p></div><button onclick="strip.scrollLeft += 200">Next</button>',
    ['{button}Next', 'click'],
    'strip.scrollLeft === 200',
  ],
  'a popover': [
    '<button popovertarget=pop>More</button><div id=pop popover>Here</div>',
    ['{button}More', 'click'],
    'pop.matches(":popover-open")',
  ],
  'a drawing': [
    '<canvas id=c width=200 height=100></canvas><script>c.onclick = (event) => { c.getContext("2d").fillRect(event.offsetX, event.offsetY, 3, 3); window.drawn = true; }</script>',
    ['#c', 'click'],
    'window.drawn',
  ],
  'a canvas that nothing is drawn on': ['<canvas id=c width=200 height=100></canvas>', ['#c', 'click'], null],
};

t.test('changed is true where something changed, whatever it is, and false where nothing did', async (t) => {
  for (const [what, [html, act, proof]] of Object.entries(CASES)) {
    await open(html);
    const { changed } = (await call('act', ...act)) as { changed: boolean };
    if (proof !== null) t.ok(await call('page', proof), `${what}: it happened`);
    t.equal(changed, proof !== null, what);
  }
});
