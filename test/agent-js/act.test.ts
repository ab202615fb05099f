import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { scriptTags } from '../support/drag-pages.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const lease = await openBrowser(t);
const site = await openSite(t);
const { agent, call, callWithin, failure, look, told } = await openAgent(t, lease);
/** Gives up soon, with time left to say why. */
const hasty = await openAgent(t, lease, { actMs: 500 });
const ended = () => callWithin({ ms: 400 }, 'wait', 'navigation').catch((error: { code: string }) => error.code);

/** Opens a page that writes what happens to its elements into `window.log`. */
async function open(html: string): Promise<void> {
  const logging = `<script>
    window.log = [];
    for (const type of ['click', 'dblclick', 'contextmenu', 'input', 'change', 'keydown', 'drop', 'pointerup'])
      addEventListener(type, (event) => event.target.id && log.push(type + ' ' + event.target.id + (event.key ? ' ' + event.key : '')), true);
  </script>`;
  await call('go', site.set('/act', `<!doctype html><title>Act</title>${logging}${html}`));
}
const log = () => call('page', 'log.splice(0)');

t.test('A click arrives once, as a person’s click does', async (t) => {
  await open('<button id=b onclick="this.dataset.trusted = event.isTrusted">Save</button>');
  t.match(await call('act', '{button}Save', 'click'), { changed: true, url: `${site.origin}/act`, title: 'Act' });
  t.same(await log(), ['pointerup b', 'click b']);
  t.equal(await call('page', 'b.dataset.trusted'), 'true');
  await call('act', '{button}Save', 'dblclick');
  t.same(await log(), ['pointerup b', 'click b', 'pointerup b', 'click b', 'dblclick b']);
  await call('act', '{button}Save', 'rightclick');
  t.same(((await log()) as string[]).sort(), ['contextmenu b', 'pointerup b']);
});

t.test('Cancel of the question whether to leave keeps the page, and it can be used', async (t) => {
  await open(`<input aria-label=Text><a href=/elsewhere>Leave</a><button id=b>Stay</button>
    <script>onbeforeunload = (event) => event.preventDefault()</script>`);
  await call('act', '{input}Text', 'input', 'abc');
  t.match(await call('act', '{a}Leave', 'click'), { dialog: { kind: 'beforeunload' } });
  t.match(await callWithin({ ms: 5_000 }, 'act', '{dialog}Cancel', 'click'), { title: 'Act' });
  t.match(await callWithin({ ms: 5_000 }, 'act', '{button}Stay', 'click'), { title: 'Act' });
  await call('go', 'about:blank');
});

t.test('A row between bars that stay, and a button in a frame that is turned, are pressed', async (t) => {
  const rows = ['Ann', 'Ben', 'Cid', 'Dan', 'Eve', 'Fay'].map((name) => `<button id=${name}>${name}</button>`).join('');
  await open(`<style>#list { height: 90px; width: 100px; overflow: auto } #list button { display: block; height: 20px }
      #list b { position: sticky; z-index: 1; display: block; background: #eee }</style>
    <div id=list><b style="top: 0; height: 10px"></b>${rows}<b style="bottom: 0; height: 65px"></b></div>
    <iframe style="transform: rotate(200deg)" srcdoc="<button onclick='top.log.push(1)'>Turned</button>"></iframe>`);
  await call('act', '{button}Cid', 'click');
  t.same(await log(), ['pointerup Cid', 'click Cid']);
  await call('act', '{button}Turned', 'click');
  t.same(await log(), [1]);
});

t.test('changed is true only if something changed', async (t) => {
  await open(`<button id=b>Nothing</button><label><input type=checkbox checked> On</label><input aria-label=N value=7>
    <input id=other><button onclick="other.value = 1">Fill</button>`);
  t.match(await call('act', '{button}Nothing', 'click'), { changed: false });
  t.match(await call('act', '{input}On', 'check'), { changed: false });
  t.match(await call('act', '{input}On', 'uncheck'), { changed: true });
  t.match(await call('act', '{input}N', 'input', '7'), { changed: false });
  t.match(await call('act', '{input}N', 'input', '8'), { changed: true });
  t.match(await call('act', '{button}Nothing', 'hover'), { changed: false });
  t.match(await call('act', '{button}Fill', 'click'), { changed: true }, 'a field that a script has set');
});

