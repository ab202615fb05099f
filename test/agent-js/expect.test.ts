import t from 'tap';
import { type ErrorBody, encodeError } from '#troupe/protocol/errors.js';
import type { EventData } from '#troupe/protocol/events.js';
import { Sandbox } from '#troupe/script/sandbox.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const lease = await openBrowser(t);
const site = await openSite(t);
const { agent, told } = await openAgent(t, lease);
const sandbox = await Sandbox.start({ modules: [agent.module], emit: () => undefined });
t.teardown(() => sandbox.close());

async function run(source: string, timeoutMs = 20_000): Promise<unknown> {
  return JSON.parse(await sandbox.run({ source, name: 'test.js', kind: 'script', timeoutMs }));
}

async function failure(source: string, timeoutMs?: number): Promise<ErrorBody> {
  try {
    await run(source, timeoutMs);
  } catch (error) {
    return encodeError(error);
  }
  throw new Error(`It did not fail: ${source}`);
}

async function lastStep(): Promise<EventData<'StepFinished'> | undefined> {
  await agent.settle();
  return told('StepFinished').at(-1);
}

const open = (html: string) =>
  run(`agent.go(${JSON.stringify(site.set('/expect', `<!doctype html><title>Expect</title>${html}`))}); null`);

const FORM = `<h1>Your  <b>cart</b></h1><p id=total>Total:\n 12.00 €</p><ul><li>Tea<li>Cups<li hidden>Ghost</ul>
<button>Pay</button><button disabled>Refund</button><label>Gift <input type=checkbox checked></label>
<label>Card <input type=checkbox></label><label>Name <input value=" Ada "></label>
<label>Pin <input type=password value=hunter2></label>
<label>Days <select multiple><option selected>Mon<option>Tue<option selected>Wed</select></label>
<a href="/help" title="">Help</a><p id=hidden style="display:none">Secret</p><p id=empty></p>`;

