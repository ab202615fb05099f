import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, failure } = await openAgent(t, lease);

const LIST = `<style>li { height: 30px; width: 200px; cursor: grab } li.is-hovered, li:hover { background: #eee }</style>
  <ul id=list>${['Ada', 'Ben', 'Cyd'].map((name) => `<li id=${name} tabindex=0>${name}</li>`).join('')}</ul>`;
/** What the pages of a list do with a press: `held` is the pressed item until the button is let go. */
const PRESSED = `let held = null; const item = (event) => event.target.closest?.('li') ?? null;
  document.addEventListener('mousedown', (event) => { held = item(event); });
  document.addEventListener('mouseup', () => { const was = held; held = null; if (was) drop(was); });`;

/** In the page: the list is as it was. */
const UNMOVED = '[...list.children].map((one) => one.textContent).join() === "Ada,Ben,Cyd"';

/** A page, what is dragged to a target in it, and what in it says that it has not got there. */
const FAILURES: {
  readonly [what: string]: readonly [html: string, drag: readonly [string, unknown], proof: string];
} = {
  'an item whose list shows only where the pointer and the focus are': [
    `${LIST}<script>${PRESSED} const cover = document.createElement('div');
      cover.style = 'position: fixed; inset: 0; opacity: 0; pointer-events: none'; function drop() { document.body.append(cover); }
      document.addEventListener('mouseover', (event) => {
        for (const one of document.querySelectorAll('li')) one.classList.toggle('is-hovered', one === item(event)); });
      document.addEventListener('focusin', (event) => {
        for (const one of document.querySelectorAll('li')) one.classList.toggle('x-state-focused', one === event.target);
        list.setAttribute('aria-activedescendant', event.target.id); });</script>`,
    ['{li}Ada', '{li}Cyd'],
    UNMOVED,
  ],
  'an item for which a place is made that is taken away again': [
    `${LIST}<script>${PRESSED} const place = document.createElement('li'); place.textContent = 'Here';
      document.addEventListener('mousemove', (event) => {
        const over = item(event); if (held && over && over !== held && over !== place) over.after(place); });
      function drop() { place.remove(); }</script>`,
    ['{li}Ada', '{li}Cyd'],
    UNMOVED,
  ],
  'an item that glides back to where it was': [
    `${LIST}<script>${PRESSED} let from = 0;
      document.addEventListener('mousemove', (event) => {
        if (!held) return; from ||= event.clientY; held.style.transition = 'none';
        held.style.transform = 'translateY(' + (event.clientY - from) + 'px)'; held.style.pointerEvents = 'none'; });
      function drop(was) { was.style.transition = 'transform .4s'; was.style.transform = ''; was.style.pointerEvents = ''; }
      </script>`,
    ['{li}Ada', '{li}Cyd'],
    UNMOVED,
  ],
  'an item that a list draws anew where it was': [
    `${LIST}<script>${PRESSED} function drop() { list.innerHTML = list.innerHTML; }</script>`,
    ['{li}Ada', '{li}Cyd'],
    UNMOVED,
  ],
  'an item that its list only selects': [
    `${LIST}<script>${PRESSED} document.addEventListener('mousedown', (event) => {
      item(event)?.classList.add('selected'); item(event)?.setAttribute('aria-selected', true); }); function drop() {}</script>`,
    ['{li}Ada', '{li}Cyd'],
    UNMOVED,
  ],
  'an item that nothing takes': [
    `<b id=box draggable=true>Box</b><p id=place>Place</p><script>
      box.ondragstart = () => { box.classList.add('dragging'); box.style.opacity = .4; };
      box.ondragend = () => { box.classList.remove('dragging'); box.style.opacity = ''; };</script>`,
    ['#box', '#place'],
    'place.textContent === "Place" && box.nextElementSibling === place',
  ],
  'an item to a place that has to be scrolled to': [
    `${LIST}<p style="height: 3000px"></p><p id=place>Place</p>`,
    ['{li}Ada', '#place'],
    UNMOVED,
  ],
  'an item whose move is only announced to screen readers': [
    `${LIST}<div id=says role=status style="position: absolute; width: 1px; height: 1px; overflow: hidden"></div><script>${PRESSED}
      function drop(was) { says.textContent = was.textContent + ' was dropped'; }</script>`,
    ['{li}Ada', '{li}Cyd'],
    UNMOVED,
  ],
};

