import t, { type Test } from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { type DragCases, dragJudge } from '../support/drag-cases.js';
import { APPEND, byBrowser, byPointer, PLACE, UNMOVED } from '../support/drag-pages.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const agent = await openAgent(t, lease);

const BOX = `<style>body { margin: 0 } #box { position: absolute; left: 40px; top: 40px; width: 80px; height: 40px; background: #cde }</style><div id=box>Box</div>`;
/** A box that follows the pointer. `to(dx, dy)`, the offset that it is given for that of the pointer; `let go`, what comes then. */
const follows = (to = '[dx, dy]', letGo = ''): string =>
  `${BOX}<script>let down = null; box.onmousedown = (event) => { down = event; event.preventDefault(); };
   const to = (dx, dy) => ${to}; onmousemove = (event) => { if (down === null) return;
     const [dx, dy] = to(event.clientX - down.clientX, event.clientY - down.clientY);
     box.style.left = 40 + dx + 'px'; box.style.top = 40 + dy + 'px'; };
   onmouseup = () => { if (down === null) return; down = null; ${letGo} };</script>`;
const at = (left: number, top: number): string =>
  `Math.abs(box.offsetLeft - ${left}) <= 2 && Math.abs(box.offsetTop - ${top}) <= 2`;
const PUT_BACK = 'box.style.left = box.style.top = "40px";';

const OFFSETS: DragCases = {
  'a box by an offset': { html: follows(), drag: ['#box', { by: [150, 80] }], ends: 'moved', proof: at(190, 120) },
  'a box along a path': {
    html: follows(),
    drag: [
      '#box',
      {
        path: [
          [10, 10],
          [60, 10],
          [60, 90],
        ],
      },
    ],
    ends: 'moved',
    proof: at(90, 120),
  },
  'a box on a grid': {
    html: follows('[Math.round(dx / 40) * 40, Math.round(dy / 40) * 40]'),
    drag: ['#box', { by: [110, 70] }],
    ends: [120, 80],
    proof: at(160, 120),
  },
  'a box that goes on a grid when it is let go': {
    html: follows(
      '[dx, dy]',
      'box.style.left = Math.round(box.offsetLeft / 40) * 40 + "px"; box.style.top = Math.round(box.offsetTop / 40) * 40 + "px";',
    ),
    drag: ['#box', { by: [110, 70] }],
    ends: [120, 80],
    proof: at(160, 120),
  },
  'a box along an axis': {
    html: follows('[0, dy]'),
    drag: ['#box', { by: [60, 90] }],
    ends: [0, 90],
    proof: at(40, 130),
  },
  'a box within bounds': {
    html: follows('[Math.min(dx, 70), dy]'),
    drag: ['#box', { by: [160, 50] }],
    ends: [70, 50],
    proof: at(110, 90),
  },
  'a box that is put back': {
    html: follows('[dx, dy]', PUT_BACK),
    drag: ['#box', { by: [160, 50] }],
    ends: 'fails',
    proof: at(40, 40),
  },
  'a box that glides back': {
    html: `<style>#box.free { transition: left .3s, top .3s }</style>${follows('[dx, dy]', `box.className = "free"; ${PUT_BACK}`)}`,
    drag: [
      '#box',
      {
        path: [
          [10, 10],
          [60, 10],
          [60, 90],
        ],
      },
    ],
    ends: 'fails',
    proof: at(40, 40),
  },
  'a box that is put back, of which something else is left': {
    html: `<p id=count style="position: absolute; top: 300px">0</p>${follows('[dx, dy]', `${PUT_BACK} count.textContent = 1;`)}`,
    drag: ['#box', { by: [160, 50] }],
    ends: 'untold',
    proof: `${at(40, 40)} && count.textContent === '1'`,
  },
  'a box whose first 40 pixels are lost': {
    html: follows('[Math.max(0, Math.abs(dx) - 40) * Math.sign(dx), dy]'),
    drag: ['#box', { by: [160, 0] }],
    ends: 'moved',
    proof: at(200, 40),
  },
  'a box that does not move': {
    html: BOX,
    drag: ['#box', { by: [160, 50] }],
    ends: 'untold',
    changed: false,
    proof: at(40, 40),
  },
  'a card that nothing takes, by an offset': {
    html: byBrowser(null),
    drag: ['{li}A1', { by: [200, 20] }],
    ends: 'untold',
    changed: false,
    proof: UNMOVED,
  },
  'a card to another list, by an offset': {
    html: byBrowser(APPEND),
    drag: ['{li}A1', { by: [200, 20] }],
    ends: [190, 68],
    proof: 'b.contains(A1)',
  },
  'an item to another list, by an offset': {
    html: byPointer(PLACE),
    drag: ['{li}A1', { by: [200, 20] }],
    ends: [190, 34],
    proof: 'b.contains(A1)',
  },
  'a bar between two parts of a page': {
    html: `<div style="display: flex; width: 700px; height: 100px"><div id=first style="width: 300px">First</div>
      <div id=bar style="width: 8px; background: #999; cursor: col-resize"></div><div>Second</div></div><script>let down = null;
      bar.onmousedown = (event) => { down = [event.clientX, first.offsetWidth]; event.preventDefault(); };
      onmousemove = (event) => { if (down !== null) first.style.width = down[1] + event.clientX - down[0] + 'px'; };
      onmouseup = () => { down = null; };</script>`,
    drag: ['#bar', { by: [90, 0] }],
    ends: 'moved',
    proof: 'Math.abs(first.offsetWidth - 390) <= 2',
  },
  'a corner by which a box is made larger': {
    html: `${BOX}<style>#corner { position: absolute; right: 0; bottom: 0; width: 12px; height: 12px; background: #345; cursor: nwse-resize }</style>
      <script>box.innerHTML += '<div id=corner></div>'; let down = null; const corner = box.lastChild;
      corner.onpointerdown = (event) => { down = event; corner.setPointerCapture(event.pointerId); };
      corner.onpointermove = (event) => { if (down === null) return; box.style.width = 80 + event.clientX - down.clientX + 'px';
        box.style.height = 40 + event.clientY - down.clientY + 'px'; };
      corner.onpointerup = () => { down = null; };</script>`,
    drag: ['#corner', { by: [100, 60] }],
    ends: 'moved',
    proof: 'Math.abs(box.offsetWidth - 180) <= 2 && Math.abs(box.offsetHeight - 100) <= 2',
  },
  'a text that is selected': {
    html: '<p id=text style="width: 600px; font: 20px monospace">A text of which something is selected by the pointer</p>',
    drag: [
      '#text',
      {
        path: [
          [10, 12],
          [200, 12],
        ],
      },
    ],
    ends: 'untold',
    changed: false,
    proof: 'getSelection().toString().length > 5',
  },
};

