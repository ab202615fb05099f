import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const lease = await openBrowser(t);
const site = await openSite(t);
const { agent, call, callWithin, told } = await openAgent(t, lease);
site.set('/next', '<title>Next</title><h1>Next page</h1>');

async function open(html: string): Promise<void> {
  await call('go', site.set('/wait', `<!doctype html><title>Wait</title>${html}`));
}
const later = (js: string, ms = 120) => call('page', `setTimeout(() => { ${js} }, ${ms}); null`);
const waits = async (...args: unknown[]) => ((await call('wait', ...args)) as { waitedMs: number }).waitedMs;
const fails = (limits: { ms?: number }, ...args: unknown[]) =>
  callWithin(limits, 'wait', ...args).then(
    () => null,
    (error: { code: string; message: string; details: object }) => error,
  );

t.test('wait for a locator ends when it appears, and for its going when it goes', async (t) => {
  await open('<main id=m></main>');
  await later('m.innerHTML = "<h1>Saved</h1><button hidden>Undo</button>"');
  const appeared = await waits('{h1}Saved');
  t.ok(appeared >= 50, `${appeared} ms`);
  await waits('{h1}Saved');
  await later('m.lastChild.hidden = false');
  await waits('{button}Undo');
  await later('m.firstChild.style.display = "none"');
  await waits('!{h1}Saved');
  await waits('!#nowhere');
  await later('m.innerHTML += "<button>Undo</button>"');
  await waits('{button:2}Undo');
  await later(
    'const host = document.createElement("div"); host.attachShadow({ mode: "open" }).innerHTML = "<p>Deep</p>"; m.append(host)',
  );
  await waits('{p}Deep');
});

t.test('A wait outlives the navigations that happen meanwhile', async (t) => {
  await open('<h1>First</h1>');
  await later('location.href = "/next"');
  await waits('{h1}Next page');
  t.equal(await call('text', '{h1}'), 'Next page');
});

t.test('wait for a navigation ends at once for one that nobody has waited for', async (t) => {
  await open('<button onclick="setTimeout(() => location.href = \'/next\', 150)">Late</button>');
  await call('act', '{button}Late', 'click');
  await waits('navigation');
  t.equal(await call('text', '{h1}'), 'Next page', 'the new page is there');
  t.match(await fails({ ms: 500 }, 'navigation'), { code: 'WAIT_TIMEOUT', details: { title: 'Next' } });
  await later('history.pushState(null, "", "/pushed")');
  await waits('navigation');
});

t.test('wait for idle ends when the network is quiet', async (t) => {
  let answered = 0;
  site.set('/data', (_, response) => {
    setTimeout(() => {
      answered++;
      response.end('{}');
    }, 150);
  });
  site.set('/stream', (_, response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n'),
  );
  await open(
    '<script>new EventSource("/stream"); (async () => { for (let i = 0; i < 4; i++) await fetch("/data?" + i) })()</script>',
  );
  const waited = await waits('idle');
  t.equal(answered, 4, 'an open stream is no request under way');
  t.ok(waited >= 500, `${waited} ms`);
});

t.test('wait for a number of milliseconds waits as long', async (t) => {
  const waited = await waits(60);
  t.ok(waited >= 59, `${waited} ms`);
});

t.test('A wait that is not fulfilled says for what, and where the page stood', async (t) => {
  await open('<h1>Here</h1>');
  t.match(await fails({}, '{h1}Gone', { timeout: 100 }), {
    code: 'WAIT_TIMEOUT',
    message: /\{h1\}Gone did not appear/,
    details: { url: `${site.origin}/wait`, title: 'Wait' },
  });
  t.match(await fails({}, '!{h1}Here', { timeout: 100 }), { code: 'WAIT_TIMEOUT', message: /did not disappear/ });
  const patient = waits('{h1}Late', { timeout: 60_000 });
  const hurried = fails({ ms: 400 }, '{h1}Gone', { timeout: 60_000 });
  t.match(await Promise.race([patient, hurried]), { code: 'WAIT_TIMEOUT' }, "it ends with its script's time");
  await call('page', "document.body.innerHTML += '<h1>Late</h1>'; null");
  await patient;
  t.match(await fails({ ms: 300 }, 5_000), { code: 'WAIT_TIMEOUT' });
  t.match(await fails({}, '{'), { code: 'SCRIPT_ERROR' });
  t.match(await fails({}, {}), { code: 'SCRIPT_ERROR' });
});

t.test(
  'A wait that is not fulfilled is a step with its picture, the time, and the most similar locators',
  async (t) => {
    await open('<a href=/x>Downloads</a>');
    t.match(await fails({}, '{a}Download', { timeout: 100 }), {
      code: 'WAIT_TIMEOUT',
      message: /^\{a\}Download did not appear\. Did you mean \{a\}Downloads\? \(waited \d+ ms\)$/,
      details: { locator: '{a}Download', candidates: ['{a}Downloads'] },
    });
    await agent.settle();
    t.match(told('StepFinished').at(-1), {
      js: 'agent.wait("{a}Download", {"timeout":100})',
      error: { code: 'WAIT_TIMEOUT' },
      screenshot: /-wait-.*\.png$/,
    });
    await open('<a href=/x>Log in</a><p role=status>Preparing <b>it</b></p><p role=alert hidden>No</p>');
    t.match(await fails({}, '{a}Download', { timeout: 100 }), {
      message: /^\{a\}Download did not appear\. The page has \{a\}Log in\. The page says "Preparing it" \(waited/,
    });
  },
);

t.test('A cancelled wait ends at once', async (t) => {
  await open('<h1>Here</h1>');
  for (const condition of ['{h1}Never', 'navigation', 60_000]) {
    const cancel = new AbortController();
    const waiting = callWithin({ signal: cancel.signal }, 'wait', condition).catch((error) => error);
    cancel.abort();
    t.match(await waiting, { code: 'EVAL_TIMEOUT' });
  }
});

t.end();
