import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, callFrom, look, failure } = await openAgent(t, lease);

const locators = async () => (await look()).elements.map(({ locator }) => locator);
const pressed = () => call('text', '#pressed');
const report = `<p id=pressed></p><script>
  document.addEventListener('click', (event) => { if (event.target.dataset.n) pressed.textContent += event.target.dataset.n + ' '; });
</script>`;
const plus = (n: number) => `<span data-n=${n} style="cursor:pointer;display:block">+</span>`;

t.test('a number stays with its element, whatever scrolls, comes before it or goes', async (t) => {
  const rows = Array.from({ length: 12 }, (_, n) => plus(n + 1)).join('');
  await call(
    'go',
    site.set('/numbers', `${report}<div id=box style="overflow:hidden;height:80px"><div id=rows>${rows}</div></div>`),
  );
  // A box that only scripts scroll: what it has cut away is not listed.
  const first = await locators();
  t.match(first, [/^\{span:1\}\+$/]);
  const shown = first.length;
  await call('act', '{span:3}+', 'click');
  await call('page', 'box.scrollTop = 60; 0');
  await call('page', `rows.insertAdjacentHTML('afterbegin', ${JSON.stringify(plus(99))}); 0`);
  for (let n = shown; n > 0; n--) await call('act', `{span:${n}}+`, 'click');
  t.equal(await pressed(), ['3', ...Array.from({ length: shown }, (_, n) => shown - n)].join(' '));
});

t.test(
  'numbers that counted otherwise when only what can be reached counted are found, with what they are now',
  async (t) => {
    const tip = '<div style="position:absolute;inset:0 0 auto;height:30px;background:#eee">tip</div>';
    const button = (name: string) => `<button style="display:block;height:30px">${name}</button>`;
    const rows = `<div style="position:relative">${button('Edit').repeat(5)}${tip}</div>`;
    await call('go', site.set('/recount', `${rows}${button('Edit')}${button('Save')}${button('Save')}`));
    const locators = [
      '{button:2}Edit',
      '{button:5}Edit',
      '{button:6}Edit',
      '{button:2}Save',
      '{button}Save',
      '#x',
      '{',
    ];
    t.same(await call('recount', locators), [
      { locator: '{button:2}Edit', now: '{button:3}Edit' },
      { locator: '{button:5}Edit', now: '{button:6}Edit' },
    ]);
    t.match(await failure('recount', 'x'), { code: 'SCRIPT_ERROR' });
    const dialog =
      '<div role=dialog aria-modal=true style="position:absolute;top:90px;height:40px"><button>Edit</button></div>';
    await call('go', site.set('/recount-modal', `${button('Edit').repeat(2)}${dialog}`));
    t.same(await call('recount', ['{button:1}Edit', '{button:3}Edit']), [
      { locator: '{button:1}Edit', now: null },
      { locator: '{button:3}Edit', now: '{button:1}Edit' },
    ]);
  },
);

t.test('a number whose element has gone, or is another one now, is LOCATOR_STALE', async (t) => {
  const list = '<ul><li>Ann <button>Edit</button><li>Bob <button>Edit</button><li>Cy <button>Edit</button></ul>';
  const open = async () => {
    await call('go', site.set('/stale', list));
    t.same(await locators(), ['{button:1}Edit', '{button:2}Edit', '{button:3}Edit']);
  };
  const changes = {
    'has left the page': "document.querySelectorAll('li')[1].remove()",
    'is {button}Undo now': "document.querySelectorAll('button')[1].textContent = 'Undo'",
    'is {link}Edit now': "document.querySelectorAll('button')[1].setAttribute('role', 'link')",
    'row reads "Dee Edit" now': "document.querySelectorAll('li')[1].firstChild.data = 'Dee '",
  };
  for (const [why, change] of Object.entries(changes)) {
    await open();
    await call('page', `${change}; 0`);
    for (const method of ['text', 'value']) {
      t.match(await failure(method, '{button:2}Edit'), { code: 'LOCATOR_STALE' }, `${method}: ${why}`);
    }
    const refused = await failure('act', '{button:2}Edit', 'click');
    t.equal(refused.code, 'LOCATOR_STALE', why);
    t.ok(refused.error.includes(why), refused.error);
    t.match(await call('act', '{button:1}Edit', 'click'), { changed: false });
    await look();
    if (why.includes('row'))
      t.match(await call('act', '{button:2}Edit', 'click'), { changed: false }, 'and is right again');
  }
  await open();
  await call('go', site.set('/other', list));
  t.match(await failure('act', '{button:2}Edit', 'click'), { code: 'LOCATOR_STALE' }, 'another document');
});

