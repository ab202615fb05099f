import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const lease = await openBrowser(t);
const site = await openSite(t);
const { call, failure, look } = await openAgent(t, lease);
const page = (js: string) => call('page', js);
const FIELDS = `<input id=a aria-label=Name value=old><input id=m maxlength=3 aria-label=Short><input id=n type=number aria-label=Number>
  <input id=p type=password aria-label=Password><textarea id=x aria-label=Note>old</textarea>`;

/** Opens the fields on a page whose script notes the events of `types`. */
async function open(types: readonly string[], more = ''): Promise<void> {
  const script = `<script>heard = []; for (const type of ${JSON.stringify(types)})
    addEventListener(type, (event) => heard.push(type + ' ' + event.isTrusted + (event.key ?? '')), true);</script>`;
  await call('go', site.set('/typing', `<!doctype html><title>Typing</title>${FIELDS}${script}${more}`));
}

async function fill(): Promise<unknown> {
  for (const [locator, text] of [
    ['{input}Name', 'Grüße, Ada'],
    ['{input}Short', 'abc'],
    ['{input}Number', '-4.5'],
    ['{input}Password', 'hunter2'],
    ['{textarea}Note', 'two\nlines'],
  ] as const) {
    await call('act', locator, 'input', text);
  }
  return page('[a.value, m.value, n.value, p.value, x.value]');
}
const FILLED = ['Grüße, Ada', 'abc', '-4.5', 'hunter2', 'two\nlines'];

t.test('A page hears the same of what is typed whether or not it listens to keys', async (t) => {
  await open(['input', 'change']);
  t.same(await fill(), FILLED);
  const unheard = await page('heard.splice(0)');
  await open(['input', 'change', 'keyup']);
  t.same(await fill(), FILLED);
  const heard = (await page('heard.splice(0)')) as string[];
  t.same(
    heard.filter((one) => one.startsWith('keyup')),
    ['keyup truea', 'keyup truec', 'keyup true5', 'keyup true2', 'keyup trues'],
    'a key for each text where somebody listens',
  );
  t.ok((unheard as string[]).every((one) => one.includes(' true')));
  const kinds = (list: readonly string[]) => new Set(list.filter((one) => !one.startsWith('keyup')));
  t.same(kinds(unheard as string[]), kinds(heard), 'input and change, trusted');
});

t.test('Whoever listens to keys hears them, however he came to', async (t) => {
  for (const script of [
    '<script>a.onkeyup = () => heard.push("key")</script>',
    '<script>document.onkeydown = () => heard.push("key")</script>',
    '<script>onkeypress = () => heard.push("key")</script>',
    '<script>a.setAttribute("onkeyup", "heard.push(\'key\')")</script>',
    '<script>document.body.setAttribute("onkeydown", "heard.push(\'key\')")</script>',
    '<script>a.addEventListener("beforeinput", () => heard.push("key"))</script>',
  ]) {
    await open([], script);
    await call('act', '{input}Name', 'input', 'Ada');
    t.match(await page('heard'), ['key'], script);
    t.equal(await page('a.value'), 'Ada');
  }
});

t.test('A text is replaced, cleared, refused and told as changed alike', async (t) => {
  for (const types of [[], ['keydown']]) {
    await open(types);
    t.match(await call('act', '{input}Name', 'input', 'old'), { changed: false });
    t.match(await call('act', '{input}Name', 'input', 'new'), { changed: true });
    t.match(await call('act', '{input}Name', 'clear'), { changed: true });
    t.match(await call('act', '{input}Name', 'clear'), { changed: false });
    t.match(await call('act', '{textarea}Note', 'input', ''), { changed: true });
    t.same(await page('[a.value, x.value]'), ['', '']);
    t.match(await failure('act', '{input}Number', 'input', 'abc'), { code: 'ACTION_FAILED', error: /does not take/ });
  }
});

