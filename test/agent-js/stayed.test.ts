import t, { type Test } from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const lease = await openBrowser(t);
const site = await openSite(t);
const other = await openSite(t);
const { browser, call, callWithin } = await openAgent(t, lease);
/** A call that hangs fails long before its own limit. */
const soon = (method: string, ...args: readonly unknown[]) => callWithin({ ms: 5_000 }, method, ...args);

const ASKS = `<script>onbeforeunload = (event) => { event.preventDefault(); return 'unsaved' }</script>`;
site.set('/next', '<title>Next</title><h1>Next</h1>');
site.set('/204', (_, response) => void response.writeHead(204).end());
site.set('/file', (_, response) => {
  response.writeHead(200, { 'content-disposition': 'attachment; filename=a.txt' }).end('x');
});
const late: (() => void)[] = [];
site.set('/late', (_, response) => late.push(() => response.end('<title>Late</title>')));
const inner = other.set('/inner', `<input aria-label=Inner>${ASKS}<script>parent.postMessage('up', '*')</script>`);
site.set('/near', `<input aria-label=Near><button onclick="location = '/next'">Near on</button>${ASKS}`);

/** Opens a page that has been written into, and counts presses. */
async function open(html: string, script = ASKS): Promise<void> {
  await call('go', site.set('/before', '<title>Before</title>'));
  const counter = `<button onclick="n.textContent = +n.textContent + 1">Count</button><b id=n>0</b>`;
  await call('go', site.set('/draft', `<title>Draft</title><input aria-label=Text>${counter}${html}${script}`));
  await call('act', '{input}Text', 'input', 'abc');
}

const QUESTION = { dialog: { kind: 'beforeunload' } };

async function usable(t: Test, what: string): Promise<void> {
  t.match(await soon('act', '{button}Count', 'click'), { changed: true, title: 'Draft' }, `${what}: used`);
  t.equal(await soon('text', '#n'), '1', `${what}: once`);
  t.equal(await soon('value', '{input}Text'), 'abc', `${what}: what was written is there`);
}

const WAYS = {
  'a link': ['<a href=/next>Go</a>', '{a}Go'],
  'a link of a file': ['<a href=/file>Go</a>', '{a}Go'],
  'a link of nothing': ['<a href=/204>Go</a>', '{a}Go'],
  'a mail address': [`<button onclick="location = 'mailto:a@b.test'">Go</button>`, '{button}Go'],
  'a form': ['<form action=/next><button>Go</button></form>', '{button}Go'],
  'a form that posts': ['<form action=/next method=post><button>Go</button></form>', '{button}Go'],
  'a script': [`<button onclick="location.href = '/next'">Go</button>`, '{button}Go'],
  'a script, a moment later': [
    `<button onclick="setTimeout(() => location.assign('/next'), 30)">Go</button>`,
    '{button}Go',
  ],
  'loading it again': ['<button onclick="location.reload()">Go</button>', '{button}Go'],
  'going back': ['<button onclick="history.back()">Go</button>', '{button}Go'],
  'a refresh': [
    `<button onclick="document.head.insertAdjacentHTML('beforeend', '<meta http-equiv=refresh content=0;url=/next>')">Go</button>`,
    '{button}Go',
  ],
  'a frame': [`<button onclick="f.src = '/next'">Go</button><iframe id=f src=/near></iframe>`, '{button}Go'],
} as const;

t.test('Cancel keeps the page, whatever would have led away from it', async (t) => {
  for (const [what, [html, locator]] of Object.entries(WAYS)) {
    await open(html);
    if (what === 'a frame') await call('act', '{input}Near', 'input', 'x');
    t.match(await soon('act', locator, 'click'), QUESTION, `${what}: asked`);
    t.match(await soon('act', '{dialog}Cancel', 'click'), { title: 'Draft' }, `${what}: kept`);
    await usable(t, what);
  }
});

t.test('OK leaves the page, and act waits for the next one', async (t) => {
  for (const way of ['a link', 'a form', 'a script', 'loading it again', 'going back'] as const) {
    const [html, locator] = WAYS[way];
    await open(html);
    t.match(await soon('act', locator, 'click'), QUESTION, `${way}: asked`);
    const title = way === 'going back' ? 'Before' : way === 'loading it again' ? 'Draft' : 'Next';
    t.match(await soon('act', '{dialog}OK', 'click'), { changed: true, title }, way);
  }
  await open('<a href=/204>Go</a>');
  await soon('act', '{a}Go', 'click');
  await soon('act', '{dialog}OK', 'click');
  await usable(t, 'nothing came');
});

t.test('A question that has been answered with Cancel is asked again the next time', async (t) => {
  await open('<a href=/next>Go</a>');
  for (let times = 0; times < 3; times++) {
    t.match(await soon('act', '{a}Go', 'click'), QUESTION);
    t.match(await soon('act', '{dialog}Cancel', 'click'), { title: 'Draft' });
  }
  await soon('act', '{a}Go', 'click');
  t.match(await soon('act', '{dialog}OK', 'click'), { title: 'Next', status: 200 });
});

