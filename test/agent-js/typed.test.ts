import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, failure } = await openAgent(t, lease);
const open = (html: string) => call('go', site.set('/typed', `<title>Typed</title>${html}`));

t.test('input fails where the field shows another text than was typed, and says which', async (t) => {
  const fields: readonly [what: string, html: string, typed: string, shown: string][] = [
    ['a sign alone', `<input id=f oninput="value = value.replace(/\\d/g, '')">`, '-5', '"-"'],
    ['a key that is held back', `<input id=f onbeforeinput="event.preventDefault()" value=abcde>`, 'xyz', '"abcde"'],
    ['a text that is cut', '<input id=f maxlength=5>', 'abcdefgh', '"abcde"'],
    ['digits alone', `<input id=f oninput="value = value.replace(/\\D/g, '')">`, '3.5', '"35"'],
    ['sections of a date', `<input id=f oninput="value = '04/DD/YYYY'">`, '04/15/2030', '"04/DD/YYYY"'],
    ['a text of its own', `<textarea id=f oninput="value += ')'"></textarea>`, 'f(a)', '"f(a))"'],
    ['no text at all', '<input id=f type=number>', 'many', 'nothing'],
    ['an editor', `<div id=f contenteditable oninput="textContent = 'no'"></div>`, 'word', '"no"'],
    ['a password', `<input id=f type=password oninput="value = value.slice(1)">`, 'hunter2', 'something else'],
  ];
  for (const [what, html, typed, shown] of fields) {
    await open(html);
    const error = await failure('act', '#f', 'input', typed);
    t.equal(error.code, 'ACTION_FAILED', what);
    t.equal(error.error, `#f does not take what was typed: it shows ${shown}`, what);
  }
});

t.test('a long text that a field cuts is no success', async (t) => {
  const typed = 'a line of some length\n'.repeat(200);
  await open('<textarea id=f maxlength=3000></textarea><textarea id=g></textarea>');
  t.match(await failure('act', '#f', 'input', typed), {
    code: 'ACTION_FAILED',
    error: /^#f does not take what was typed/,
  });
  t.match(await call('act', '#g', 'input', typed), { changed: true });
});

t.test('a number that its field cuts or rounds when the field is left is no success', async (t) => {
  const field = (more: string): string =>
    `<input id=f inputmode=decimal ${more}><input id=g><script>
      f.onblur = () => setTimeout(() => { f.value = Math.min(100, Math.round(f.value * 100) / 100); });</script>`;
  const bounds = 'role=spinbutton aria-valuemin=0 aria-valuemax=100';
  for (const [what, html, typed, shown] of [
    ['beyond its bounds', field(bounds), '250', '"100"'],
    ['beyond bounds that it keeps for itself', field(''), '250', '"100"'],
    ['too many decimals', field(bounds), '2.345', '"2.35"'],
    ['a field of the browser', `<input id=f type=number max=9 onchange="value = Math.min(value, 9)">`, '12', '"9"'],
  ] as const) {
    await open(html);
    t.match(
      await failure('act', '#f', 'input', typed),
      { code: 'ACTION_FAILED', error: `#f does not take what was typed: it shows ${shown}` },
      what,
    );
  }
  await open(field(bounds));
  t.match(await call('act', '#f', 'input', '50'), { changed: true });
  t.match(await call('act', '#f', 'input', '2.5'), { changed: true });
  t.equal(await call('page', 'document.activeElement.id'), 'f', 'the field has the focus again');
});

t.test('a number that its field takes only when it is left is taken', async (t) => {
  await open(`<input id=f role=spinbutton aria-valuemin=0 aria-valuemax=20 aria-valuenow=10 value=10><script>
    var taken = 10;
    f.oninput = () => f.setAttribute('aria-valuenow', f.value);
    f.onblur = () => { taken = Number(f.value); };</script>`);
  t.match(await call('act', '#f', 'input', '12'), { changed: true });
  t.equal(await call('page', 'taken'), 12);
  t.equal(await call('page', 'document.activeElement.id'), 'f', 'the field has the focus again');
});

