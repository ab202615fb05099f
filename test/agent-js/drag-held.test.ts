import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { type DragCases, dragJudge } from '../support/drag-cases.js';
import { BOARD, byBrowser, byPointer, PLACE, scriptTags, UNMOVED } from '../support/drag-pages.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const agent = await openAgent(t, lease);
const tags = scriptTags(site);

/** The page counts how often the button went down in it, and what was dropped. */
const COUNTED = `<script>window.presses = 0; window.drops = 0; window.clicks = 0;
  addEventListener('mousedown', () => { presses += 1; }, true); addEventListener('click', () => { clicks += 1; }, true);</script>`;

/** The board, by the pointer; an item can be dragged once it was held for so many milliseconds without moving. */
const held = (ms: number, events: 'mouse' | 'pointer'): string =>
  `${COUNTED}${byPointer(`drops += 1; ${PLACE}`, {
    events,
    more: `let lifted = false, timer = 0, pressed = [0, 0];
      document.addEventListener('${events}down', ({ clientX, clientY }) => {
        pressed = [clientX, clientY]; lifted = false; timer = setTimeout(() => { lifted = true; held?.classList.add('lifted'); }, ${ms}); });
      addEventListener('${events}move', (event) => {
        if (lifted) return;
        if (Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) > 5) { clearTimeout(timer); held = null; }
        event.stopPropagation(); }, true);
      addEventListener('${events}up', () => { clearTimeout(timer); if (!lifted) held = null; }, true);`,
  })}`;

const HELD: DragCases = {
  ...Object.fromEntries(
    ([150, 300, 500, 1000] as const).flatMap((ms, at) => {
      const events = at % 2 === 0 ? 'mouse' : 'pointer';
      return [
        [
          `after ${ms} ms, to an item of another list`,
          {
            html: held(ms, events),
            drag: ['{li}A1', '{li}B1'] as const,
            ends: 'moved' as const,
            proof: 'b.contains(A1) && drops === 1',
          },
        ],
        [
          `after ${ms} ms, by an offset`,
          {
            html: held(ms, events),
            drag: ['{li}A1', { by: [200, 20] }] as const,
            ends: [190, 34] as const,
            proof: 'b.contains(A1) && drops === 1',
          },
        ],
      ];
    }),
  ),
  ...Object.fromEntries(
    ['', 'forceFallback: true,'].map((how) => [
      `Sortable, after 300 ms, ${how === '' ? 'by the browser’s drag and drop' : 'by pointer'}`,
      {
        html: `${COUNTED}${tags('sortablejs/Sortable.js')}${BOARD}<script>for (const list of [a, b])
          Sortable.create(list, { ${how} group: 'x', animation: 150, delay: 300, onEnd() { drops += 1; } });</script>`,
        drag: ['{li}A1', '{li}B1'] as const,
        ends: 'moved' as const,
        proof: 'b.contains(A1) && drops === 1',
      },
    ]),
  ),
};

const ONCE: DragCases = {
  'a place that counts what is dropped': {
    html: `${COUNTED}${byPointer('drops += 1; B2.textContent = drops + " dropped";', { more: 'addEventListener("mousemove", (event) => event.stopPropagation(), true);' })}`,
    drag: ['{li}A1', '{li}B2'],
    ends: 'dropped',
    proof: 'drops === 1 && presses === 1 && texts(b) === "B1,1 dropped"',
  },
  'a place that shows nothing of what is dropped by the browser': {
    html: `${COUNTED}${byBrowser('drops += 1;')}`,
    drag: ['{li}A1', '{li}B2'],
    ends: 'dropped',
    changed: false,
    proof: `drops === 1 && ${UNMOVED}`,
  },
  'a list that takes an item after a request': {
    html: `${COUNTED}${byPointer('drops += 1; fetch("/slow").then(() => b.append(was));', { more: 'addEventListener("mousemove", (event) => event.stopPropagation(), true);' })}`,
    drag: ['{li}A1', '{li}B2'],
    ends: 'moved',
    proof: 'drops === 1 && presses === 1 && texts(b) === "B1,B2,A1"',
  },
  'an item that is put back': {
    html: `${COUNTED}${byPointer('drops += 1;')}`,
    drag: ['{li}A1', '{li}B2'],
    ends: 'fails',
    proof: `drops === 1 && presses === 1 && ${UNMOVED}`,
  },
  'an item that goes to the end of its own list': {
    html: `${COUNTED}${byPointer('drops += 1; a.append(was);', { more: 'addEventListener("mousemove", (event) => event.stopPropagation(), true);' })}`,
    drag: ['{li}A1', '{li}B2'],
    ends: 'fails',
    proof: 'drops === 1 && presses === 1 && texts(a) === "A2,A3,A4,A1"',
  },
  'a place that the browser drops on in vain': {
    html: `${COUNTED}${byBrowser(null, 'document.addEventListener("dragend", () => { drops += 1; says.textContent = "Not here"; });')}`,
    drag: ['{li}A1', '{li}B2'],
    ends: 'fails',
    proof: `drops === 1 && presses === 1 && ${UNMOVED} && says.textContent === 'Not here'`,
  },
  'a line on a canvas': {
    html: `${COUNTED}<canvas id=c width=300 height=100></canvas><script>let on = false; const pen = c.getContext('2d');
      c.onmousedown = () => { on = true; }; onmouseup = () => { on = false; };
      c.onmousemove = (event) => { if (on) pen.fillRect(event.offsetX, event.offsetY, 3, 3); };</script>`,
    drag: ['#c', { by: [80, 20] }],
    ends: 'untold',
    proof: 'presses === 1 && pen.getImageData(0, 0, 300, 100).data.some(Boolean)',
  },
  'a strip that is scrolled': {
    html: `${COUNTED}<div id=strip style="width: 300px; overflow: hidden; cursor: grab"><p style="width: 3000px">Strip</p></div><script>
      let at = null; strip.onmousedown = (event) => { at = event.clientX + strip.scrollLeft; };
      onmouseup = () => { at = null; }; onmousemove = (event) => { if (at !== null) strip.scrollLeft = at - event.clientX; };</script>`,
    drag: ['#strip', { by: [-100, 0] }],
    ends: 'untold',
    proof: 'presses === 1 && Math.abs(strip.scrollLeft - 100) <= 2',
  },
  'a field that counts clicks, of which one comes at the end of a short way': {
    html: `${COUNTED}<div id=pad style="width: 400px; height: 200px; background: #ddd; cursor: pointer">Pad</div><p id=count>0</p>
      <script>pad.onclick = () => { count.textContent = clicks; };</script>`,
    drag: ['#pad', { by: [60, 20] }],
    ends: 'untold',
    proof: 'presses === 1 && clicks === 1 && count.textContent === "1"',
  },
};

const judge = dragJudge(site, agent);

t.test('what can be dragged only after it was held is held', (t) => judge(t, HELD));

t.test('a drag of which something has come is not made again', async (t) => {
  site.set('/slow', (_request, response) => {
    setTimeout(() => response.end('done'), 300);
  });
  await judge(t, ONCE);
});

t.end();
