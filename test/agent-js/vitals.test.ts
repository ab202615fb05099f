import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { agent, call, failure, told } = await openAgent(t, lease);
interface Vitals {
  readonly ttfb: number;
  readonly fcp: number;
  readonly lcp: number;
  readonly cls: number;
  readonly inp: number | null;
}
/** Each frame, then the text. */
const LATE = `requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => {
  document.body.insertAdjacentHTML('afterbegin', '<div style="height:300px;font-size:60px">Much larger and later</div>');
}, 400)))`;

t.test('the paints of a page are those of its timeline, and nothing shifts or is acted on', async (t) => {
  await call('go', site.set('/still', '<!doctype html><title>Still</title><h1>Heading</h1>'));
  const vitals = (await call('vitals')) as Vitals;
  const [fcp, ttfb] = (await call(
    'page',
    `[performance.getEntriesByName('first-contentful-paint')[0].startTime, performance.getEntriesByType('navigation')[0].responseStart]`,
  )) as [number, number];
  t.same(vitals, { ttfb: Math.round(ttfb), fcp: Math.round(fcp), lcp: Math.round(fcp), cls: 0, inp: null });
  await agent.settle();
  const steps = told('StepFinished').filter(({ js }) => js === 'agent.vitals()');
  t.match(steps, [{ result: vitals }]);
});

t.test('what comes late and moves the rest counts, before the first call and after it', async (t) => {
  const body = `<body><p>Small</p><script>addEventListener('load', () => { ${LATE} })</script>`;
  await call('go', site.set('/late', `<!doctype html><title>Late</title>${body}`));
  await call('wait', '{*}Much larger and later');
  const first = (await call('vitals')) as Vitals;
  t.ok(first.lcp > first.fcp + 300, `${first.lcp} is the later text, not the first at ${first.fcp}`);
  t.ok(first.cls > 0, String(first.cls));
  await call('page', LATE.replace('larger and later', 'larger and latest'));
  await call('wait', '{*}Much larger and latest');
  const second = (await call('vitals')) as Vitals;
  t.ok(second.cls > first.cls, `${second.cls} is more than ${first.cls}`);
  t.equal(second.ttfb, first.ttfb);
});

t.test('a slow answer to a click is the interaction', async (t) => {
  const slow = 'const end = performance.now() + 300; while (performance.now() < end);';
  await call('go', site.set('/slow', `<!doctype html><title>Slow</title><button onclick="${slow}">Buy</button>`));
  await call('act', '{button}Buy', 'click');
  // The browser tells once a frame with the outcome is presented, which on a busy machine is after the call.
  await eventually('the browser has told of it', async () => {
    const { inp } = (await call('vitals')) as Vitals;
    return inp !== null && inp >= 296;
  });
  await call('go', site.set('/still', '<!doctype html><title>Still</title><h1>Heading</h1>'));
  t.equal(((await call('vitals')) as Vitals).inp, null, 'of this document alone');
});

t.test('a page that has shown nothing has no values, and a wrong option is refused', async (t) => {
  await call('go', site.set('/empty', '<!doctype html><title>Empty</title>'));
  t.match(await call('vitals'), { fcp: null, lcp: null, cls: null, inp: null });
  t.match(await failure('vitals', { limit: 1 }), { code: 'SCRIPT_ERROR', error: /limit/ });
});

t.test('an open dialog is named', async (t) => {
  await call('go', site.set('/ask', '<!doctype html><title>Ask</title><p>Text</p>'));
  await call('page', 'setTimeout(() => confirm("Sure?"))').catch(() => undefined);
  t.match(await failure('vitals'), { code: 'ACTION_FAILED', error: /Sure\?/ });
});