t.test('a code is typed into boxes that take one character each', async (t) => {
  const boxes = (more: string, script: string): string =>
    `<style>#all input { width: 30px }</style><div id=all>${[0, 1, 2, 3].map((at) => `<p><input ${at === 0 ? 'id=f' : ''} ${more}></p>`).join('')}</div><input id=name><script>
      const boxes = [...all.querySelectorAll('input')];
      ${script}</script>`;
  const code = `boxes.map(({ value }) => value).join()`;
  // What is typed into a box that is full is dealt out, or takes its place; the focus follows when the page is drawn.
  const one = `const deal = (at, text) => [...text].forEach((sign, more) => { if (boxes[at + more]) boxes[at + more].value = sign; });
    boxes.forEach((box, at) => { box.oninput = () => box.value.length > 2 ? deal(at, box.value) : (box.value = box.value.slice(-1)); });`;
  const later = `boxes.forEach((box, at) => box.addEventListener('input', () => requestAnimationFrame(() => boxes[at + 1]?.focus())));`;
  const onward = `boxes.forEach((box, at) => { box.oninput = () => { if (box.value !== '') boxes[at + 1]?.focus(); }; });`;
  const dealt = `boxes.forEach((box, at) => { box.oninput = () => { [...box.value].forEach((sign, more) => { boxes[at + more].value = sign; }); }; });`;
  for (const [what, html] of [
    ['the page deals it out', boxes('', dealt)],
    ['the page hands the focus on', boxes('maxlength=1', onward)],
    ['nobody sees it', boxes('maxlength=1 type=password', onward)],
    ['the page hands the focus on after a while', boxes('', `${one} ${later}`)],
  ] as const) {
    await open(html);
    t.match(await call('act', '#f', 'input', '4829'), { changed: true }, what);
    t.equal(await call('page', code), '4,8,2,9', what);
  }
  for (const [what, html] of [
    ['a box that is left out', boxes('', `${dealt} f.addEventListener('input', () => { boxes[2].value = ''; });`)],
    ['fields beside it that are no boxes', `<input id=f maxlength=1 oninput="last.focus()"><input id=last>`],
  ] as const) {
    await open(html);
    t.match(await failure('act', '#f', 'input', '4829'), { code: 'ACTION_FAILED', error: /shows "4"$/ }, what);
  }
  t.equal(await call('page', 'last.value'), '', 'nothing is typed elsewhere');
});

t.test('what a field writes in its own way is what was typed, and the answer shows it', async (t) => {
  const fields: readonly [what: string, html: string, typed: string, value: string | null | undefined][] = [
    ['the text itself', '<input id=f value=old>', 'Ada', undefined],
    ['capitals', `<input id=f oninput="value = value.toUpperCase()">`, 'ada', 'ADA'],
    [
      'a mask',
      `<input id=f oninput="value = value.replace(/\\D/g, '').replace(/^(\\d{3})(\\d{3})(\\d+)$/, '($1) $2-$3')">`,
      '5551234567',
      '(555) 123-4567',
    ],
    [
      'a chat box that sends and empties itself',
      `<input id=f oninput="if (value === 'hello') value = ''">`,
      'hello',
      '',
    ],
    [
      'a field that its page takes away',
      `<p id=p><input id=f oninput="if (value === 'code') p.textContent = 'Thanks'"></p>`,
      'code',
      null,
    ],
    ['a password', '<input id=f type=password>', 'hunter2', undefined],
    ['lines', '<textarea id=f></textarea>', 'one\n  two', undefined],
    ['a completed text', `<input id=f oninput="value = 'Berlin'; setSelectionRange(3, 6)">`, 'Ber', 'Berlin'],
  ];
  for (const [what, html, typed, value] of fields) {
    await open(html);
    const acted = (await call('act', '#f', 'input', typed)) as { value?: string | null };
    t.strictSame(acted.value, value, what);
  }
});

t.test('an editor that indents by itself is given the text as a paste', async (t) => {
  await open(`<pre id=f contenteditable style="min-height:100px"></pre><script>
    // As editors of code do: Enter repeats the indent of the line before, a paste is taken as it is.
    f.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter') return;
      event.preventDefault();
      document.execCommand('insertText', false, '\\n' + (/[ ]*$/.exec(f.textContent.split('\\n').pop().match(/^ */)[0])[0]));
    });
    f.addEventListener('paste', (event) => {
      event.preventDefault();
      document.execCommand('insertText', false, event.clipboardData.getData('text/plain'));
    });
  </script>`);
  const code = 'if (a) {\n  b();\n    c();\n}';
  await call('act', '#f', 'input', code);
  t.equal(await call('page', 'f.innerText.replace(/\\u00a0/g, " ").trimEnd()'), code);
});
