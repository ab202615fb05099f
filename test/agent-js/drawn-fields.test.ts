import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, look, failure } = await openAgent(t, lease, { actMs: 3_000 });
const open = (html: string) =>
  call('go', site.set('/page', `<!doctype html><meta charset=utf-8><title>Page</title>${html}`));
const locators = async () => (await look({ full: true })).elements.map(({ locator }) => locator);

/** An editor of code in little: it draws its text, closes brackets, and takes keys in a field that nobody sees. */
const editor = (field: string, takes = 'text => text') => `
  <div id=editor style="position: relative; width: 300px; height: 80px; border: 1px solid">
    ${field}<pre id=shown style="height: 60px; margin: 0">old text</pre></div>
  <script>
    const field = editor.querySelector('textarea');
    const takes = ${takes};
    let text = 'old text', all = false;
    const write = (added) => { text = takes(all ? added : text + added); all = false; shown.textContent = text; };
    editor.addEventListener('mousedown', (event) => { event.preventDefault(); field.focus(); });
    field.addEventListener('keydown', (event) => {
      if (event.ctrlKey && event.key === 'a') all = true;
      else if (event.key === 'Delete' && all) write('');
      else if (event.key === 'Enter') write('\\n  ');
      else if (event.key === 'End') all = false;
    });
    field.addEventListener('input', () => { const typed = field.value.replace(/\\n/g, ''); field.value = ''; write(typed.replace('{', '{}')); });
    field.addEventListener('copy', (event) => { event.clipboardData.setData('text/plain', all ? text : ''); event.preventDefault(); });
    field.addEventListener('paste', (event) => { write(event.clipboardData.getData('text/plain')); event.preventDefault(); });
  </script>`;
const FADED = '<textarea aria-label=Code style="position: absolute; opacity: 0; width: 8px; height: 12px"></textarea>';
const CUT =
  '<div style="position: relative; overflow: hidden; width: 3px; height: 0"><textarea aria-label=Code style="position: absolute; width: 900px"></textarea></div>';

t.test('an editor that takes its keys in a field out of sight is that field, and holds what is typed', async (t) => {
  for (const field of [FADED, CUT]) {
    await open(editor(field));
    t.strictSame(await locators(), ['{textarea}Code']);
    for (const typed of ['let x = 1;', 'if (a) {\n  b();\n}']) {
      await call('act', '{textarea}Code', 'input', typed);
      t.equal(await call('page', 'text'), typed);
    }
    await call('act', '{textarea}Code', 'clear');
    t.equal(await call('page', 'text'), '');
    await call('page', 'document.activeElement.blur()');
    await call('act', '{textarea}Code', 'click');
    t.equal(await call('page', 'document.activeElement === field'), true);
  }
});

t.test('an editor that takes another text than was typed fails, and says what it holds', async (t) => {
  await open(editor(FADED, `text => text.replace(/\\d/g, '')`));
  const error = await failure('act', '{textarea}Code', 'input', 'a1b2');
  t.equal(error.code, 'ACTION_FAILED');
  t.equal(error.error, '{textarea}Code does not take what was typed: it shows "ab"');
});

t.test('a box that a library draws beside the input which it hides is that input', async (t) => {
  const box = (id: string, kind: string, name: string) =>
    `<input type=${kind} id=${id} name=kind style="display: none"><div class="x-form-${kind}" onclick="${id}.checked = !${id}.checked"
      style="cursor: pointer"><div>${name}</div><i></i></div>`;
  await open(`${box('a', 'checkbox', 'Write')}${box('b', 'radio', 'Read')}
    <input type=checkbox style="display: none"><div class=delete onclick="0" style="cursor: pointer">Delete</div>`);
  t.strictSame(await locators(), ['{input}Write', '{input}Read', '{div}Delete']);
  await call('act', '{input}Write', 'check');
  await call('act', '{input}Read', 'check');
  t.equal(await call('page', 'a.checked && b.checked'), true);
  t.equal((await look({ full: true })).elements[0]?.checked, true);
});