t.test('A unit that a field adds is success, and a mask gets its digits key by key', async (t) => {
  await open(
    [],
    `<script>a.addEventListener('input', () => { const digits = a.value.replace(/\\D/g, ''); a.value = digits && digits + ' kg'; });
    m.removeAttribute('maxlength'); m.addEventListener('beforeinput', (event) => { event.preventDefault();
      if (event.inputType.startsWith('delete')) m.value = ''; else if (event.data.length === 1) m.value += event.data; });</script>`,
  );
  t.match(await call('act', '{input}Name', 'input', '1500'), { value: '1500 kg' });
  await call('act', '{input}Short', 'input', '4711');
  t.equal(await page('m.value'), '4711');
});

t.test('An alert that typing opens ends the call, and is answered', async (t) => {
  await open([], '<script>a.oninput = () => alert("Typed")</script>');
  t.match(await call('act', '{input}Name', 'input', 'x'), { changed: true });
  t.match(await call('look'), { dialog: { message: 'Typed' } });
  await call('act', '{dialog}OK', 'click');
  t.equal(await page('a.value'), 'x');
  await open([], '<select aria-label=Size onchange="alert(this.value)"><option>S<option>L</select>');
  t.match(await call('act', '{select}Size', 'select', 'L'), { changed: true });
  await call('act', '{dialog}OK', 'click');
});

for (const [where, frame, place] of [
  ['in the element that takes the keys', '', 'code'],
  // As editors of code have it.
  [
    'over it',
    'style="position: relative; z-index: 0; height: 100px"',
    `Object.assign(code.parentElement.appendChild(document.createElement('div')), { id: 'lines' })`,
  ],
] as const) {
  t.test(`An editor that draws its own text ${where} gets what is typed as a person types it`, async (t) => {
    const behind = frame === '' ? '' : 'position: absolute; z-index: -1; width: 0; height: 1em';
    const editor = `<div ${frame}><div id=code role=textbox aria-label=Code tabindex=0 style="white-space: pre; min-height: 1em; ${behind}"></div></div><script>
      const context = new EditContext({ text: 'old' });
      const place = ${place};
      const draw = () => { place.textContent = context.text; };
      const replace = (text) => {
        const [from, to] = [context.selectionStart, context.selectionEnd];
        context.updateText(from, to, text);
        context.updateSelection(from + text.length, from + text.length);
        draw();
      };
      place.style.cssText += 'white-space: pre; min-height: 1em';
      code.editContext = context;
      context.ontextupdate = draw;
      code.onkeydown = (event) => {
        if (event.ctrlKey && event.key.toLowerCase() === 'a') context.updateSelection(0, context.text.length);
        else if (event.key === 'Delete') replace('');
        else if (event.key === 'Enter') replace('\\n');
        else return;
        event.preventDefault();
      };
      draw();
    </script>`;
    await call('go', site.set('/editor', editor));
    t.match((await look()).elements, [{ locator: '{textbox}Code', actions: ['input', 'clear', 'press', 'click'] }]);
    for (const text of ['let a = 1;\nlet b', 'Grüße, 世界']) {
      t.match(await call('act', '{textbox}Code', 'input', text), { changed: true });
      t.equal(await page('place.textContent'), text);
    }
    await call('act', '{textbox}Code', 'clear');
    t.equal(await page('place.textContent'), '');
    await call('act', '{textbox}Code', 'click');
    await call('act', '{textbox}Code', 'press', 'x');
    t.equal(await page('place.textContent'), 'x');
    t.equal(await call('value', '{textbox}Code'), frame === '' ? 'x' : '');
  });
}

t.test('a letter pressed with Control is a small one, as on a keyboard, unless Shift is held', async (t) => {
  await call(
    'go',
    site.set(
      '/chords',
      `<body><input aria-label=Name><script>heard = [];
    addEventListener('keydown', ({ key, code, shiftKey }) => { if (code === 'KeyK') heard.push(key, shiftKey); })</script>`,
    ),
  );
  for (const chord of ['Control+K', 'Alt+k', 'Control+Shift+k', 'Shift+k', 'K']) {
    await call('act', '{input}Name', 'press', chord);
  }
  t.same(await page('heard'), ['k', false, 'k', false, 'K', true, 'K', true, 'K', false]);
});

t.end();
