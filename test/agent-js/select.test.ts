import { readFileSync } from 'node:fs';
import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const HOUR = 3_600_000;
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, callWithin, failure } = await openAgent(t, lease);
const open = (html: string) =>
  call('go', site.set('/select', `<!doctype html><style>[hidden] { display: none !important }</style>${html}`));
const file = (path: string, type: string): string =>
  site.set(`/${path}`, (_request, response) => {
    response.writeHead(200, { 'content-type': type });
    response.end(readFileSync(new URL(`../../node_modules/${path}`, import.meta.url)));
  });
const script = (path: string) => `<script src="${file(path, 'text/javascript')}"></script>`;
const style = (path: string) => `<link rel=stylesheet href="${file(path, 'text/css')}">`;

/** A list of 1,000 that draws what is seen of it. */
const VIRTUAL = `function draw() { const from = Math.floor(list.scrollTop / 30); inner.innerHTML = '';
  for (let at = from; at < Math.min(from + 7, 1000); at++) { const row = document.createElement('div'); row.setAttribute('role', 'option'); row.textContent = 'Item ' + at;
    row.style.cssText = 'position:absolute;height:30px;top:' + at * 30 + 'px'; row.onclick = () => { box.textContent = row.textContent; list.hidden = true; }; inner.append(row); } }
  list.onscroll = () => requestAnimationFrame(draw);`;
const virtual = (more = '') =>
  `<div id=box role=combobox tabindex=0 aria-label=Item ${more} onclick="list.hidden = !list.hidden; draw()">none</div>
   <div id=list role=listbox hidden style="height:210px;overflow:auto;position:relative"><div id=inner style="height:30000px"></div></div><script>${VIRTUAL}</script>`;
/** As select2: a field in the popup, which closes with each choice; chips in the control. */
const SELECT2 = `<span id=box role=combobox tabindex=0 aria-label=Tags><span id=chips></span>&nbsp;Pick</span><script>
  const all = ['Red', 'Green', 'Blue', 'Black']; let popup = null; const chosen = [];
  const close = () => { popup?.remove(); popup = null; };
  box.onclick = () => { if (popup) return close(); popup = document.createElement('span'); popup.innerHTML = '<input role=searchbox><ul role=listbox></ul>'; document.body.append(popup);
    const list = popup.lastChild; const fill = () => { list.innerHTML = ''; for (const one of all.filter((name) => name.toLowerCase().includes(popup.firstChild.value.toLowerCase()))) { const li = document.createElement('li'); li.setAttribute('role', 'option'); li.ariaSelected = String(chosen.includes(one)); li.textContent = one;
      li.onclick = () => { chosen.push(one); chips.textContent = chosen.join(' '); close(); }; list.append(li); } };
    popup.firstChild.oninput = () => setTimeout(fill, 20); fill(); popup.firstChild.focus(); };</script>`;
/** As primereact's: it stays open, and its entries are toggled. */
const PRIME = `<div id=box tabindex=0 aria-label=Cities role=combobox aria-haspopup=listbox onclick="panel.hidden = !panel.hidden">None</div>
  <div id=panel hidden><ul role=listbox aria-multiselectable=true>${['Rome', 'Oslo', 'Bern']
    .map(
      (name) =>
        `<li role=option aria-selected=false onclick="this.ariaSelected = String(this.ariaSelected !== 'true'); box.textContent = [...document.querySelectorAll('[aria-selected=true]')].map((one) => one.textContent).join(', ')">${name}</li>`,
    )
    .join('')}</ul></div>`;