t.test('input replaces what a field holds, and sites hear of it', async (t) => {
  await open(`<input id=a aria-label=Text value=old><textarea id=b aria-label=Area>old</textarea>
    <div id=c contenteditable aria-label=Rich>old</div><input id=d type=number aria-label=Number value=1>`);
  for (const [locator, text] of [
    ['{input}Text', 'new text'],
    ['{textarea}Area', 'two\nlines'],
    ['{div}Rich', 'rich text'],
    ['{input}Number', '42'],
    ['{input}Text', 'Grüße, 世界'],
  ] as const) {
    await call('act', locator, 'input', text);
    t.equal(await call('value', locator), text);
  }
  t.match(await log(), ['input a', 'keydown a t', 'input a', 'change a', 'input b']);
  await call('act', '{input}Text', 'clear');
  t.equal(await call('value', '{input}Text'), '');
  await call('act', '{input}Number', 'input', '');
  t.equal(await call('value', '{input}Number'), '');
  t.match(await failure('act', '{input}Number', 'input', 'abc'), { code: 'ACTION_FAILED', error: /does not take/ });
});

t.test('Dates, colours and sliders are set by their value', async (t) => {
  await open(`<input id=a type=date aria-label=Date><input id=b type=color aria-label=Colour>
    <input id=c type=range min=0 max=10 aria-label=Volume><input id=d type=time aria-label=Time>`);
  await call('act', '{input}Date', 'input', '2030-12-31');
  await call('act', '{input}Colour', 'input', '#0a8cff');
  await call('act', '{input}Volume', 'input', 7);
  await call('act', '{input}Time', 'input', '18:30');
  t.same(await call('page', '[a.value, b.value, c.value, d.value]'), ['2030-12-31', '#0a8cff', '7', '18:30']);
  t.same(((await log()) as string[]).slice(0, 2), ['input a', 'change a']);
  t.match(await failure('act', '{input}Date', 'input', 'tomorrow'), {
    code: 'ACTION_FAILED',
    error: '{input}Date does not take "tomorrow": a date is like 2030-12-31',
  });
});

t.test('select chooses by the text of options, also in a list that a site draws itself', async (t) => {
  await open(`<select id=s aria-label=Size><option value=s>Small<option value=l>Large<option disabled>Huge</select>
    <select id=m aria-label=Many multiple><option selected>A<option>B<option>C</select>
    <div role=combobox aria-label=Own tabindex=0 onclick="setTimeout(() => list.hidden = false, 30)">none</div>
    <div id=list role=listbox hidden><div role=option onclick="document.querySelector('[role=combobox]').textContent = this.textContent">Red</div></div>`);
  await call('act', '{select}Size', 'select', 'Large');
  t.equal(await call('value', '{select}Size'), 'Large');
  t.same(await log(), ['input s', 'change s']);
  await call('act', '{select}Many', 'select', ['B', 'C']);
  t.same(await call('value', '{select}Many'), ['B', 'C']);
  await call('act', '{combobox}Own', 'select', 'Red');
  t.equal(await call('text', '{combobox}Own'), 'Red');
  const error = await hasty.call('act', '{select}Size', 'select', 'Tiny').catch((thrown) => thrown);
  t.match(error, { code: 'ACTION_FAILED', message: /has no option "Tiny"; it has "Small", "Large", "Huge"/ });
});