t.test('the thumbs of a slider that a library draws are called as the slider is, and are dragged', async (t) => {
  const thumb = (which: string, left: number) =>
    `<span class="q-handle ${which}" style="position: absolute; left: ${left}px; width: 16px; height: 16px"><i></i></span>`;
  const slider = (thumbs: string) =>
    `<div style="height: 60px">Price<br><span class="q q--flat" style="display: block; position: relative"><span class=q>
      <span class=q-line></span><span class=q-min>0</span></span>${thumbs}</span><input style="width: 1px" tabindex=-1 readonly hidden></div>`;
  await open(`${slider(thumb('single', 40))}${slider(thumb('from', 40) + thumb('to', 90))}<script>
    for (const one of document.querySelectorAll('.q-handle')) one.addEventListener('mousedown', () => {});</script>`);
  const { elements } = await look({ full: true });
  t.strictSame(
    elements.map(({ locator }) => locator),
    ['{span}Price handle', '{span}Price from handle', '{span}Price to handle'],
  );
  for (const { actions } of elements) t.strictSame(actions, ['click', 'drag']);
});

/** @param end what becomes of the text when the field in the cell is left */
const grid = (end: string) => `
  <table id=grid><tr><td>Ada</td><td class=fixed>Ben</td></tr></table><input id=shared style="position: absolute; display: none">
  <script>
    const close = (cell, value) => { cell.textContent = (${end})(value); };
    grid.addEventListener('dblclick', ({ target }) => {
      if (target.localName !== 'td' || target.className === 'fixed') return;
      const before = target.textContent;
      const field = globalThis.useShared ? shared : document.createElement('input');
      if (field === shared) { const box = target.getBoundingClientRect(); Object.assign(shared.style, { display: '', left: box.left + 'px', top: box.top + 'px', width: box.width + 'px' }); }
      else { target.textContent = ''; target.append(field); }
      field.value = before;
      field.focus();
      field.onkeydown = ({ key }) => { if (key === 'Enter') { shared.style.display = 'none'; close(target, field.value); } };
    });
  </script>`;

t.test('input writes into a cell that becomes a field when it is double-clicked, and ends it', async (t) => {
  for (const useShared of [false, true]) {
    await open(grid('value => value'));
    await call('page', `globalThis.useShared = ${useShared}`);
    await call('act', '{*}Ada', 'input', 'Grace');
    t.equal(await call('page', 'grid.rows[0].cells[0].textContent'), 'Grace');
    await call('act', '{*}Grace', 'clear');
    t.equal(await call('page', 'grid.rows[0].cells[0].textContent'), '');
  }
});

t.test('input into a cell fails if no field opens, and if the cell shows something else afterwards', async (t) => {
  await open(grid(`() => 'No'`));
  const fixed = await failure('act', '{*}Ben', 'input', 'Grace');
  t.equal(fixed.code, 'ACTION_FAILED');
  t.match(fixed.error, /does not accept text: no field opens in it/);
  const other = await failure('act', '{*}Ada', 'input', 'Grace');
  t.equal(other.code, 'ACTION_FAILED');
  t.match(other.error, /it shows "No"/);
});

/** @param more what the arrow keys add */
const slider = (more: number) => `
  <div id=s role=slider tabindex=0 aria-label=Volume aria-valuemin=0 aria-valuemax=100 aria-valuenow=50>o</div>
  <script>s.onkeydown = ({ key }) => {
    const by = key === 'ArrowRight' ? ${more} : key === 'ArrowLeft' ? ${-more} : 0;
    setTimeout(() => s.setAttribute('aria-valuenow', Math.min(100, Math.max(0, Number(s.getAttribute('aria-valuenow')) + by))));
  };</script>`;

