import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call } = await openAgent(t, lease);

/** As with effects of component libraries: what follows a press is listened for after the next picture. */
const LATE = `<!doctype html><style>body { margin: 0 } #box { position: absolute; left: 20px; top: 20px; width: 80px; height: 40px; background: teal }</style>
<div id=box>Box</div><p id=said></p><script>
  const after = (work) => requestAnimationFrame(() => setTimeout(work));
  const begin = (from) => {
    const move = (event) => {
      // Only what was drawn last counts.
      requestAnimationFrame(() => { box.dataset.at = event.clientX - from.clientX + ' ' + (event.clientY - from.clientY); });
    };
    const end = () => {
      document.removeEventListener('mousemove', move);
      document.removeEventListener('mouseup', end);
      said.textContent += box.dataset.at === undefined ? 'pressed;' : 'moved ' + box.dataset.at + ';';
    };
    document.addEventListener('mousemove', move);
    document.addEventListener('mouseup', end);
  };
  box.addEventListener('mousedown', (event) => { event.preventDefault(); after(() => begin(event)); });
</script>`;

t.test('a page that listens for the end of a press only after the next picture hears it', async (t) => {
  for (const locator of ['#box', '{div}Box']) {
    await call('go', site.set('/late', LATE));
    const acted = await call('act', locator, 'click');
    t.equal(await call('page', 'said.textContent'), 'pressed;', locator);
    t.equal((acted as { changed: boolean }).changed, true, locator);
  }
  await call('go', site.set('/late', LATE));
  await call('act', '#box', 'dblclick');
  t.equal(await call('page', 'said.textContent'), 'pressed;pressed;');
});

t.test('a drag by an offset, or along a path, is followed to its end by such a page', async (t) => {
  await call('go', site.set('/late', LATE));
  await call('act', '#box', 'drag', { by: [60, 30] });
  t.equal(await call('page', 'said.textContent'), 'moved 60 30;');
  await call('go', site.set('/late', LATE));
  await call('act', '#box', 'drag', {
    path: [
      [10, 10],
      [70, 10],
      [70, 50],
    ],
  });
  t.equal(await call('page', 'said.textContent'), 'moved 60 40;');
});

t.test('a press on an element passes by a small thing of another purpose in its middle', async (t) => {
  await call(
    'go',
    site.set(
      '/grip',
      `<!doctype html><svg width=600 height=100><g id=bar><rect x=20 y=20 width=300 height=40 fill=teal /><circle id=grip cx=170 cy=40 r=6 /></g></svg>
       <div id=card style="width:300px;height:80px;background:#ddd;display:grid;place-items:center"><button id=inner>x</button></div>
       <script>grip.addEventListener('mouseenter', () => {}); window.hit = [];
       addEventListener('mousedown', (event) => hit.push(event.target.id || event.target.localName), true);
       card.addEventListener('click', () => {});</script>`,
    ),
  );
  await call('act', '#bar', 'drag', { by: [60, 0] });
  await call('act', '#card', 'click');
  await call('act', '#inner', 'click');
  t.same(await call('page', '[...new Set(hit)]'), ['rect', 'card', 'inner']);
});

t.test(
  'a splitter that stands at pixels takes the number that it shows when rounded as it was asked for',
  async (t) => {
    await call(
      'go',
      site.set(
        '/splitter',
        `<!doctype html><style>body { margin: 0 }</style><div style="display:flex;width:737px;height:60px"><div id=left style="width:400px"></div>
       <div id=bar role=separator tabindex=0 aria-valuemin=0 aria-valuemax=100 style="width:8px;background:#999"></div></div><script>
       const show = (x) => { left.style.width = x + 'px'; bar.setAttribute('aria-valuenow', (x / 7.37).toFixed(3)); };
       show(400);
       bar.onpointerdown = (event) => { bar.setPointerCapture(event.pointerId); bar.onpointermove = (move) => show(move.clientX - 4); };
       bar.onpointerup = () => { bar.onpointermove = null; };</script>`,
      ),
    );
    const acted = (await call('act', '{separator}', 'input', '30')) as { value?: string };
    t.equal(Math.round(Number(acted.value)), 30);
    t.equal(await call('page', 'bar.getAttribute("aria-valuenow")'), acted.value);
  },
);

/** The link takes no press, its row would; of the button, all that is drawn takes none. */
const NO_PRESS = `<!doctype html><style>.none { pointer-events: none } td { padding: 10px }</style><p id=said></p>
  <table><tr id=row onclick="said.textContent += 'row;'"><td>Row <td><a id=next href="/next" class=none><i>»</i> Next</a></tr></table>
  <button onclick="said.textContent += 'save;'"><i class=none>+</i> <span class=none>Save</span></button>
  <input type=date aria-label=Day onchange="this.value = '2030-01-05'"><input aria-label=Name value=Ada oninput="this.value = 'Ada'">`;

t.test('what takes no press is refused, and a word or an icon pressed for its button', async (t) => {
  await call('go', site.set('/none', NO_PRESS));
  const soon = { timeout: 300 };
  const words = /receives no clicks: (its pointer-events|the pointer-events of \{a\}» Next) is none$/;
  await t.rejects(call('act', '{a}» Next', 'click', soon), { code: 'ACTION_FAILED', message: words });
  await t.rejects(call('act', '#next i', 'click', soon), { code: 'ACTION_FAILED', message: words });
  t.equal(await call('page', 'said.textContent'), '');
  await call('act', 'button i', 'click');
  await call('act', '{span}Save', 'click');
  t.equal(await call('page', 'said.textContent'), 'save;save;');
});

t.test('what the page puts back is no success', async (t) => {
  await call('go', site.set('/none', NO_PRESS));
  await t.rejects(call('act', '{input}Day', 'input', '2030-01-02'), { code: 'ACTION_FAILED' });
  await t.rejects(call('act', '{input}Name', 'clear'), { code: 'ACTION_FAILED' });
});