t.test('check and uncheck leave a box as wanted, also one that its site has hidden', async (t) => {
  await open(`<label><input id=a type=checkbox> Plain</label>
    <input id=b type=checkbox style="position:absolute;opacity:0;width:0;height:0"><label for=b>Drawn by the site</label>
    <label><input id=r type=radio name=x> Radio</label>
    <div id=s role=switch aria-checked=false tabindex=0 onclick="this.ariaChecked = this.ariaChecked !== 'true'">Dark</div>
    <div role=switch aria-checked=false aria-label=Late tabindex=0 onclick="setTimeout(() => { this.ariaChecked = 'true' }, 200)">O</div>
    <label><input type=checkbox onclick="return false"> Stubborn</label>`);
  for (const locator of ['{input}Plain', '{input}Drawn by the site', '{input}Radio', '{switch}Dark', '{switch}Late']) {
    t.match(await call('act', locator, 'check'), { changed: true });
    t.equal(await call('value', locator), true, locator);
  }
  t.match(await call('act', '{switch}Dark', 'check'), { changed: false });
  t.match(await call('act', '{checkbox}Plain', 'uncheck'), { changed: true }, 'its natural role answers too');
  t.equal(await call('value', '{input}Plain'), false);
  t.match(await failure('act', '{input}Radio', 'uncheck'), { code: 'ACTION_FAILED', error: /radio button/ });
  t.match(await failure('act', '{input}Stubborn', 'check'), { code: 'ACTION_FAILED', error: /still unchecked/ });
});

t.test('Keys and chords reach the focused element', async (t) => {
  await open(
    '<input id=a aria-label=Name value=abc><form onsubmit="log.push(\'submit\'); return false"><input id=f aria-label=Form></form>',
  );
  await call('act', '{input}Name', 'press', 'Control+A');
  await call('act', '{input}Name', 'press', 'Backspace');
  await call('act', '{input}Name', 'press', 'X');
  t.equal(await call('value', '{input}Name'), 'X');
  await call('act', '{input}Name', 'press', 'Shift+Tab');
  t.match(await call('page', 'document.activeElement.tagName'), 'BODY');
  await log();
  await call('act', '{input}Form', 'press', 'Enter');
  t.same(await log(), ['keydown f Enter', 'submit']);
  await open(
    '<map name=m><area alt=North href=#north shape=circle coords="50,50,40"></map><img usemap=#m width=100 height=100>',
  );
  await call('act', '{area}North', 'press', 'Enter');
  t.equal(await call('page', 'location.hash'), '#north', 'a part of a picture is reached by keys too');
  t.match(await failure('act', '{area}North', 'press', 'Hyper+Q'), { code: 'SCRIPT_ERROR', error: /is not a key/ });
});

t.test('Files are uploaded into an input, and through a button that opens the chooser', async (t) => {
  writeFileSync(join(lease.endpoint.uploadsDir, 'cv.txt'), 'hello');
  await open(`<input id=a type=file aria-label=File><input id=h type=file hidden onchange="out.textContent = this.files[0].name">
    <button onclick="h.click()">Choose</button><p id=out></p><button>Nothing</button>`);
  await call('act', '{input}File', 'upload', 'cv.txt');
  t.equal(await call('value', '{input}File'), 'cv.txt');
  t.equal(await call('page', 'a.files[0].text()'), 'hello', 'the browser can read it');
  await call('act', '{button}Choose', 'upload', 'cv.txt');
  t.equal(await call('text', '#out'), 'cv.txt');
  for (const name of ['../secret', '/etc/passwd', '..', 'absent.txt']) {
    t.match(await failure('act', '{input}File', 'upload', name), { code: 'ACTION_FAILED' }, name);
  }
});

t.test('Files are dropped on a place that takes them, and on no other', async (t) => {
  writeFileSync(join(lease.endpoint.uploadsDir, 'cv.txt'), 'hello');
  await open(`<div id=zone tabindex=0 role=button ondragover="event.preventDefault()"
      ondrop="event.preventDefault(); out.textContent = [...event.dataTransfer.files].map((one) => one.name)">Drop here</div>
    <button>Nothing</button><p id=out></p>`);
  t.match(await call('act', '{button}Drop here', 'upload', 'cv.txt'), { changed: true });
  t.equal(await call('text', '#out'), 'cv.txt');
  t.match(await failure('act', '{button}Nothing', 'upload', 'cv.txt'), {
    code: 'ACTION_FAILED',
    error: /opens no file chooser, and accepts no dropped/,
  });
});