t.test('A frame’s own question, of whatever origin, keeps the page too', async (t) => {
  for (const [what, src, field] of [
    ['the same origin', '/near', '{input}Near'],
    ['another origin', inner, '{input}Inner'],
  ] as const) {
    await open(`<a href=/next>Go</a><iframe src="${src}"></iframe>`, '');
    await call('act', field, 'press', 'x');
    t.match(await soon('act', '{a}Go', 'click'), QUESTION, `${what}: asked`);
    t.match(await soon('act', '{dialog}Cancel', 'click'), { title: 'Draft' }, `${what}: kept`);
    await usable(t, what);
  }
  await open('<iframe src=/near></iframe>', '');
  await call('act', '{input}Near', 'input', 'x');
  t.match(await soon('act', '{button}Near on', 'click'), QUESTION, 'a frame that leads itself away');
  t.match(await soon('act', '{dialog}Cancel', 'click'), { title: 'Draft' });
  await usable(t, 'a frame that leads itself away');
});

t.test('Cancel does not end a navigation that was under way before', async (t) => {
  const script = `<script>let asks = false;
    onbeforeunload = (event) => { if (asks) event.preventDefault(); asks = true }</script>`;
  await open(`<button onclick="location = '/late'; setTimeout(() => location = '/next', 50)">Go</button>`, script);
  t.match(await soon('act', '{button}Go', 'click'), QUESTION);
  // Before that, the document would come while the question is open.
  const stop = browser.listen(({ method }) => {
    if (method === 'Page.javascriptDialogClosed') for (const answer of late.splice(0)) answer();
  });
  const kept = soon('act', '{dialog}Cancel', 'click');
  t.match(await kept, { title: 'Late' });
  stop();
});

t.test('A window that would be closed stays open after Cancel, and is closed by OK', async (t) => {
  site.set(
    '/window',
    `<title>Window</title><input aria-label=W><button onclick="window.close()">Close</button>${ASKS}`,
  );
  await open(`<button onclick="window.open('/window')">Open</button>`, '');
  t.match(await soon('act', '{button}Open', 'click'), { newTab: 1 });
  await soon('act', '{input}W', 'input', 'x');
  t.match(await soon('act', '{button}Close', 'click'), QUESTION);
  t.match(await soon('act', '{dialog}Cancel', 'click'), { title: 'Window' });
  t.match(await soon('act', '{input}W', 'input', 'xy'), { changed: true, title: 'Window' });
  await soon('act', '{button}Close', 'click');
  t.match(await soon('act', '{dialog}OK', 'click'), { changed: true, title: 'Draft' });
  await usable(t, 'the page that opened it');
});

t.test('A navigation that somebody else has begun ends with Cancel too', async (t) => {
  await open('');
  let session: string | undefined;
  const stop = browser.listen((event) => {
    if (event.method === 'Page.javascriptDialogOpening') ({ session } = event);
  });
  await call('page', `setTimeout(() => location.reload())`);
  await soon('wait', '{dialog}Cancel');
  stop();
  await soon('act', '{dialog}Cancel', 'click');
  await usable(t, 'the page that loads itself again');
  if (session === undefined) throw new Error('No dialog was told of');
  const answer = browser.send('Page.navigate', { url: `${site.origin}/next` }, { session });
  await soon('wait', '{dialog}Cancel');
  t.match(await soon('act', '{dialog}Cancel', 'click'), { title: 'Draft' });
  t.match(await answer, { errorText: 'net::ERR_ABORTED' });
  t.match(await soon('act', '{button}Count', 'click'), { changed: true, title: 'Draft' });
});

// The last test: the tab is lost.
t.test('A dialog whose page is replaced while it is open cannot be answered, and act says so', async (t) => {
  const script = `<script>let asks = false;
    onbeforeunload = (event) => { if (asks) event.preventDefault(); asks = true }</script>`;
  await open(`<button onclick="location = '/late'; setTimeout(() => location = '/next', 50)">Go</button>`, script);
  let session: string | undefined;
  const stop = browser.listen((event) => {
    if (event.method === 'Page.javascriptDialogOpening') ({ session } = event);
  });
  t.match(await soon('act', '{button}Go', 'click'), QUESTION);
  stop();
  if (session === undefined) throw new Error('No dialog was told of');
  const target = { session };
  for (const answer of late.splice(0)) answer();
  await eventually('the page is replaced', () => {
    return browser.send('Page.getNavigationHistory', {}, target).then(
      () => false,
      () => true,
    );
  });
  await t.rejects(soon('act', '{dialog}Cancel', 'click'), {
    code: 'ACTION_FAILED',
    message: /^The page was replaced by another while its dialog was open/,
  });
});