t.test('Each matcher, as the table says', async (t) => {
  await open(FORM);
  /** On the left what holds; on the right what does not. */
  const table: readonly (readonly [target: string, holds: string, fails: string])[] = [
    ['"h1"', 'toHaveText("Your cart")', 'toHaveText("Your")'],
    ['"h1"', 'toHaveText(" Your\\n cart ")', 'toHaveText("your cart")'],
    ['"#total"', 'toHaveText(/^Total: \\d+\\.00 €$/)', 'toHaveText(/^\\d/)'],
    ['"#total"', 'toHaveText(/€/g)', 'toHaveText(/\\n/)'],
    ['"#total"', 'toContainText("12.00")', 'toContainText("13.00")'],
    ['"#total"', 'toContainText(12)', 'toContainText(/TOTAL/)'],
    ['"#empty"', 'toHaveText("")', 'toHaveText("x")'],
    ['agent', 'toContainText("Total: 12.00 €")', 'toContainText("Secret")'],
    ['"{button}Pay"', 'toBeVisible()', 'toBeHidden()'],
    ['"#hidden"', 'toBeHidden()', 'toBeVisible()'],
    ['"#nowhere"', 'toBeHidden()', 'toBeVisible()'],
    ['"//h1"', 'toBeVisible()', 'toBeHidden()'],
    ['"{button}Pay"', 'toBeEnabled()', 'toBeDisabled()'],
    ['"{button}Refund"', 'toBeDisabled()', 'toBeEnabled()'],
    ['"{input}Gift"', 'toBeChecked()', 'not.toBeChecked()'],
    ['"{input}Card"', 'not.toBeChecked()', 'toBeChecked()'],
    ['"{input}Name"', 'toHaveValue(" Ada ")', 'toHaveValue("Ada")'],
    ['"{input}Name"', 'toHaveValue(/Ada/)', 'toHaveValue(/Bob/)'],
    ['"{select}Days"', 'toHaveValue(["Mon", "Wed"])', 'toHaveValue(["Mon"])'],
    ['"li"', 'toHaveCount(2)', 'toHaveCount(3)'],
    ['"{li}"', 'toHaveCount(2)', 'not.toHaveCount(2)'],
    ['"#nowhere"', 'toHaveCount(0)', 'toHaveCount(1)'],
    ['"{a}Help"', 'toHaveAttribute("href", "/help")', 'toHaveAttribute("href", "/")'],
    ['"{a}Help"', 'toHaveAttribute("title")', 'toHaveAttribute("target")'],
    ['"{a}Help"', 'toHaveAttribute("href", /help$/)', 'toHaveAttribute("target", /./)'],
    ['"{a}Help"', 'not.toHaveAttribute("target")', 'not.toHaveAttribute("href")'],
    ['agent', 'toHaveURL("/expect")', 'toHaveURL("/")'],
    ['agent', `toHaveURL("${site.origin}/expect")`, 'not.toHaveURL("/expect")'],
    ['agent', 'toHaveURL(/expect$/)', 'toHaveURL(/nowhere/)'],
    ['', 'toHaveTitle("Expect")', 'toHaveTitle("expect")'],
    ['agent', 'toHaveTitle(/^Exp/)', 'not.toHaveTitle(/^Exp/)'],
    ['"{button}Pay"', 'not.toHaveText("Refund")', 'not.toHaveText("Pay")'],
    ['"{button}Pay"', 'not.toBeHidden()', 'not.toBeVisible()'],
  ];
  const wrong: string[] = [];
  for (const [target, holds, fails] of table) {
    const passes = (call: string) =>
      `(() => { try { agent.expect(${target}).${call}; return true } catch (e) { return e.code + ': ' + e.message } })()`;
    const short = fails.replace(/\)$/, fails.endsWith('()') ? '{timeout: 1})' : ', {timeout: 1})');
    const [held, failed] = (await run(`[${passes(holds)}, ${passes(short)}]`)) as [unknown, unknown];
    if (held !== true) wrong.push(`${target} ${holds}: ${String(held)}`);
    if (failed === true || !String(failed).startsWith('MATCH_FAILED: '))
      wrong.push(`${target} ${fails}: ${String(failed)}`);
  }
  t.same(wrong, []);
});

t.test('An element that is not there satisfies neither an assertion nor its opposite', async (t) => {
  await open('<p>Nothing</p><button>Safe</button>');
  const calls = [
    'toHaveText("x")',
    'toBeEnabled()',
    'toBeDisabled()',
    'toBeChecked()',
    'toHaveValue("x")',
    'toHaveAttribute("id")',
  ];
  for (const call of calls) {
    const short = call.replace(/\)$/, call.endsWith('()') ? '{timeout: 1})' : ', {timeout: 1})');
    for (const not of ['', 'not.']) {
      const error = await failure(`agent.expect('{button}Save').${not}${short}`);
      t.match(
        error,
        { code: 'MATCH_FAILED', details: { candidates: ['{button}Safe'], received: 'no such element' } },
        not + call,
      );
    }
  }
});

t.test('A failed assertion says what was expected, what there was, how long it waited, and where', async (t) => {
  await open(FORM);
  const error = await failure(`agent.expect('#total').toHaveText('Total: 13.00 €', {timeout: 30})`);
  t.equal(
    error.error.replace(/\d+ ms/, 'N ms'),
    '#total should have the text "Total: 13.00 €", but it has "Total: 12.00 €" (waited N ms)',
  );
  t.match(error.details, {
    locator: '#total',
    expected: 'Total: 13.00 €',
    received: 'Total: 12.00 €',
    matcher: 'toHaveText',
    title: 'Expect',
    line: 1,
    column: 24,
  });
  t.ok(Number(error.details?.waitedMs) >= 30);
  const step = await lastStep();
  t.match(step, {
    js: 'agent.expect("#total").toHaveText("Total: 13.00 €", {timeout: 30})',
    error: { code: 'MATCH_FAILED' },
    screenshot: /expect-total/,
    line: 1,
  });
});