/** A page, what is dragged in it, and what in it says that something has come of it; null: nothing is left of it. */
const CASES: {
  readonly [what: string]: readonly [html: string, drag: readonly [string, unknown], proof: string | null];
} = {
  'a list along an offset, of which nothing is left': [LIST, ['{li}Ada', { by: [40, 60] }], null],
  'an item that takes another place': [
    `${LIST}<script>${PRESSED} let over = null; document.addEventListener('mousemove', (event) => { over = item(event); });
      function drop(was) { over?.after(was); }</script>`,
    ['{li}Ada', '{li}Cyd'],
    'list.lastElementChild.id === "Ada"',
  ],
  'an item that is moved by its style': [
    `<div id=box style="position: absolute; width: 80px; height: 40px; background: red">Box</div><script>
      box.onmousedown = (down) => { document.onmousemove = (event) => {
        box.style.left = event.clientX - down.offsetX + 'px'; box.style.top = event.clientY - down.offsetY + 'px'; }; };
      document.onmouseup = () => { document.onmousemove = null; };</script>`,
    ['#box', { by: [200, 100] }],
    'box.offsetLeft > 150',
  ],
  'a place that says by its class alone that it is filled': [
    `${LIST}<p id=place class=drop-active>Place</p><script>${PRESSED} function drop() { place.className = 'filled'; }</script>`,
    ['{li}Ada', '#place'],
    'place.className === "filled"',
  ],
  'days between two that are selected': [
    `${LIST}<script>${PRESSED} document.addEventListener('mousemove', (event) => { if (held) { held.classList.add('selected');
      item(event)?.classList.add('selected'); } }); function drop() {}</script>`,
    ['{li}Ada', '{li}Cyd'],
    'Cyd.classList.contains("selected")',
  ],
  'a list that counts what was dropped late': [
    `${LIST}<p id=count>0</p><script>${PRESSED} function drop() { setTimeout(() => { count.textContent = 1; }, 40); }</script>`,
    ['{li}Ada', '{li}Cyd'],
    'count.textContent === "1"',
  ],
  'a line on a canvas': [
    `<canvas id=c width=300 height=100></canvas><script>let on = false; const pen = c.getContext('2d');
      c.onmousedown = () => { on = true; }; onmouseup = () => { on = false; };
      c.onmousemove = (event) => { if (on) pen.fillRect(event.offsetX, event.offsetY, 3, 3); };</script>`,
    ['#c', { by: [80, 20] }],
    'pen.getImageData(0, 0, 300, 100).data.some(Boolean)',
  ],
  'a strip that is scrolled by dragging': [
    `<div id=strip style="width: 300px; overflow: hidden; cursor: grab"><p style="width: 3000px">Strip</p></div><script>
      let at = null; strip.onmousedown = (event) => { at = event.clientX + strip.scrollLeft; };
      onmouseup = () => { at = null; }; onmousemove = (event) => { if (at !== null) strip.scrollLeft = at - event.clientX; };</script>`,
    ['#strip', { by: [-100, 0] }],
    'strip.scrollLeft > 50',
  ],
  'a file that is moved into a folder of a shadow root': [
    `<b id=box draggable=true>Box</b><p id=host></p><script>host.attachShadow({ mode: 'closed' }).innerHTML = '<i>Folder</i>';
      host.ondragover = (event) => event.preventDefault(); host.ondrop = () => { document.title = 'moved'; };</script>`,
    ['#box', '#host'],
    'document.title === "moved"',
  ],
};

t.test('changed is true after a drag if something is left of it, and false if nothing is', async (t) => {
  for (const [what, [html, [locator, value], proof]] of Object.entries(CASES)) {
    await call('go', site.set('/drag', `<!doctype html><title>Drag</title>${html}`));
    const { changed } = (await call('act', locator, 'drag', value)) as { changed: boolean };
    if (proof !== null) t.ok(await call('page', proof), `${what}: it happened`);
    t.equal(changed, proof !== null, what);
  }
});

t.test('a drag to a target of which nothing is left fails', async (t) => {
  for (const [what, [html, [locator, value], proof]] of Object.entries(FAILURES)) {
    await call('go', site.set('/drag', `<!doctype html><title>Drag</title>${html}`));
    const failed = await failure('act', locator, 'drag', value).catch(String);
    t.match(failed, { code: 'ACTION_FAILED', error: /dragged|followed the pointer/ }, what);
    t.ok(await call('page', proof), `${what}: the page says so too`);
  }
});

t.end();