const judge = dragJudge(site, agent);

t.test('a drag by an offset or a path answers what has come of it, and fails if it has not come about', (t) =>
  judge(t, OFFSETS),
);

/** What follows the pointer, and from where the page counts: from the press, the first move, or the first beyond a threshold. */
interface Follower {
  readonly threshold: number;
  readonly counts: 'press' | 'first move' | 'threshold';
  readonly events: 'mouse' | 'pointer';
  readonly placed: 'left and top' | 'transform' | 'SVG';
  readonly scale: number;
}

function follower({ threshold, counts, events, placed, scale }: Follower): string {
  const drawing =
    placed === 'SVG'
      ? `<svg width=2000 height=2000><g id=box transform="translate(${300 / scale} ${300 / scale})"><rect width=${100 / scale} height=${60 / scale} fill=teal /></g></svg>`
      : `<div id=box style="position: absolute; left: ${300 / scale}px; top: ${300 / scale}px; width: ${100 / scale}px; height: ${60 / scale}px; background: teal; touch-action: none"></div>`;
  const show = {
    'left and top': 'box.style.left = first + x + "px"; box.style.top = first + y + "px";',
    transform: 'box.style.transform = "translate(" + x + "px, " + y + "px)";',
    SVG: 'box.setAttribute("transform", "translate(" + (first + x) + " " + (first + y) + ")");',
  }[placed];
  return `<style>body { margin: 0 }</style><div style="height: 700px; transform: scale(${scale}); transform-origin: 0 0">${drawing}</div><script>
    const first = ${300 / scale}; let down = null, start = null, last = [0, 0], base = [0, 0];
    const from = box.getBoundingClientRect();
    const moved = () => { const now = box.getBoundingClientRect(); return [now.left - from.left, now.top - from.top]; };
    box.addEventListener('${events}down', (event) => { down = [event.clientX, event.clientY]; start = null; base = last;
      ${events === 'pointer' ? 'box.setPointerCapture(event.pointerId);' : 'event.preventDefault();'} });
    addEventListener('${events}move', ({ clientX, clientY }) => {
      if (down === null) return;
      const past = ([x, y]) => Math.hypot(clientX - x, clientY - y) >= ${threshold};
      if (start === null) {
        if (${counts !== 'first move'} && !past(down)) return;
        start = ${counts === 'press' ? 'down' : '[clientX, clientY]'};
        if (${counts !== 'press'}) return;
      }
      if (${counts === 'first move'} && last === base && !past(start)) return;
      const [x, y] = last = [base[0] + (clientX - start[0]) / ${scale}, base[1] + (clientY - start[1]) / ${scale}];
      ${show} });
    addEventListener('${events}up', () => { down = null; });</script>`;
}

