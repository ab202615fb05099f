import t, { type Test } from 'tap';
import { withDeadline } from '#troupe/base/deadline.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

/** How long any answer of a browser is waited for. */
const ANSWER_MS = 30_000;

const lease = await openBrowser(t);
const site = await openSite(t);
const { browser, call, callWithin, failure } = await openAgent(t, lease);
site.set('/fine', '<title>Fine</title><h1>Fine</h1><button onclick="document.title = \'Pressed\'">Press</button>');

/** The code that a call ends with: `late` if nothing but the limit of the browser's answers would end it. */
function ends(ms: number, method: string, ...args: unknown[]): Promise<string> {
  const code = callWithin({ ms }, method, ...args).then(
    () => 'none',
    (error: { code: string }) => error.code,
  );
  return withDeadline(code, { ms: ANSWER_MS - 5_000 }).catch(() => 'late');
}

/** The session goes on: a fresh page can be visited, looked at and operated. */
async function goesOn(t: Test): Promise<void> {
  t.match(await call('go', `${site.origin}/fine`), { title: 'Fine', status: 200 });
  t.match(await call('act', '{button}Press', 'click'), { changed: true, title: 'Pressed' });
}

t.test('A page that runs for ever ends each call by its deadline, and is left by go', async (t) => {
  await call(
    'go',
    site.set('/hang', '<title>Hang</title><button onclick="for (;;);">Hang</button><a href=/fine>Link</a>'),
  );
  t.equal(await ends(500, 'act', '{button}Hang', 'click'), 'WAIT_TIMEOUT');
  const calls = [
    ['look'],
    ['act', '{a}Link', 'click'],
    ['wait', '{h1}Fine'],
    ['value', '{a}Link'],
    ['page', '1'],
    ['screenshot'],
  ] as const;
  // All at once: none of them keeps another from its end.
  const ended = calls.map(async ([method, ...args]) => {
    t.match(await ends(300, method, ...args), /^(WAIT_TIMEOUT|ACTION_FAILED)$/, `${method} ${args}`);
  });
  await Promise.all(ended);
  t.equal(await ends(2_000, 'tabs'), 'none', 'where it stands is known without it');
  await goesOn(t);
  t.equal(await ends(300, 'page', 'for (;;);'), 'WAIT_TIMEOUT');
  await goesOn(t);
});

t.test('A storm of alerts is answered one by one, and left by go', async (t) => {
  await call('go', site.set('/storm', '<title>Storm</title><button onclick="for (;;) alert(1)">Storm</button>'));
  t.match(await call('act', '{button}Storm', 'click'), { changed: true });
  for (let answered = 0; answered < 10; answered++)
    t.match(await call('act', '{dialog}OK', 'click'), { changed: true });
  t.match(await failure('act', '{button}Storm', 'click'), { code: 'ACTION_FAILED', error: /dialog is open/ });
  await goesOn(t);
});

t.test('A renderer that dies fails the call under way, and go loads a fresh one', async (t) => {
  await call('go', `${site.origin}/fine`);
  const waiting = failure('wait', '{h1}Never');
  await crash();
  t.match(await waiting, { code: 'ACTION_FAILED', error: /crashed/ });
  t.match(await failure('look'), { code: 'ACTION_FAILED', error: /crashed.*agent\.go/ });
  t.match(await failure('act', '{button}Press', 'click'), { code: 'ACTION_FAILED', error: /crashed/ });
  t.match(await failure('screenshot'), { code: 'ACTION_FAILED' });
  t.match(await failure('page', '1'), { code: 'ACTION_FAILED', error: /crashed/ });
  await goesOn(t);
});

t.test('A page that never stops loading can be worked with, and act says so where it leads there', async (t) => {
  site.set('/endless', (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.write('<title>Endless</title><h1>Half</h1><button>Here</button>');
  });
  site.set('/silent', () => undefined);
  await call('go', site.set('/start', '<title>Start</title><a href=/endless>Endless</a><a href=/silent>Silent</a>'));
  t.equal(await ends(700, 'act', '{a}Silent', 'click'), 'WAIT_TIMEOUT');
  await goesOn(t);
  t.equal(await ends(900, 'go', `${site.origin}/endless`), 'WAIT_TIMEOUT');
  t.match(await call('look'), { title: 'Endless' });
  await call('act', '{button}Here', 'click');
  await goesOn(t);
});

t.test('A page that opens windows without end is bounded, and left', async (t) => {
  const popups =
    '<title>Popups</title><button onclick="for (let i = 0; i < 5; i++) window.open(\'/fine\')">Open</button>';
  await call('go', site.set('/popups', popups));
  await call('act', '{button}Open', 'click');
  const tabs = (await call('tabs')) as { title: string; active: boolean }[];
  t.ok(tabs.length >= 2 && tabs.length <= 50, `${tabs.length} tabs`);
  await call('tab', 0);
  await goesOn(t);
});

async function crash(): Promise<void> {
  let session = '';
  const stop = browser.onPage((page) => {
    session ||= page.session;
  });
  stop();
  await browser.send('Page.crash', {}, { session, timeoutMs: 300 }).catch(() => undefined);
}

t.end();