t.test('input moves a slider that a page draws to a number, or fails and leaves no doubt where it is', async (t) => {
  await open(slider(5));
  const { elements } = await look({ full: true });
  t.strictSame(elements[0]?.actions, ['click', 'press', 'input']);
  for (const value of ['75', '20', '0', '100']) {
    await call('act', '{slider}Volume', 'input', value);
    t.equal(await call('page', `s.getAttribute('aria-valuenow')`), value);
  }
  const refused: readonly [typed: string, why: RegExp][] = [
    ['33', /does not take 33: it moves in steps of 5 and shows 3[05]/],
    ['101', /does not take 101: it goes from 0 to 100/],
    ['loud', /takes a number, not "loud"/],
  ];
  for (const [typed, why] of refused) {
    const error = await failure('act', '{slider}Volume', 'input', typed);
    t.equal(error.code, 'ACTION_FAILED');
    t.match(error.error, why);
  }
  await open(slider(0));
  const error = await failure('act', '{slider}Volume', 'input', '7');
  t.match(error.error, /does not move by the arrow keys, nor when it is dragged/);
});

/** Of a slider without keys: which element has the role, how its value follows the pointer, and what it hears. */
interface Drawn {
  readonly what: string;
  readonly role: 'thumb' | 'track';
  readonly hears: 'thumb' | 'track' | 'click';
  readonly vertical?: boolean;
  readonly rtl?: boolean;
  readonly step?: number;
  readonly least?: number;
  readonly most?: number;
  /** Its value is not proportional to the way. */
  readonly curve?: number;
  /** It takes the focus, and does nothing with the keys. */
  readonly focused?: boolean;
}

function drawnSlider(own: Drawn): string {
  const {
    role,
    hears,
    vertical = false,
    rtl = false,
    step = 1,
    least = 0,
    most = 100,
    curve = 1,
    focused = false,
  } = own;
  const aria = `role=slider ${focused ? 'tabindex=0' : ''} aria-label=Volume aria-valuemin=${least} aria-valuemax=${most}
    ${vertical ? 'aria-orientation=vertical' : ''}`;
  const size = vertical ? 'width: 20px; height: 240px' : 'width: 240px; height: 20px';
  return `<div style="height: 40px"></div><div id=track dir=${rtl ? 'rtl' : 'ltr'} ${role === 'track' ? aria : ''}
    style="position: relative; margin: 0 60px; background: #ddd; ${size}"><div id=thumb ${role === 'thumb' ? aria : ''}
    style="position: absolute; width: 20px; height: 20px; background: #48c"></div></div><script>
    const owner = ${role};
    const move = (part) => {
      const whole = Math.pow(Math.min(1, Math.max(0, part)), ${curve}) * ${most - least};
      const value = ${least} + Math.round(whole / ${step}) * ${step};
      owner.setAttribute('aria-valuenow', value);
      const at = Math.pow((value - ${least}) / ${most - least}, 1 / ${curve}) * 220;
      thumb.style.${vertical ? 'bottom' : rtl ? 'right' : 'left'} = at + 'px';
    };
    move(0.5);
    let grip = 10, held = false;
    const partAt = ({ clientX, clientY }) => {
      const { left, right, bottom } = track.getBoundingClientRect();
      return (${vertical ? 'bottom - clientY' : rtl ? 'right - clientX' : 'clientX - left'} - grip) / 220;
    };
    ${
      hears === 'click'
        ? 'track.onclick = (event) => move(partAt(event));'
        : `${hears === 'thumb' ? 'thumb' : 'track'}.onmousedown = (event) => {
      ${hears === 'thumb' ? '' : 'move(partAt(event));'}
      held = true;
    };
    document.onmousemove = (event) => { if (held) move(partAt(event)); };
    document.onmouseup = () => { held = false; };`
    }</script>`;
}

const DRAWN: readonly Drawn[] = [
  { what: 'its thumb is dragged', role: 'thumb', hears: 'thumb' },
  { what: 'its thumb has the focus and is dragged', role: 'thumb', hears: 'thumb', focused: true },
  { what: 'it stands upright', role: 'thumb', hears: 'thumb', vertical: true },
  { what: 'it goes from right to left', role: 'thumb', hears: 'thumb', rtl: true },
  { what: 'its way is curved', role: 'thumb', hears: 'thumb', curve: 2 },
  { what: 'it begins below zero', role: 'thumb', hears: 'track', least: -50, most: 50 },
  { what: 'it goes in steps', role: 'thumb', hears: 'track', step: 5 },
  { what: 'it goes in parts of one', role: 'thumb', hears: 'thumb', most: 1, step: 0.25 },
  { what: 'the track is the slider', role: 'track', hears: 'track' },
  { what: 'the track is the slider, and only its thumb is heard', role: 'track', hears: 'thumb' },
  { what: 'the track is the slider, and stands upright', role: 'track', hears: 'track', vertical: true },
  { what: 'the track is the slider, and goes from right to left', role: 'track', hears: 'track', rtl: true },
  { what: 'its track is clicked', role: 'track', hears: 'click' },
];