t.test('an option is chosen only from the list of its own control', async (t) => {
  const other =
    '<div id=other role=listbox aria-label=Other><div role=option onclick="other.dataset.hit = 1">Red</div><div role=option>Blue</div></div>';
  for (const [what, own] of Object.entries({
    'a control that names its list':
      '<div role=combobox tabindex=0 aria-label=Own aria-controls=l onclick="l.hidden = false" id=box>none</div><div id=l role=listbox hidden><div role=option onclick="box.textContent = this.textContent">Red</div></div>',
    'a control whose list appears':
      '<button id=box aria-label=Own onclick="setTimeout(() => l.hidden = false, 30)">none</button><div id=l hidden><div role=option onclick="box.textContent = this.textContent">Red</div></div>',
    'a list without roles':
      '<div tabindex=0 role=combobox aria-label=Own id=box onclick="l.hidden = false">none</div><div id=l hidden><p>Red</p></div><script>l.onclick = (event) => { box.textContent = event.target.textContent; }</script>',
    'a list that was parked outside':
      '<div tabindex=0 role=combobox aria-label=Own id=box onclick="l.style.left = 0">none</div><div id=l style="position:absolute;left:-9999px"><p>Red</p></div><script>l.onclick = (event) => { box.textContent = event.target.textContent; }</script>',
    'a list that was drawn through':
      '<div tabindex=0 role=combobox aria-label=Own id=box onclick="l.style.opacity = 1">none</div><div id=l style="opacity:0;pointer-events:auto"><p>Red</p></div><script>l.onclick = (event) => { box.textContent = event.target.textContent; }</script>',
    'a list that was cut to nothing':
      '<div tabindex=0 role=combobox aria-label=Own id=box onclick="l.style.height = `auto`">none</div><div id=l style="height:0;overflow:hidden"><p>Red</p></div><script>l.onclick = (event) => { box.textContent = event.target.textContent; }</script>',
  })) {
    await open(`<h2>Red</h2>${other}${own}<p>Red</p>`);
    t.match(await call('act', '[aria-label=Own]', 'select', 'Red'), { changed: true }, what);
    t.equal(await call('text', '#box'), 'Red', what);
    t.equal(await call('page', 'other.dataset.hit ?? null'), null, what);
    if (!what.startsWith('a control')) continue;
    await open(`<h2>Green</h2>${other.replace('Blue', 'Green')}${own}<p>Green</p>`);
    const refused = await failure('act', '[aria-label=Own]', 'select', 'Green', { timeout: 4_000 });
    t.match(refused, { code: 'ACTION_FAILED', error: /has no option "Green"; it has "Red"$/ }, what);
  }
});

t.test('a list that draws a part of itself is gone through', async (t) => {
  for (const item of ['Item 3', 'Item 999']) {
    await open(virtual('aria-controls=list'));
    await call('act', '{combobox}Item', 'select', item, { timeout: 30_000 });
    t.equal(await call('text', '#box'), item);
  }
  await open(virtual());
  await call('act', '{combobox}Item', 'select', 'Item 40');
  t.equal(await call('text', '#box'), 'Item 40', 'one that is not named');
  const slow = virtual().replaceAll('1000', '40').replace('30000px', '1200px');
  for (const [late, item] of [
    ['setTimeout(draw, 300)', 'Item 8'],
    ["(inner.innerHTML = '<div role=option>Loading</div>', setTimeout(draw, 200))", 'Item 16'],
  ] as const) {
    await open(slow.replace('requestAnimationFrame(draw)', late));
    await call('act', '{combobox}Item', 'select', item, { timeout: 20_000 });
    t.equal(await call('text', '#box'), item, `rows that are drawn late: ${late}`);
  }
});

t.test('the field of a list is typed into', async (t) => {
  await open(`<input id=box role=combobox aria-label=Country aria-controls=l><ul id=l role=listbox hidden></ul><script>
    const all = Array.from({ length: 300 }, (_, at) => 'Country ' + at);
    box.oninput = () => setTimeout(() => { l.hidden = false; l.innerHTML = ''; for (const one of all.filter((name) => name.includes(box.value)).slice(0, 5)) { const li = document.createElement('li'); li.setAttribute('role', 'option'); li.textContent = one; li.onclick = () => { box.value = one; l.hidden = true; }; l.append(li); } }, 50);</script>`);
  await call('act', '{combobox}Country', 'select', 'Country 211');
  t.equal(await call('value', '#box'), 'Country 211');
});

t.test('an editable line whose list comes with what is typed is typed into', async (t) => {
  await open(`<div id=tags><b>css</b> <span id=box role=textbox contenteditable aria-label=Tags style="display:inline-block;width:200px;height:20px"></span></div><script>
    let list = null;
    box.oninput = () => { list?.remove(); list = document.createElement('div'); list.setAttribute('role', 'listbox');
      for (const one of ['Erlang', 'Elm', 'Ada'].filter((name) => name.startsWith(box.textContent))) { const option = document.createElement('div'); option.setAttribute('role', 'option'); option.textContent = one;
        option.onclick = () => { box.insertAdjacentHTML('beforebegin', '<b>' + one + '</b> '); box.textContent = ''; list.remove(); }; list.append(option); }
      if (box.textContent !== '') document.body.append(list); };</script>`);
  await call('act', '{textbox}Tags', 'select', 'Erlang');
  t.equal(await call('page', 'tags.textContent.trim()'), 'css Erlang');
});