t.test('a row that is acted on may read otherwise', async (t) => {
  const row = (n: number) =>
    `<tr><td>Row ${n}: <b>0</b><td><button onclick="this.closest('tr').querySelector('b').textContent++">+</button>`;
  await call('go', site.set('/counters', `<table>${row(1)}${row(2)}${row(3)}</table>`));
  await look();
  for (let times = 0; times < 3; times++) await call('act', '{button:2}+', 'click');
  t.equal(await call('text', 'table'), 'Row 1: 0\t+\nRow 2: 3\t+\nRow 3: 0\t+');
});

t.test('rows that a list fills with other data are not taken for those that were shown', async (t) => {
  const page = `${report}<div id=list style="height:100px;overflow:auto"><div style="height:20000px;position:relative" id=pane></div></div>
    <script>
      const rows = Array.from({ length: 6 }, () => pane.appendChild(document.createElement('div')));
      const draw = () => rows.forEach((row, at) => {
        const n = Math.floor(list.scrollTop / 20) + at;
        row.style.cssText = 'position:absolute;height:20px;top:' + n * 20 + 'px';
        row.innerHTML || (row.innerHTML = '<span></span> <button>Delete</button>');
        row.firstChild.textContent = 'Mail ' + n;
        row.lastChild.dataset.n = n;
      });
      list.addEventListener('scroll', draw);
      draw();
    </script>`;
  await call('go', site.set('/virtual', page));
  t.equal((await locators())[1], '{button:2}Delete');
  await call(
    'page',
    'new Promise((done) => { list.scrollTop = 400; list.addEventListener("scroll", () => done(0)); })',
  );
  t.match(await failure('act', '{button:2}Delete', 'click'), {
    code: 'LOCATOR_STALE',
    error: /its row reads "Mail 21 Delete" now/,
  });
  await look();
  await call('act', '{button:2}Delete', 'click');
  t.equal(await pressed(), '21');
});

t.test('numbers that an error lists mean what it listed', async (t) => {
  await call(
    'go',
    site.set('/listed', `${report}<main id=main><button data-n=1>Go</button><button data-n=2>Go</button></main>`),
  );
  t.match(await failure('act', '{button}Go', 'click'), { details: { candidates: ['{button:1}Go', '{button:2}Go'] } });
  await call('page', `main.insertAdjacentHTML('afterbegin', '<button data-n=9>Go</button>'); 0`);
  // Nothing was listed to another flow: it counts.
  await callFrom({ flowRun: 7 }, 'act', '{button:2}Go', 'click');
  await call('act', '{button:2}Go', 'click');
  t.equal(await pressed(), '1 2');
});

t.test('what no look has shown is counted in the order of the document, out of sight or not', async (t) => {
  const rows = Array.from({ length: 20 }, (_, n) => plus(n + 1)).join('');
  await call('go', site.set('/counted', `${report}<div style="overflow:auto;height:60px">${rows}</div>`));
  for (const n of [20, 1, 11]) await call('act', `{span:${n}}+`, 'click');
  t.equal(await pressed(), '20 1 11');
});