t.test('Passwords are not read', async (t) => {
  await open(FORM);
  const error = await failure(`agent.expect('{input}Pin').toHaveValue('x', {timeout: 1})`);
  t.notMatch(JSON.stringify(error), /hunter2/);
});

t.test(
  'An assertion that holds at once is one step without a picture, and leaves the picture of the step before',
  async (t) => {
    await open('<button onclick="this.textContent = 1">0</button>');
    await run(
      `agent.act('{button}0', 'click'); agent.expect('{button}1').toBeVisible(); agent.expect('button').toHaveText(/1/)`,
    );
    await agent.settle();
    const [acted, seen, read] = told('StepFinished').slice(-3);
    t.match(acted?.js, /act/);
    t.match(seen, { js: 'agent.expect("{button}1").toBeVisible()', screenshot: null, result: { waitedMs: Number } });
    t.match(read, { js: 'agent.expect("button").toHaveText(/1/)', screenshot: null });
    t.equal(read?.index, Number(acted?.index) + 2, 'a regular expression takes no more steps');
  },
);

t.test('Assertions wait for what comes late', async (t) => {
  site.set('/next', '<title>Next</title><h1>Arrived</h1>');
  const late: readonly (readonly [html: string, js: string, assertion: string])[] = [
    ['<p id=x>a</p>', 'x.textContent = "b"', 'agent.expect("#x").toHaveText("b")'],
    ['<p id=x>a</p>', 'x.textContent = "b1"', 'agent.expect("#x").toHaveText(/^b\\d$/)'],
    ['<p id=x>a</p>', 'x.firstChild.data = "b"', 'agent.expect("#x").not.toHaveText("a")'],
    ['<p id=x>a</p>', 'x.outerHTML = "<p id=x>b</p>"', 'agent.expect("#x").toContainText("b")'],
    ['<button id=x disabled>Go</button>', 'x.disabled = false', 'agent.expect("{button}Go").toBeEnabled()'],
    ['<p id=x style="opacity:1">a</p>', 'x.style.display = "none"', 'agent.expect("#x").toBeHidden()'],
    ['<style id=s>p{display:none}</style><p id=x>a</p>', 's.sheet.deleteRule(0)', 'agent.expect("#x").toBeVisible()'],
    ['<input id=x aria-label=A>', 'x.value = "set"', 'agent.expect("{input}A").toHaveValue("set")'],
    ['<input id=x aria-label=A type=checkbox>', 'x.checked = true', 'agent.expect("{input}A").toBeChecked()'],
    ['<ul id=x><li>1</ul>', 'x.innerHTML += "<li>2"', 'agent.expect("li").toHaveCount(2)'],
    ['<a id=x href=/1>a</a>', 'x.href = "/2"', 'agent.expect("#x").toHaveAttribute("href", "/2")'],
    ['<p>a</p>', 'history.pushState(null, "", "/pushed")', 'agent.expect(agent).toHaveURL("/pushed")'],
    ['<p>a</p>', 'document.title = "Done"', 'agent.expect(agent).toHaveTitle("Done")'],
    ['<h1>a</h1>', 'location.href = "/next"', 'agent.expect("h1").toHaveText("Arrived")'],
    ['<h1>a</h1>', 'location.href = "/next"', 'agent.expect(agent).toHaveURL(/next$/)'],
    ['<h1>a</h1>', 'location.href = "/next"', 'agent.expect(agent).toHaveTitle("Next")'],
    ['<h1>a</h1><h1 id=x>a</h1>', 'x.remove()', 'agent.expect("{h1}a").toBeVisible()'],
    [
      '<div id=x></div>',
      'x.attachShadow({mode: "open"}).innerHTML = "<p>Deep</p>"',
      'agent.expect("{p}Deep").toBeVisible()',
    ],
  ];
  for (const [html, js, assertion] of late) {
    await open(html);
    const outcome = await run(
      `agent.page(${JSON.stringify(`setTimeout(() => { ${js} }, 60); null`)}); ${assertion}; 'held'`,
    ).catch((error: Error) => error.message);
    t.equal(outcome, 'held', `${html} ${js} ${assertion}`);
  }
});