t.test('several options are chosen, one after the other, whether the list stays open or not', async (t) => {
  await open(SELECT2);
  await call('act', '#box', 'select', ['Green', 'Black']);
  t.equal(await call('text', '#chips'), 'Green Black');
  await open(PRIME);
  await call('act', '#box', 'select', ['Rome', 'Bern']);
  t.equal(await call('text', '#box'), 'Rome, Bern');
});

t.test(
  'several options are chosen though a choice renames the control, or takes the focus from the filter',
  async (t) => {
    await open(
      `<div id=box role=combobox tabindex=0 aria-label=Colours aria-controls=l style="height: 20px" onclick="l.hidden = !l.hidden"></div><ul id=l role=listbox hidden>${[
        'Red',
        'Green',
        'Blue',
      ]
        .map(
          (name) =>
            `<li role=option onclick="box.append('${name} '); box.ariaLabel = box.textContent; l.hidden = true">${name}</li>`,
        )
        .join('')}</ul>`,
    );
    await call('act', '{combobox}Colours', 'select', ['Red', 'Blue']);
    t.equal(await call('text', '#box'), 'Red Blue');
    await open(`<div id=box role=combobox tabindex=0 aria-label=Items onclick="if (!pop.isConnected) document.body.append(pop)">none</div><script>
    const pop = document.createElement('div'); pop.innerHTML = '<input aria-label=Search><div role=listbox aria-multiselectable=true></div>';
    const [search, list] = pop.children; const chosen = new Set();
    const fill = () => { list.innerHTML = ''; for (const name of Array.from({ length: 900 }, (_, at) => 'Item ' + at).filter((one) => one.includes(search.value)).slice(0, 5)) {
      const option = document.createElement('div'); option.setAttribute('role', 'option'); option.tabIndex = -1; option.textContent = name; option.ariaSelected = String(chosen.has(name));
      option.onclick = () => { chosen.add(name); box.textContent = [...chosen].join(' '); option.ariaSelected = 'true'; option.focus(); }; list.append(option); } };
    search.oninput = fill; fill(); new MutationObserver(() => pop.isConnected && search.focus()).observe(document.body, { childList: true });</script>`);
    await call('act', '{combobox}Items', 'select', ['Item 500', 'Item 3']);
    t.equal(await call('text', '#box'), 'Item 500 Item 3');
    await open(`<div id=box role=combobox tabindex=0 aria-label=Colours style="height: 20px" onclick="l.style.clip = 'auto'">none</div>
    <div id=l style="position: absolute; z-index: 1; clip: rect(0, 0, 0, 0)">${['Red', 'Green'].map((name) => `<div role=option onclick="box.append(' ${name}'); l.style.clip = 'rect(0,0,0,0)'">${name}</div>`).join('')}</div>
    <div style="position: relative; height: 60px; background: white">Below</div>`);
    await call('act', '#box', 'select', ['Red', 'Green']);
    t.equal(await call('text', '#box'), 'none Red Green', 'a list that is closed by clipping it');
  },
);