const WAYS = [
  [100, 50],
  [60, 40],
  [-100, 50],
  [200, 100],
  [0, 70],
] as const;
const COUNTS = ['press', 'first move', 'threshold'] as const;
const PLACED = ['left and top', 'transform', 'SVG'] as const;
const SCALES = [1, 0.5, 2] as const;

/** Every threshold with every way of counting; the other properties take turns. */
function followers(): readonly (readonly [Follower, way: readonly [number, number]])[] {
  const found: [Follower, readonly [number, number]][] = [];
  for (const [row, threshold] of [1, 2, 3, 5, 8, 10].entries()) {
    for (const [column, counts] of COUNTS.entries()) {
      const small = threshold <= 5 ? ([[8, 0]] as const) : [];
      const ways = [
        WAYS[(row + column) % WAYS.length] ?? WAYS[0],
        WAYS[(row + 2 * column + 2) % WAYS.length] ?? WAYS[0],
      ];
      for (const [turn, way] of [...ways, ...small].entries()) {
        const placed = PLACED[(row + column + turn) % PLACED.length] ?? 'transform';
        const scale = SCALES[(row + turn) % SCALES.length] ?? 1;
        const events = (row + column + turn) % 2 === 0 ? 'mouse' : 'pointer';
        found.push([{ threshold, counts, events, placed, scale }, way]);
      }
    }
  }
  return found;
}

/** What the box has moved by, besides what it was asked to, is at most 2 pixels. */
async function isFollowed(t: Test, what: string, html: string, value: unknown, [x, y]: readonly [number, number]) {
  await agent.call('go', site.set('/follower', `<!doctype html><title>Follower</title>${html}`));
  const answer = await agent.call('act', '#box', 'drag', value).catch((error: Error) => ({ failed: error.message }));
  const [left = 0, top = 0] = (await agent.call('page', 'moved()')) as number[];
  t.ok(Math.abs(left - x) <= 2 && Math.abs(top - y) <= 2, `${what}: ${x}, ${y}`, { found: [left, top], answer });
  t.match(answer, { changed: true, drag: { outcome: 'moved' } }, `${what}: the answer says so`);
}

t.test('what follows the pointer ends where it was asked to, wherever the page counts from', async (t) => {
  for (const [one, by] of followers()) {
    const { threshold, counts, events, placed, scale } = one;
    const what = `${threshold} px, counted from the ${counts}, ${events} events, by ${placed}, at scale ${scale}`;
    await isFollowed(t, what, follower(one), { by }, by);
  }
});

t.test('what follows the pointer along a path ends where the path does', async (t) => {
  const paths = [
    [
      [75, 20],
      [76, 20],
      [135, 60],
    ],
    [
      [10, 10],
      [60, 10],
      [60, 90],
      [-30, 90],
    ],
    [
      [50, 30],
      [250, 130],
    ],
  ] as const;
  for (const [row, path] of paths.entries()) {
    for (const [column, counts] of COUNTS.entries()) {
      const threshold = [2, 5, 10][(row + column) % 3] ?? 2;
      const placed = PLACED[column] ?? 'transform';
      const one: Follower = { threshold, counts, events: row % 2 === 0 ? 'mouse' : 'pointer', placed, scale: 1 };
      const [[fromX, fromY], [x, y]] = [path[0], path[path.length - 1] ?? path[0]];
      const what = `${threshold} px, counted from the ${counts}, ${one.events} events, by ${placed}`;
      await isFollowed(t, what, follower(one), { path }, [x - fromX, y - fromY]);
    }
  }
});

t.end();