t.test('A locator that means several elements for a second fails by name', async (t) => {
  await open('<button>Save</button><button>Save</button>');
  const error = await failure(`agent.expect('{button}Save').toBeEnabled()`);
  t.match(error, { code: 'LOCATOR_AMBIGUOUS', details: { candidates: ['{button:1}Save', '{button:2}Save'] } });
  t.match(await failure(`agent.expect('{button}Save').toBeHidden({timeout: 1})`), {
    code: 'MATCH_FAILED',
    details: { received: '2 elements' },
  });
  t.equal(await run(`agent.expect('{button:2}Save').toBeVisible(); 'held'`), 'held');
});

t.test('A number of the last look stays with its element, which may have left', async (t) => {
  await open('<ul><li><button>Edit</button><li><button id=x>Edit</button></ul>');
  await run('agent.look(); null');
  await run('agent.page("x.remove()"); null');
  t.match(await failure(`agent.expect('{button:2}Edit').toBeEnabled()`), { code: 'LOCATOR_STALE' });
  t.equal(await run(`agent.expect('{button:2}Edit').toBeHidden(); 'held'`), 'held');
});

t.test('A dialog can be expected; another element behind it cannot', async (t) => {
  await open('<button onclick="setTimeout(() => alert(\'Sure?\'), 50)">Ask</button>');
  const held = `agent.act('{button}Ask', 'click'); agent.expect('{dialog}OK').toBeVisible();
    agent.expect('{dialog}OK').toHaveText('Sure?'); agent.expect('{dialog}Cancel').toBeHidden(); 'held'`;
  t.equal(await run(held), 'held');
  t.match(await failure(`agent.expect('{button}Ask').toBeVisible()`), {
    code: 'ACTION_FAILED',
    error: /dialog is open/,
  });
  await run(`agent.act('{dialog}OK', 'click'); null`);
});

t.test('{dialog} is the dialog as a whole, with its message as the text', async (t) => {
  await open(`<button onclick="confirm('Archive 3 orders?')">Archive</button>`);
  const held = `agent.act('{button}Archive', 'click'); agent.wait('{dialog}');
    agent.expect('{dialog}').toHaveText('Archive 3 orders?'); agent.expect('{dialog}').toHaveText(/^Archive/);
    agent.expect('{dialog}').toBeVisible(); agent.expect('{dialog}').toHaveCount(1); 'held'`;
  t.equal(await run(held), 'held');
  t.match(await failure(`agent.expect('{dialog}').toHaveText('Archive 1 order?', {timeout: 10})`), {
    code: 'MATCH_FAILED',
    error: /but it has "Archive 3 orders\?"/,
    details: { received: 'Archive 3 orders?' },
  });
  t.match(await failure(`agent.expect('{dialog}Yes').toBeVisible({timeout: 10})`), {
    code: 'MATCH_FAILED',
    error: /Did you mean \{dialog\}OK(?:,| or) \{dialog\}Cancel/,
    details: { candidates: ['{dialog}OK', '{dialog}Cancel'] },
  });
  await run(`agent.act('{dialog}OK', 'click'); agent.expect('{dialog}').toBeHidden(); null`);
});