t.test('libraries that draw selects of their own are operated', async (t) => {
  const options = Array.from({ length: 60 }, (_, at) => `<option>Entry ${at}</option>`).join('');
  await open(`${style('choices.js/public/assets/styles/choices.min.css')}<label for=one>One</label><select id=one>${options}</select><select id=many multiple>${options}</select>
    ${script('choices.js/public/assets/scripts/choices.min.js')}<script>new Choices('#one', { shouldSort: false }); new Choices('#many', { removeItemButton: true, shouldSort: false })</script>`);
  await call('act', '.choices[data-type=select-one]', 'select', 'Entry 44');
  t.equal(await call('page', 'one.value'), 'Entry 44');
  await call('act', '.choices[data-type=select-multiple]', 'select', ['Entry 3', 'Entry 51']);
  t.same(await call('page', '[...many.selectedOptions].map((option) => option.value)'), ['Entry 3', 'Entry 51']);
  await open(`${style('tom-select/dist/css/tom-select.css')}<select id=one aria-label=One>${options}</select><select id=many aria-label=Many multiple>${options}</select>
    ${script('tom-select/dist/js/tom-select.complete.min.js')}<script>new TomSelect('#one'); new TomSelect('#many')</script>`);
  await call('act', '.ts-wrapper.single .ts-control', 'select', 'Entry 58');
  t.equal(await call('page', 'one.value'), 'Entry 58');
  await call('act', '.ts-wrapper.multi .ts-control', 'select', ['Entry 7', 'Entry 59']);
  t.same(await call('page', '[...many.selectedOptions].map((option) => option.value)'), ['Entry 7', 'Entry 59']);
  await open(
    `${script('jquery/dist/jquery.js')}${script('jquery-ui/dist/jquery-ui.js')}${style('jquery-ui/themes/base/all.css')}<label for=s>Menu</label><select id=s>${options}</select><script>jQuery('#s').selectmenu()</script>`,
  );
  await call('act', '#s-button', 'select', 'Entry 33');
  t.equal(await call('page', 's.value'), 'Entry 33');
});

t.test('several options are chosen from a list that each choice closes by clipping it', async (t) => {
  await open(`<style>#drop { position: absolute; clip: rect(0, 0, 0, 0) } .open #drop { clip: auto }</style>
    <div id=all><span id=chips></span><input id=box aria-label=Fruits style="width:25px"><div id=drop><ul id=list></ul></div></div>
    <script>const close = () => all.classList.remove('open');
      box.onmousedown = () => { list.innerHTML = ['Apple', 'Banana', 'Cherry'].map((name) => '<li>' + name).join(''); all.classList.add('open'); };
      list.onmouseup = (event) => { chips.append(Object.assign(document.createElement('b'), { textContent: event.target.textContent + ' ' })); close(); }</script>`);
  t.match(await call('act', '#box', 'select', ['Apple', 'Cherry']), { changed: true });
  t.equal(await call('text', '#chips'), 'Apple Cherry');
});

t.test('an option that cannot be chosen is no success while the list with it is still open', async (t) => {
  await open(`<div><div><input id=box readonly value=Oslo aria-label=City onclick="drop.hidden = false"></div>
    <dl id=drop hidden><dd>Oslo</dd><dd>Gone</dd></dl></div>`);
  t.match(await failure('act', '#box', 'select', 'Gone'), { code: 'ACTION_FAILED', error: /it shows "Oslo"/ });
});

t.test('a choice that its page does not keep is no success', async (t) => {
  await open(`<select id=a aria-label=A onchange="this.selectedIndex = 0"><option value=x>One<option value=y>Two</select>
    <select id=b aria-label=B onchange="this.selectedIndex = 0"><option value="">Pick<option>Two</select>
    <select id=c aria-label=C onchange="this.remove()"><option>One<option>Two</select>
    <div id=d role=combobox tabindex=0 aria-label=D onclick="l.hidden = false">One</div><div id=l role=listbox hidden><div role=option onclick="l.hidden = true">Two</div></div>
    <div id=e role=combobox tabindex=0 aria-label=E onclick="m.hidden = false">Germany</div><div id=m role=listbox hidden><div role=option onclick="m.hidden = true; e.textContent = 'US'">United States</div></div>`);
  t.match(await failure('act', '#a', 'select', 'Two'), { code: 'ACTION_FAILED', error: /it shows "One"/ });
  t.match(await call('act', '#b', 'select', 'Two'), { changed: false, value: '' }, 'emptied');
  t.match(await call('act', '#c', 'select', 'Two'), { changed: true, value: null }, 'taken away');
  t.match(await failure('act', '#d', 'select', 'Two'), { code: 'ACTION_FAILED', error: /it shows "One"/ });
  t.match(await call('act', '#e', 'select', 'United States'), { changed: true, value: 'US' });
});