t.test('what is covered is counted, and is never taken for another', async (t) => {
  const fresh = (method: string, ...args: readonly unknown[]) => callFrom({ flowRun: 10 }, method, ...args);
  const tip = '<b style="position:absolute;inset:0;background:#eee">tip</b>';
  const rows = Array.from({ length: 20 }, (_, n) => plus(n + 1)).join('');
  const covered = `<div style="position:absolute;left:0;right:0;top:20px;height:20px">${tip}</div>`;
  const box = `<div style="overflow:auto;height:100px;line-height:20px">${rows}</div>`;
  await call('go', site.set('/covered', `${report}<div style="position:relative">${box}${covered}</div>`));
  for (const n of [11, 3]) await fresh('act', `{span:${n}}+`, 'click');
  t.equal(await pressed(), '11 3');
  const buttons = [1, 2, 3, 4, 5, 6].map(
    (n) => `<p style="position:relative"><button data-n=${n}>Del</button>${n === 2 ? tip : ''}</p>`,
  );
  await call('go', site.set('/tip', report + buttons.join('')));
  const fails = (method: string, ...args: readonly unknown[]) => t.rejects(fresh(method, ...args));
  await fresh('expect', '{button}Del', 'toHaveCount', { not: false, values: [6, { timeout: 100 }] });
  await fails('wait', '!{button:2}Del', { timeout: 20 });
  await fresh('act', '{button:3}Del', 'click');
  t.equal(await pressed(), '3');
  t.same(
    await locators(),
    [1, 3, 4, 5, 6].map((n) => `{button:${n}}Del`),
  );
});

t.test('without a number, the one match that nothing has cut off is meant', async (t) => {
  const slide = (n: number) => `<div style="flex:0 0 300px;height:100px"><button data-n=${n}>Order</button></div>`;
  const page = `${report}<div id=box style="display:flex;width:300px;overflow:auto">${slide(1)}${slide(2)}${slide(3)}</div>`;
  await call('go', site.set('/slides', page));
  await call('act', '{button}Order', 'click');
  await call('page', 'box.scrollLeft = 600; 0');
  await call('act', '{button}Order', 'click');
  t.equal(await pressed(), '1 3');
  await call('page', 'box.scrollLeft = 20; 0');
  t.match(await failure('act', '{button}Order', 'click'), { code: 'LOCATOR_AMBIGUOUS' });
});

t.test('a flow begins without numbers, and those of its caller hold again afterwards', async (t) => {
  await call(
    'go',
    site.set('/flows', `${report}<main id=main><button data-n=1>Go</button><button data-n=2>Go</button></main>`),
  );
  await look();
  await call('page', `main.insertAdjacentHTML('afterbegin', '<button data-n=9>Go</button>'); 0`);
  const press = (flowRun: number | null) => callFrom({ flowRun }, 'act', '{button:1}Go', 'click');
  await press(1);
  await callFrom({ flowRun: 1 }, 'look');
  await callFrom({ flowRun: 1 }, 'page', `main.insertAdjacentHTML('afterbegin', '<button data-n=8>Go</button>'); 0`);
  await press(1);
  await press(2);
  await press(null);
  await press(1);
  t.equal(await pressed(), '9 9 8 1 8');
});

t.test('a number of a frame that has left the page is LOCATOR_STALE', async (t) => {
  const other = await openSite(t);
  const inner = other.set('/inner', '<button>Go</button><button>Go</button>');
  const page = site.set('/frames', `<button>Go</button><iframe src="${inner}"></iframe>`);
  await call('go', page);
  await call('wait', '{button:3}Go');
  t.same(await locators(), ['{button:1}Go', '{button:2}Go', '{button:3}Go']);
  await call('page', `document.querySelector('button').remove(); 0`);
  t.equal(await call('text', '{button:3}Go'), 'Go');
  t.match(await failure('text', '{button:1}Go'), { code: 'LOCATOR_STALE' });
  await call('page', `document.querySelector('iframe').remove(); 0`);
  t.match(await failure('text', '{button:3}Go'), { code: 'LOCATOR_STALE' });
});

t.test('where a page draws the same controls anew, numbers of the next look mean the new ones', async (t) => {
  const rows = `['Ada', 'Bob'].map((name) => '<p>' + name + ' <button>Go</button></p>').join('')`;
  const draw = `<div id=list></div><p id=pressed></p><script>
    const draw = () => { list.innerHTML = ${rows}; };
    draw();
    list.addEventListener('click', ({ target }) => { pressed.textContent += target.parentElement.textContent; draw(); });</script>`;
  await call('go', site.set('/anew', draw));
  for (let times = 0; times < 3; times++) {
    t.same(await locators(), ['{button:1}Go', '{button:2}Go']);
    await call('act', '{button:2}Go', 'click');
    t.match(await failure('act', '{button:1}Go', 'click'), { code: 'LOCATOR_STALE' }, 'without a look in between');
  }
  t.equal(await pressed(), 'Bob GoBob GoBob Go');
});