t.test('agent.until returns the first true value, and survives errors of the page', async (t) => {
  await open('<main id=m></main>');
  await run(`agent.page('setTimeout(() => { m.innerHTML = "<h1>7</h1>" }, 60); null'); null`);
  t.equal(await run(`agent.until(() => Number(agent.text('h1')))`), 7);
  t.equal(await run(`agent.until(async () => agent.look().elements.length === 0 && 'none')`), 'none');
  t.equal(await run(`let n = 0; agent.until(() => ++n > 2 && n)`), 3);
  const error = await failure(`agent.until(() => agent.text('h1') === '8', {timeout: 30})`);
  t.match(error, { code: 'MATCH_FAILED', details: { received: 'false', line: 1 } });
  t.match((await lastStep())?.js, /^agent\.until\(\(\) => agent\.text\('h1'\)/);
  t.match(await failure(`agent.until(() => nothing, {timeout: 5_000})`), { code: 'SCRIPT_ERROR', error: /nothing/ });
});

t.test('An assertion without a matcher fails the script at its end, where it stands', async (t) => {
  await open('<h1>Cart</h1>');
  const bare = /^agent\.expect\("h1"\) alone checks nothing: add a matcher, as in agent\.expect\("h1"\)\.toHaveText/;
  t.match(await failure(`agent.text('h1');\n  agent.expect('h1');\nagent.text('h1')`), {
    code: 'SCRIPT_ERROR',
    error: bare,
    details: { line: 2, column: 9 },
  });
  const forms = [
    `agent.expect('h1').not`,
    `agent.expect('h1').toBeVisible; 1`,
    `agent.until(() => agent.expect('h1'))`,
    `const other = agent.expect('h1'); agent.expect('h1').toHaveText('Cart'); null`,
    `async function later() { await null; agent.expect('h1') } later(); null`,
  ];
  for (const js of forms) t.match(await failure(js), { code: 'SCRIPT_ERROR', error: bare }, js);
  t.match(await failure('agent.expect(agent); null'), { error: /agent\.expect\(agent\) alone checks nothing/ });
  t.equal(
    await run(`const cart = agent.expect('h1'); cart.not.toHaveText('x'); cart.toHaveText('Cart'); 'held'`),
    'held',
  );
  // What another failure or a stop left behind is not said of the next script.
  t.match(await failure(`agent.expect('h1'); nothing`), { error: /nothing'? is not defined/ });
  t.equal(await run(`'next'`), 'next');
  t.match(await failure(`agent.expect('h1'); for (;;) {}`, 300), { code: 'EVAL_TIMEOUT' });
  t.equal(await run(`'next'`), 'next');
});

t.test('A regular expression without end, or a function, stops the script and nothing else', async (t) => {
  await open(`<p>${'a'.repeat(40)}!</p>`);
  t.match(await failure(`agent.expect('p').toHaveText(/^(a+)+$/)`, 700), { code: 'EVAL_TIMEOUT' });
  t.equal(await run(`agent.expect('p').toContainText('a!'); 'held'`), 'held');
});

t.test('What is written wrongly is refused at once, and says how it is written', async (t) => {
  await open('<p>a</p>');
  const wrong: readonly (readonly [js: string, message: RegExp])[] = [
    ['agent.expect("p").toHaveTxt("a")', /has no toHaveTxt; it has toHaveText/],
    ['agent.expect("p").toHaveText()', /takes a text or a regular expression/],
    ['agent.expect("p").toContainText("")', /not empty/],
    ['agent.expect("p").toHaveCount("1")', /whole number/],
    ['agent.expect("p").toHaveURL("/")', /agent\.expect\(agent\)\.toHaveURL/],
    ['agent.expect(agent).toBeVisible()', /agent\.expect\(locator\)\.toBeVisible/],
    ['agent.expect("p").toHaveText("a", {timeOut: 1})', /no option "timeOut"; it has timeout/],
    ['agent.expect("{p").toBeVisible()', /not a locator/],
    ['agent.expect(null)', /takes a locator/],
    ['agent.until("x")', /takes a function/],
  ];
  for (const [js, message] of wrong) t.match(await failure(js), { code: 'SCRIPT_ERROR', error: message }, js);
});