t.test(
  'a choice that is not kept is no success though the control shows a longer text of the same letters',
  async (t) => {
    const drawn = (id: string, shown: string, asked: string, hears = '') =>
      `<div id=${id} role=combobox tabindex=0 aria-label=${id} onclick="${id}l.hidden = false">${shown}</div>
     <div id=${id}l role=listbox hidden><div role=option onclick="${id}l.hidden = true; ${hears}">${asked}</div></div>`;
    await open(`${drawn('a', 'Female', 'Male')}${drawn('b', 'New York', 'York')}${PRIME}
    ${drawn('c', 'Female', 'Male', "c.textContent = 'Male'")}${drawn('d', 'Oslo, Rome', 'Rome')}${drawn('e', 'New York', 'York', "e.textContent = 'Pick'")}`);
    t.match(await failure('act', '#a', 'select', 'Male'), { code: 'ACTION_FAILED', error: /it shows "Female"/ });
    t.match(await failure('act', '#b', 'select', 'York'), { code: 'ACTION_FAILED', error: /it shows "New York"/ });
    t.match(await call('act', '#c', 'select', 'Male'), { changed: true });
    t.match(await failure('act', '#e', 'select', 'York'), { code: 'ACTION_FAILED', error: /it shows "Pick"/ });
    await call('act', '#d', 'select', 'Rome');
    t.match(await call('act', '#box', 'select', 'Rome'), { changed: true });
    await call('act', '#box', 'select', 'Rome').catch(() => undefined);
    t.equal(await call('page', 'box.textContent'), 'Rome', 'what is chosen already stays chosen');
  },
);

t.test(
  'a menu that opens a dialog, and shows what it showed before, did what was asked and says what it shows',
  async (t) => {
    await open(`<select aria-label=Environment onchange="this.selectedIndex = 0; d.showModal()"><option>Staging<option>New …</select>
    <dialog id=d><input aria-label=Name></dialog>`);
    t.match(await call('act', '{select}Environment', 'select', 'New …'), { changed: true, value: 'Staging' });
    t.match(await call('act', '{input}Name', 'input', 'mine'), { changed: true });
  },
);

t.test(
  'an option is chosen by what is drawn, from a datalist, and from the list of a cell that is no field',
  async (t) => {
    await open(`<div id=a role=combobox tabindex=0 aria-label=A onclick="l.hidden = false">Pick</div>
    <div id=l role=listbox hidden><div role=option onclick="a.textContent = 'Rome'; l.hidden = true"><i style="position:absolute;clip:rect(0 0 0 0)">Not chosen,</i>Rome</div></div>
    <input id=b list=d><datalist id=d><option value=rom label=Rome></datalist>
    <table><tr><td id=c onclick="if (!this.firstElementChild) { this.innerHTML = '<input onkeydown=&quot;if (event.key === \\'Escape\\') c.textContent = \\'Oslo\\'&quot;>'; this.firstChild.focus(); }">Oslo</td></tr></table>`);
    await call('act', '#a', 'select', 'Rome');
    await call('act', '#b', 'select', 'Rome');
    t.match(await failure('act', '#c', 'select', 'Rome'), { code: 'ACTION_FAILED', error: /no list opens/ });
    t.same(await call('page', '[a.textContent, b.value, c.innerHTML]'), ['Rome', 'rom', 'Oslo']);
  },
);

t.test('what cannot become true fails soon, and what the page makes true in a moment works', async (t) => {
  await open(
    `<button disabled>Off</button><input aria-label=Fixed readonly><select aria-label=Size><option>Small</select>`,
  );
  for (const act of [
    ['{button}Off', 'click'],
    ['{input}Fixed', 'input', 'x'],
    ['{select}Size', 'select', 'Huge'],
  ]) {
    // With an hour for it, only giving up early ends this.
    await t.rejects(callWithin({ ms: HOUR }, 'act', ...act, ...(act.length === 2 ? [null] : []), { timeout: HOUR }), {
      code: 'ACTION_FAILED',
    });
  }
  // Slower than a quiet page is waited for: the answer of the server is.
  site.set('/sizes', (_request, response) => void setTimeout(() => response.end('Huge'), 2_000));
  await open(`<button id=off disabled onclick="log.push('off')">Off</button><input id=fixed aria-label=Fixed readonly><select id=size aria-label=Size><option>Small</select>
    <script>window.log = []; setTimeout(() => { off.disabled = false; fixed.readOnly = false; }, 700); fetch('/sizes').then((answer) => answer.text()).then((text) => size.add(new Option(text)))</script>`);
  await call('act', '{select}Size', 'select', 'Huge');
  await call('act', '{button}Off', 'click');
  await call('act', '{input}Fixed', 'input', 'x');
  t.same(await call('page', '[size.value, log, fixed.value]'), ['Huge', ['off'], 'x']);
});
