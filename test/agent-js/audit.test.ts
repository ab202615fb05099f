import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { agent, call, failure, told } = await openAgent(t, lease);
const page = (body: string) =>
  `<!doctype html><html lang="en"><head><title>Page</title></head><body><main><h1>Page</h1>${body}</main></body></html>`;
const show = (body: string) => call('go', site.set('/page', page(body)));

t.test('a page without barriers passes', async (t) => {
  await show('<button>Save</button>');
  const audit = (await call('audit')) as { violations: unknown[]; passed: number };
  t.same(audit.violations, []);
  t.ok(audit.passed > 5);
});

t.test('a barrier fails the audit, with its rule, its elements and what to do', async (t) => {
  await show('<img src="data:," id="logo"><input id="name">');
  const failed = await failure('audit');
  t.match(failed, { code: 'MATCH_FAILED' });
  t.match(failed.error, /breaks 2 rules.*critical/s);
  t.match(failed.details?.failures, [
    { path: 'image-alt', message: /critical: .*#logo/ },
    { path: 'label', message: /critical: .*#name/ },
  ]);
  await agent.settle();
  t.match(told('StepFinished').at(-1), { js: 'agent.audit()', error: { code: 'MATCH_FAILED' } });
});

t.test('impact says what fails, and the rest is returned', async (t) => {
  await show('<h4>Too deep</h4>');
  type Result = { violations: { id: string; impact: string; count: number }[] };
  const { violations } = (await call('audit')) as Result;
  t.match(violations, [{ id: 'heading-order', impact: 'moderate', count: 1 }]);
  t.match(await failure('audit', { impact: 'moderate' }), { code: 'MATCH_FAILED', error: /heading-order/ });
  await show('<img src="data:,">');
  t.match(((await call('audit', { impact: 'none' })) as Result).violations, [{ id: 'image-alt' }]);
});

t.test('a part of the page, its exceptions and rules by tag can be chosen', async (t) => {
  await show('<section><img src="data:,"></section><aside><button>Go</button></aside>');
  t.match(await call('audit', { within: 'aside' }), { violations: [] });
  t.match(await call('audit', { exclude: ['section'] }), { violations: [] });
  t.match(await call('audit', { tags: 'best-practice' }), { violations: [] });
  t.match(await failure('audit', { tags: ['wcag2a'] }), { error: /image-alt/ });
});

t.test('a page that allows no scripts and has replaced built-ins is audited, and sees nothing of it', async (t) => {
  const url = site.set('/strict', (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': "script-src 'unsafe-inline'" });
    response.end(
      page('<script>Array.prototype.map = null; JSON.stringify = null</script><img src="data:,"><iframe></iframe>'),
    );
  });
  await call('go', url);
  t.match(await failure('audit'), { error: /image-alt/ });
  t.match(await call('audit', { impact: 'none' }), { frames: 1 });
  await show('<p>Plain</p>');
  await call('audit');
  t.equal(await call('page', 'typeof axe'), 'undefined');
});

t.test('what is written wrongly is refused', async (t) => {
  await show('<p>Plain</p>');
  for (const [options, code, why] of [
    [{ impact: 'bad' }, 'SCRIPT_ERROR', /minor, moderate, serious, critical or none/],
    [{ within: '{button}Save' }, 'SCRIPT_ERROR', /take CSS/],
    [{ exclude: [1] }, 'SCRIPT_ERROR', /take CSS/],
    [{ tag: 'x' }, 'SCRIPT_ERROR', /no option "tag"/],
    [{ within: 'p:not(' }, 'SCRIPT_ERROR', /agent\.audit: /],
    [{ within: '#none' }, 'LOCATOR_NOT_FOUND', /no element matches #none/],
  ] as const) {
    t.match(await failure('audit', options), { code, error: why }, JSON.stringify(options));
  }
});
