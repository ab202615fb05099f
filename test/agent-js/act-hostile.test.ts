import t from 'tap';
import { HOSTILE_CASES, HOSTILE_PAGE } from '../../bench/support/hostile-page.mjs';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const lease = await openBrowser(t);
const site = await openSite(t);
const { call } = await openAgent(t, lease);
/** Gives up soon, with time left to say why. */
const hasty = await openAgent(t, lease, { actMs: 500 });

async function open(html: string): Promise<void> {
  await call('go', site.set('/hostile', `<!doctype html><title>Hostile</title>${html}`));
}
const act = (...args: unknown[]) => call('act', ...args);
const page = (js: string) => call('page', js);
const fails = (...args: unknown[]) =>
  hasty.call('act', ...args).then(
    () => ({ code: 'none', message: 'It did not fail' }),
    (error: { code: string; message: string }) => ({ code: error.code, message: error.message }),
  );

t.test('Thirty clicks each on hostile buttons: none is lost, none lands elsewhere', async (t) => {
  await call('go', site.set('/hostile', HOSTILE_PAGE));
  for (const kind of HOSTILE_CASES) {
    await page(`begin(${JSON.stringify(kind)}); null`);
    for (let tried = 0; tried < 30; tried++) await act('{button}Target', 'click');
    t.same(await page('tally()'), { right: 30, wrong: 0 }, kind);
  }
});

t.test('A field that is drawn anew, or loses the focus, gets all of its text and nobody else any', async (t) => {
  await open(`<div id=place><input aria-label=Name></div><input id=thief aria-label=Thief><script>
    let left = 3;
    place.addEventListener('focusin', () => { if (left-- > 0) queueMicrotask(() => { place.innerHTML = '<input aria-label=Name>'; }); });
  </script>`);
  await act('{input}Name', 'input', 'Ada Lovelace');
  t.equal(await call('value', '{input}Name'), 'Ada Lovelace');
  await open(`<input id=a aria-label=Name value=old><input id=thief aria-label=Thief><script>
    let left = 3;
    a.addEventListener('focus', () => { if (left-- > 0) thief.focus(); });
  </script>`);
  await act('{input}Name', 'input', 'Ada Lovelace');
  t.same(await page('[a.value, thief.value]'), ['Ada Lovelace', '']);
  await page('left = 3; a.blur(); null');
  await act('{input}Name', 'press', 'Backspace');
  t.same(await page('[a.value.length < 12, thief.value]'), [true, '']);
  await page('left = Infinity; a.blur(); null');
  t.match(await fails('{input}Name', 'input', 'x'), {
    code: 'ACTION_FAILED',
    message: '{input}Name cannot be focused',
  });
  t.equal(await page('thief.value'), '');
});

t.test('Fields that pass the focus on get each character where it belongs', async (t) => {
  await open(`<div id=otp>${'<input maxlength=1 aria-label=Digit>'.repeat(3)}</div><script>
    for (const one of otp.children) one.oninput = () => one.nextElementSibling?.focus();
  </script>`);
  for (const [at, digit] of ['4', '0', '7'].entries()) await act(`{input:${at + 1}}Digit`, 'input', digit);
  t.equal(await page('[...otp.children].map((one) => one.value).join("")'), '407');
});

t.test(
  'Elements are reached in nested scrollers, under headers that stick, in scaled frames and beside covers',
  async (t) => {
    await open(`<style>.box { height: 120px; overflow: auto; border: 1px solid } .far { height: 900px }</style>
    <div style="position: sticky; top: 0; height: 60px; background: #ccc; z-index: 2">Header</div>
    <div class=box><div class=far></div><div class=box><div class=far></div><button onclick="log.push('nested')">Nested</button><div class=far></div></div></div>
    <div class=far></div>
    <div style="height: 100px; overflow: auto; scroll-behavior: smooth"><div class=far></div><button onclick="log.push('smooth')">Smooth</button></div>
    <button id=half onclick="log.push('half')" style="position: relative; width: 200px">Half covered</button>
    <div style="position: relative; top: -30px; left: 60px; width: 900px; height: 40px; background: #fcc">Banner</div>
    <iframe style="transform: scale(0.5); transform-origin: 0 0; border: 10px solid; width: 600px; height: 300px" srcdoc="<div style='height:700px'></div><button onclick='parent.log.push(&quot;scaled&quot;)' style='margin-left: 400px'>Scaled</button>"></iframe>
    <div class=far></div><script>log = []</script>`);
    for (const name of ['Nested', 'Smooth', 'Half covered', 'Scaled']) await act(`{button}${name}`, 'click');
    t.same(await page('log'), ['nested', 'smooth', 'half', 'scaled']);
    await page('scrollTo(0, 5000); null');
    await act('{button}Nested', 'click');
    t.match(await page('log.length'), 5);
  },
);

t.test('Parts of a drawing are clicked', async (t) => {
  await open(`<svg width=100 height=50><g role=button aria-label=Circle tabindex=0 onclick="log.push('circle')"><circle cx=25 cy=25 r=20 /></g></svg>
    <script>log = []</script>`);
  await act('{button}Circle', 'click');
  t.same(await page('log'), ['circle']);
});

