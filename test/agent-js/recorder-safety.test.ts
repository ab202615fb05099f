import t, { type Test } from 'tap';
import { SessionRecorder } from '#troupe/agent-js/recording/session-recorder.js';
import { flowLines } from '#troupe/protocol/recording/flow-lines.js';
import { playwrightLines } from '#troupe/protocol/recording/playwright-lines.js';
import { quote } from '#troupe/protocol/recording/quote.js';
import { Recording } from '#troupe/protocol/recording/recording.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const NASTY = "');\nagent.go('http://evil.test');//\u2028\u202e*/ \\' $\u007bx} `";

/** A page under a recorder, a way to click and type on it as the browser does, and what was recorded. */
async function openRecorded(t: Test, html: string) {
  const site = await openSite(t);
  const url = site.set('/', html);
  const hands = await openAgent(t, await openBrowser(t));
  const recording = new Recording();
  const { browser, agent } = hands;
  const recorder = new SessionRecorder(browser, agent.tabs, ({ act, replaces }) => recording.add(act, replaces));
  recorder.start();
  t.teardown(() => recorder.stop());
  await hands.call('go', url);
  const { session } = agent.tabs.active;
  const click = async (selector: string, modifiers = 0): Promise<void> => {
    const [x, y] = (await hands.call(
      'page',
      `(() => { const r = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`,
    )) as [number, number];
    const at = { x, y, modifiers, button: 'left', clickCount: 1 } as const;
    await browser.send('Input.dispatchMouseEvent', { type: 'mousePressed', ...at }, { session });
    await browser.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...at }, { session });
  };
  const type = (text: string) => browser.send('Input.insertText', { text }, { session });
  /** All that was recorded after the page had been opened. */
  const lines = async (): Promise<string[]> => {
    await hands.call('page', '1');
    recorder.stop();
    return flowLines(recording).slice(1);
  };
  return { ...hands, url, recorder, recording, click, type, lines };
}

t.test('a literal holds any text on one line, and is that text again', (t) => {
  for (const text of [NASTY, '', "'", '\\', '\r\n', '\u0000', '\ud800', '</script>', '\u2066a']) {
    const literal = quote(text);
    t.notMatch(literal, /[\n\r\u2028\u2029\u202e]/);
    t.equal(new Function(`return ${literal}`)(), text);
  }
  t.end();
});

t.test('steps back in the history are recorded, and forward as the address', async (t) => {
  const { browser, agent, call, lines, url } = await openRecorded(t, '<h1>One</h1>');
  const { session } = agent.tabs.active;
  for (const nth of [2, 3]) await call('go', `${url}?page=${nth}`);
  const step = async (by: number) => {
    const { currentIndex, entries } = await browser.send('Page.getNavigationHistory', {}, { session });
    const entry = entries[currentIndex + by];
    await browser.send('Page.navigateToHistoryEntry', { entryId: entry?.id ?? -1 }, { session });
    await call('wait', 'navigation');
  };
  await step(-1);
  await step(-1);
  await step(1);
  t.same(await lines(), [
    `agent.go('${url}?page=2');`,
    `agent.go('${url}?page=3');`,
    'agent.back();',
    'agent.back();',
    `agent.go('${url}?page=2');`,
  ]);
});

t.test('what a page is called is never code, in flows and in tests of Playwright', async (t) => {
  const { click, lines, recording } = await openRecorded(
    t,
    `<meta charset=utf-8><button id=b></button><input id=i><script>b.textContent = b.title = ${JSON.stringify(NASTY)}; i.ariaLabel = ${JSON.stringify(NASTY)}</script>`,
  );
  await click('#b');
  await click('#b', 2);
  await click('#i');
  const flow = await lines();
  t.equal(flow.length, 3);
  const calls: unknown[] = [];
  const agent = { act: (...args: unknown[]) => calls.push(args), go: () => t.fail('code of the page ran') };
  new Function('agent', flow.join('\n'))(agent);
  t.equal(calls.length, 2, 'and a click with a key held is said to be missing');
  t.match(flow[1], /^\/\/ Not recorded: 'a click with Control on /);
  for (const line of playwrightLines(recording)) t.notMatch(line, /[\n\u2028]/);
});

t.test('input that scripts make up is not recorded, nor is a page heard that calls the recorder', async (t) => {
  const { call, click, lines } = await openRecorded(
    t,
    `<button id=a onclick="b.click(); c.dispatchEvent(new MouseEvent('mousedown', { bubbles: true })); c.click()">A</button>
     <button id=b>B</button><button id=c>C</button>`,
  );
  await call(
    'page',
    'b.click(); try { troupeRecorded(JSON.stringify({ act: { kind: "note", text: "made up" }, replaces: false })) } catch {}',
  );
  await click('#a');
  t.same(await lines(), ["agent.act('{button}A', 'click');"]);
});

t.test('passwords stay in the page, also when it shows them later', async (t) => {
  const { click, type, lines, recording } = await openRecorded(
    t,
    `<label>User <input id=u></label><label>Password <input id=p type=password></label><button id=s onclick="p.type = 'text'">Show</button>`,
  );
  await click('#u');
  await type('ada');
  await click('#p');
  await type('hunter2');
  await click('#s');
  await click('#p');
  await type('X');
  const flow = await lines();
  t.same(flow, [
    "agent.act('{input}User', 'input', 'ada');",
    "agent.act('{input}Password', 'input', '{{password}}');",
    "agent.act('{button}Show', 'click');",
    "agent.act('{input}Password', 'input', '{{password}}');",
  ]);
  t.notMatch(JSON.stringify(recording.acts), /hunter2/);
});

t.test('a page cannot have a run put a secret into another field', async (t) => {
  const { click, type, lines } = await openRecorded(
    t,
    '<input aria-label=Note id=n oninput="if (!window.once) { once = 1; n.value = \'{{password}}\' }">',
  );
  await click('#n');
  await type('a');
  await type('b');
  t.same(await lines(), ["// Not recorded: 'a text that a run takes for a secret'"]);
});

t.test('with Alt and Shift held, a click asserts what is there and the page does not hear it', async (t) => {
  const { click, lines, call } = await openRecorded(
    t,
    `<p id=total>Total: 5</p><input id=n aria-label=Name value=Ada><label><input id=c type=checkbox checked> Agree</label>
     <button id=s onclick="heard = 1">Save</button><script>heard = 0; for (const type of ['pointerdown', 'mousedown', 'mouseup']) addEventListener(type, () => heard++)</script>`,
  );
  for (const selector of ['#total', '#n', '#c', '#s']) await click(selector, 1 + 8);
  t.equal(await call('page', 'heard'), 0);
  t.same(await lines(), [
    "agent.expect('#total').toHaveText('Total: 5');",
    "agent.expect('{input}Name').toHaveValue('Ada');",
    "agent.expect('{input}Agree').toBeChecked();",
    "agent.expect('{button}Save').toBeVisible();",
  ]);
});

t.test('when it is armed, the next click asserts and the one after it clicks', async (t) => {
  const { click, lines, recorder } = await openRecorded(t, '<button id=s>Save</button>');
  await recorder.assertNext({ deadline: performance.now() + 5_000, signal: new AbortController().signal });
  await click('#s');
  await click('#s');
  t.same(await lines(), ["agent.expect('{button}Save').toBeVisible();", "agent.act('{button}Save', 'click');"]);
});

t.end();