t.test('input moves a slider that hears no keys along its track, and compares what it shows', async (t) => {
  for (const drawn of DRAWN) {
    const { what, least = 0, most = 100, step = 1 } = drawn;
    await open(drawnSlider(drawn));
    const values = [0.25, 1, 0].map((part) => least + Math.round(((most - least) * part) / step) * step);
    for (const value of values) {
      const error = await call('act', '{slider}Volume', 'input', value).then(() => '', String);
      const shown = await call('page', `owner.getAttribute('aria-valuenow')`);
      t.strictSame([error, shown], ['', String(value)], `${what}: ${value}`);
    }
  }
  await open(drawnSlider({ what: 'steps', role: 'thumb', hears: 'thumb', step: 5 }));
  const error = await failure('act', '{slider}Volume', 'input', '33');
  t.equal(error.code, 'ACTION_FAILED');
  t.match(error.error, /does not take 33: it was dragged and shows 3[05]/);
});

t.test('a check box without a size is checked by the switch that is drawn around it', async (t) => {
  await open(`<div id=switch style="width: 40px; height: 20px; background: #ccc"><input type=checkbox aria-label=Delivery
    style="position: absolute; width: 0; height: 0; margin: 0; opacity: 0"><span></span></div>
    <script>const box = document.querySelector('input'); document.getElementById('switch').onclick = () => { box.checked = !box.checked; };</script>`);
  t.strictSame(await locators(), ['{input}Delivery']);
  await call('act', '{input}Delivery', 'check');
  t.equal(await call('page', 'box.checked'), true);
});

t.test('an option is chosen in a list whose control shows it beside a field without a size', async (t) => {
  await open(`<div id=control style="width: 200px; height: 24px; border: 1px solid"><span id=chosen>Ocean</span><input role=combobox
    aria-label=Colour aria-readonly=true style="opacity: 0; width: 1px; border: 0"></div><div id=list role=listbox hidden>
    <div role=option>Ocean</div><div role=option>Forest</div></div><script>
    control.onmousedown = () => { list.hidden = false; };
    list.onclick = ({ target }) => { chosen.textContent = target.textContent; list.hidden = true; };</script>`);
  t.strictSame(await locators(), ['{combobox}Colour']);
  await call('act', '{combobox}Colour', 'select', 'Forest');
  t.equal(await call('page', 'chosen.textContent'), 'Forest');
});

t.test('a click on the head of a column does not go to the field that stands in its middle', async (t) => {
  await open(`<div id=head role=columnheader style="width: 200px; padding: 30px 0"><input aria-label=Filter style="width: 200px">Name</div>
    <script>globalThis.sorted = 0; head.onclick = ({ target }) => { if (target === head) sorted++; };</script>`);
  await call('act', '{columnheader}Name', 'click');
  t.equal(await call('page', 'sorted'), 1);
});

t.test('what is dragged onto a branch of a tree is let go on its middle', async (t) => {
  await open(`<div role=tree><div role=treeitem id=a style="height: 30px">Leaf</div><div role=treeitem id=b style="height: 30px">Branch</div></div>
    <script>addEventListener('mouseup', ({ clientY }) => { const { top, height } = b.getBoundingClientRect(); globalThis.dropped = (clientY - top) / height; b.append(a); });</script>`);
  await call('act', '{treeitem}Leaf', 'drag', '{treeitem}Branch');
  t.equal(await call('page', 'dropped'), 0.5);
});

t.end();