t.test('What a person cannot press says why', async (t) => {
  await open(`<button id=b>Under</button><div id=c style="position:fixed;inset:0"><div>Cookie notice</div></div>`);
  t.same(await fails('{button}Under', 'click'), {
    code: 'ACTION_FAILED',
    message: '{button}Under is covered by {div}Cookie notice',
  });
  await open(`<fieldset disabled><legend>Off</legend><label>Name <input></label></fieldset><input type=color aria-label=Colour>
    <input type=range min=0 max=10 step=5 aria-label=Volume><div style="height:0;overflow:hidden"><button>Folded</button></div>`);
  t.match(await fails('{input}Name', 'input', 'x'), { message: '{input}Name is disabled' });
  t.match(await fails('{input}Colour', 'input', 'banana'), {
    message: /does not take "banana": a colour is like #0a8cff/,
  });
  t.match(await fails('{input}Volume', 'input', '99'), {
    message: /does not take "99": it goes from 0 to 10 in steps of 5/,
  });
  t.match(await fails('{input}Volume', 'input', 'loud'), { message: /does not take "loud"/ });
  t.match(await fails('{button}Folded', 'click'), { code: 'LOCATOR_NOT_FOUND' });
  await act('{input}Volume', 'input', '10');
  t.equal(await call('value', '{input}Volume'), '10');
});

t.test('A list that a site draws is opened and chosen from, once or several times', async (t) => {
  await open(`<style>ul { border: 1px solid; width: 120px } [hidden] { display: none }</style>
    <button role=combobox aria-controls=sizes aria-expanded=false id=size onclick="sizes.hidden = !sizes.hidden">Size</button>
    <ul id=sizes role=listbox hidden>${['S', 'M', 'L'].map((it) => `<li role=option>${it}</li>`).join('')}</ul>
    <ul role=listbox><li role=option>S</li><li role=option>XL</li></ul>
    <div id=bare onclick="setTimeout(() => { menu.hidden = false }, 20)">Colour</div><div id=menu hidden><div class=o>Red</div><div class=o>Blue</div></div>
    <div role=combobox id=many aria-label=Tags tabindex=0 style="height: 20px" onclick="tags.hidden = false"></div>
    <ul id=tags role=listbox aria-multiselectable=true hidden><li role=option>one</li><li role=option>two</li><li role=option>three</li></ul>
    <script>
      sizes.onclick = (event) => { size.textContent = event.target.textContent; sizes.hidden = true; };
      menu.onclick = (event) => { bare.textContent = event.target.textContent; menu.hidden = true; };
      tags.onclick = (event) => { event.target.ariaSelected = event.target.ariaSelected !== 'true'; tags.hidden = true; };
    </script>`);
  t.match(await act('{combobox}Size', 'select', 'M'), { changed: true });
  t.equal(await page('size.textContent'), 'M');
  await act('#size', 'select', 'S');
  t.equal(await page('size.textContent'), 'S', 'the one of its own list');
  await act('#bare', 'select', 'Blue');
  t.equal(await page('bare.textContent'), 'Blue');
  await act('{combobox}Tags', 'select', ['one', 'three']);
  t.same(await page('[...tags.children].map((it) => it.ariaSelected)'), ['true', null, 'true']);
  t.match(await fails('{combobox}Tags', 'select', 'four'), {
    code: 'ACTION_FAILED',
    message: /^\{combobox\}Tags has no option "four"; it has .*"one", "two", "three"$/,
  });
});

t.test('An editor takes lines, and its whole text is replaced', async (t) => {
  await open(`<div id=e contenteditable role=textbox aria-label=Editor><p>Old <b>text</b></p><p>More</p></div><script>
    heard = []; for (const type of ['beforeinput', 'input', 'keydown']) e.addEventListener(type, (event) => heard.push(event.isTrusted));
  </script>`);
  await act('{textbox}Editor', 'input', 'First\nSecond line');
  t.equal(await page('e.innerText.replace(/\\n+/g, "|").replace(/\\|$/, "")'), 'First|Second line');
  t.ok(await page('heard.length > 3 && heard.every(Boolean)'));
  await act('{textbox}Editor', 'clear');
  t.equal(await page('e.innerText.trim()'), '');
});

t.test('Drags reach targets far away, and links and pictures are carried', async (t) => {
  await open(`<style>.far { height: 2500px }</style><div id=card draggable=true>Card</div><a id=link href="/elsewhere">Link</a>
    <div class=far></div><div id=bin style="height: 60px" role=region aria-label=Bin>Bin</div><div class=far></div><script>
    heard = [];
    card.ondragstart = (event) => event.dataTransfer.setData('text/plain', 'card');
    bin.ondragover = (event) => event.preventDefault();
    bin.ondrop = (event) => { event.preventDefault(); heard.push(event.dataTransfer.getData('text/plain') || event.dataTransfer.getData('text/uri-list')); };
    addEventListener('dragend', (event) => heard.push('end ' + event.target.id));
  </script>`);
  await act('#card', 'drag', '{region}Bin');
  await page('scrollTo(0, 0); null');
  await act('{a}Link', 'drag', '{region}Bin');
  t.same(await page('heard.filter((it) => !it.startsWith("end"))'), ['card', `${site.origin}/elsewhere`]);
  t.match(await fails('#card', 'drag', '{region}Basket'), { code: 'LOCATOR_NOT_FOUND' });
});

t.end();