t.test('Dragging works by pointer and by the browser’s own drag and drop', async (t) => {
  await open(`<style>.box { position: absolute; width: 60px; height: 40px } </style>
    <div id=own class=box style="left:10px;top:10px;cursor:pointer">Own</div>
    <div id=native class=box draggable=true style="left:10px;top:100px" ondragstart="event.dataTransfer.setData('text/plain', 'cargo')">Native</div>
    <div id=target class=box style="left:300px;top:60px" ondragover="event.preventDefault()" ondrop="this.dataset.got = event.dataTransfer.getData('text/plain')">Target</div>
    <script>
      own.onpointerdown = (event) => own.setPointerCapture(event.pointerId);
      own.onpointermove = (event) => { if (event.buttons) own.style.left = event.clientX - 30 + 'px'; };
    </script>`);
  await call('act', '{div}Own', 'drag', '{div}Target');
  // It passes the middle of the target.
  const left = Number(await call('page', 'own.offsetLeft'));
  t.ok(left >= 300 && left < 330, `${left}`);
  await call('act', '{div}Native', 'drag', '{div}Target');
  t.equal(await call('page', 'target.dataset.got'), 'cargo');
});

t.test('A drag says what came of it, or fails', async (t) => {
  await open(`${scriptTags(site)('sortablejs/Sortable.js')}<style>li { padding: 8px; width: 200px; list-style: none }</style>
    <ul id=a><li>A1<li>A2<li>A3</ul><ul id=b><li>B1</ul><p id=off style="width: 50px">Nothing</p>
    <script>for (const list of [a, b]) Sortable.create(list, { group: 'x', animation: 150 })</script>`);
  t.match(await call('act', '{li}A1', 'drag', '{li}B1'), { changed: true, drag: { outcome: 'moved' } });
  t.match(await call('page', 'b.textContent'), /A1/);
  t.match(await failure('act', '{li}A2', 'drag', '#off'), { code: 'ACTION_FAILED', error: /dragged to #off/ });
  await open(`<div id=box style="position: absolute; left: 10px; top: 10px; width: 90px; height: 40px">Box</div><script>
    let down = null; box.onmousedown = ({ clientX }) => { down = clientX; }; onmouseup = () => { down = null; };
    onmousemove = ({ clientX }) => { if (down !== null && clientX - down > 8) box.style.left = clientX - down + 2 + 'px'; };</script>`);
  t.match(await call('act', '#box', 'drag', { by: [100, 0] }), { drag: { outcome: 'moved' } });
  t.equal(await call('page', 'box.offsetLeft'), 110);
});

t.test('scroll brings an element into view, or scrolls what holds it', async (t) => {
  await open(`<div id=box style="height:100px;overflow:auto"><div style="height:1000px">Long</div><button>Last</button></div>
    <div style="height:3000px"></div><button>Bottom</button>`);
  await call('act', '#box', 'scroll', 'down');
  t.equal(await call('page', 'box.scrollTop'), 80);
  await call('act', '#box', 'scroll', 'bottom');
  t.ok(((await call('page', 'box.scrollTop')) as number) > 900);
  await call('act', '{button}Bottom', 'scroll');
  t.equal((await look({ full: true })).elements.find(({ name }) => name === 'Bottom')?.offscreen, undefined);
  t.match(
    await call('act', '{button}Last', 'click'),
    { changed: false },
    'a click scrolls by itself, in every scroller',
  );
});

t.test('Elements in open shadow roots and frames are operated like any other', async (t) => {
  await open(`<div style="height: 900px"></div><x-card></x-card>
    <iframe style="margin:20px;border:5px solid" srcdoc="<div style='height:300px'></div><button onclick='this.textContent=&quot;Done&quot;'>In frame</button><input aria-label=Inner>"></iframe>
    <script>customElements.define('x-card', class extends HTMLElement { constructor() { super(); const root = this.attachShadow({ mode: 'open' });
      root.innerHTML = '<button>In shadow</button>'; root.firstChild.onclick = () => { root.firstChild.textContent = 'Pressed'; }; } })</script>`);
  await call('act', '{button}In shadow', 'click');
  await call('wait', '{button}Pressed');
  t.match(await call('act', '{button}In frame', 'click'), { changed: true });
  await call('wait', '{button}Done');
  await call('act', '{input}Inner', 'input', 'typed');
  t.equal(await call('value', '{input}Inner'), 'typed');
});

t.test('An action waits until its element is there, enabled, uncovered and still', async (t) => {
  await open(`<div id=place></div><button id=late disabled onclick="log.push('late')">Late</button>
    <button id=under style="position:absolute;top:200px;left:10px">Under</button>
    <div id=cover style="position:absolute;inset:150px 0 0 0;background:#fff8">Cover</div>
    <style>@keyframes slide { from { left: 600px } to { left: 400px } } #moving { position: absolute; top: 40px; left: 400px; animation: slide 300ms linear }</style>
    <script>
      setTimeout(() => { place.innerHTML = '<button>Born later</button>'; late.disabled = false; cover.remove(); }, 200);
    </script>`);
  t.equal(((await call('act', '{button}Born later', 'click')) as { url: string }).url, `${site.origin}/act`);
  await call('act', '{button}Late', 'click');
  await call('act', '{button}Under', 'click');
  await call(
    'page',
    'document.body.insertAdjacentHTML("beforeend", "<button id=moving>Moving</button>"); log.splice(0); null',
  );
  await call('act', '{button}Moving', 'click');
  t.match(await log(), ['pointerup moving', 'click moving']);
});

t.test('A click never lands on what took the element’s place in the last moment', async (t) => {
  await open(`<button id=good style="position:absolute;top:20px;left:20px;width:90px">Good</button>
    <button id=bad style="position:absolute;top:20px;left:220px;width:90px">Bad</button>
    <script>
      let swaps = 0;
      addEventListener('mousemove', () => {
        if (swaps++ > 2) return;
        [good.style.left, bad.style.left] = [bad.style.left, good.style.left];
      });
    </script>`);
  await call('act', '{button}Good', 'click');
  const clicks = ((await log()) as string[]).filter((entry) => entry.startsWith('click'));
  t.same(clicks, ['click good']);
});

t.test('An action that cannot be done says what stood in the way', async (t) => {
  await open(`<button disabled>Off</button><button>Save</button><button>Save</button><input readonly aria-label=Fixed>
    <div style="position:absolute;inset:0;background:#fff8"><p>Cookie notice</p></div><button aria-label="Add to basket">+</button>`);
  const fails = async (...args: unknown[]) => {
    try {
      await hasty.call('act', ...args);
    } catch (error) {
      return error as { code: string; message: string; details: Record<string, unknown> };
    }
    throw new Error('It did not fail');
  };
  t.match(await fails('{button}Off', 'click'), { code: 'ACTION_FAILED', message: '{button}Off is disabled' });
  await hasty.call('act', '{input}Fixed', 'focus');
  t.match(await fails('{button}Off', 'click'), {
    message: '{button}Off is disabled; {input}Fixed still has the focus',
  });
  t.match(await fails('{button:1}Save', 'click'), {
    code: 'ACTION_FAILED',
    message: '{button:1}Save is covered by {div}Cookie notice',
    details: { url: `${site.origin}/act`, title: 'Act', locator: '{button:1}Save' },
  });
  t.match(await fails('{input}Fixed', 'input', 'x'), { code: 'ACTION_FAILED', message: '{input}Fixed is read only' });
  t.match(await fails('{button}Off', 'input', 'x'), { code: 'ACTION_FAILED' });
  t.match(await fails('{button}Save', 'click'), {
    code: 'LOCATOR_AMBIGUOUS',
    details: { candidates: ['{button:1}Save', '{button:2}Save'] },
  });
  t.match(await fails('button', 'click'), {
    code: 'LOCATOR_AMBIGUOUS',
    details: { candidates: ['{button}Off', '{button:1}Save', '{button:2}Save', '{button}Add to basket'] },
  });
  t.match(await fails('{button}Add to cart', 'click'), {
    code: 'LOCATOR_NOT_FOUND',
    details: { candidates: ['{button}Add to basket'], title: 'Act' },
  });
  t.match(await fails('{button:3}Save', 'click'), { code: 'LOCATOR_NOT_FOUND', message: /only 2/ });
  for (const [locator, action] of [
    ['{button', 'click'],
    ['#1', 'click'],
    ['//[', 'click'],
    ['', 'click'],
    ['a', 'jump'],
  ]) {
    t.match(await fails(locator, action), { code: 'SCRIPT_ERROR' }, `${locator} ${action}`);
  }
});

t.test('Locators find by text, beginning, number, any role, CSS and XPath', async (t) => {
  await open(`<h1>Hello   <b>World</b></h1><input type=submit id=s value=Go><button>One more</button><button>One more thing</button>
    <p class=note>A note</p><div><div><span>Deep text</span></div></div><div role=alert>Saved</div>`);
  t.equal(await call('text', '{h1}Hello World'), 'Hello World');
  t.equal(await call('text', '{heading}Hello World'), 'Hello World');
  t.equal(await call('text', '{^p}note'), 'A note');
  t.equal(await call('text', '{^button:2}One'), 'One more thing');
  t.equal(await call('text', '{*}Deep text'), 'Deep text');
  t.equal(await call('text', '{alert}'), 'Saved');
  t.equal(await call('text', '.note'), 'A note');
  t.equal(await call('text', '//p[@class="note"]'), 'A note');
  t.equal((await failure('text', '{^button}One')).code, 'LOCATOR_AMBIGUOUS');
  await call('act', '{button}Go', 'click');
  t.match(await log(), ['pointerup s', 'click s']);
});

t.test('An action awaits the navigation that it starts', async (t) => {
  site.set('/next', '<title>Next</title><h1>Next page</h1>');
  await open(`<a href=/next>Link</a><form action=/next><input aria-label=Q name=q><button>Submit</button></form>
    <button onclick="location.href = '/next'">Script</button><button onclick="history.pushState(null, '', '/pushed')">Push</button>
    <a href="http://127.0.0.1:9/">Dead</a>`);
  for (const step of [
    ['{a}Link', 'click'],
    ['{button}Submit', 'click'],
    ['{input}Q', 'press', 'Enter'],
    ['{button}Script', 'click'],
  ]) {
    t.match(await call('act', ...step), { changed: true, title: 'Next' }, step.join(' '));
    t.equal(await call('text', '{h1}'), 'Next page');
    t.match(await call('back'), { url: `${site.origin}/act`, title: 'Act' });
  }
  t.match(await call('act', '{button}Push', 'click'), { changed: true, url: `${site.origin}/pushed` });
  await call('wait', 'navigation');
  t.equal(await ended(), 'WAIT_TIMEOUT', 'each navigation is waited for once');
  t.match(await failure('act', '{a}Dead', 'click'), { code: 'ACTION_FAILED', error: /net::ERR_/ });
});

t.test('What is typed into a password field stands in no step', async (t) => {
  await open('<input type=password aria-label=Password><input aria-label=Plain>');
  await agent.settle();
  const before = told('StepFinished').length;
  await call('act', '{input}Password', 'input', 'hunter2');
  await call('act', '{input}Password', 'press', 'Enter');
  await call('act', '{input}Plain', 'input', 'open');
  await callWithin({ ms: 300 }, 'act', '{input}Pasword', 'input', 'hunter2').catch(() => undefined);
  await call('go', 'about:blank');
  const steps = told('StepFinished').slice(before);
  t.notMatch(JSON.stringify(steps), /hunter2/);
  t.same(
    steps.slice(0, 3).map((step) => step.js),
    [
      'agent.act("{input}Password", "input", "••••••••")',
      'agent.act("{input}Password", "press", "••••••••")',
      'agent.act("{input}Plain", "input", "open")',
    ],
  );
});

t.end();
