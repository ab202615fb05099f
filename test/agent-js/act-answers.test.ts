import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call } = await openAgent(t, lease);
site.set('/next', '<title>Next</title>Next');
site.set('/file', (_request, response) => {
  response.writeHead(200, { 'content-disposition': 'attachment; filename=report.csv', 'content-type': 'text/csv' });
  response.end('a,b');
});

t.test('an answer says what came of the action', async (t) => {
  const html = `<title>Start</title><button onclick="confirm('Sure?')">Ask</button><a href=/next>On</a><a href=/absent>Lost</a>
    <a href=/next target=_blank>Beside</a><a href=/file>Load</a><a href="data:text/plain,x" download=note.txt>Keep</a><a href=#here>Here</a><button>Nothing</button>`;
  const cases: readonly (readonly [locator: string, expected: object, absent: readonly string[]])[] = [
    ['{button}Nothing', { changed: false }, ['dialog', 'newTab', 'download', 'status']],
    ['{a}Here', { changed: true }, ['status', 'newTab']],
    ['{button}Ask', { changed: true, dialog: { kind: 'confirm', message: 'Sure?' } }, ['status', 'newTab']],
    ['{a}On', { changed: true, status: 200, title: 'Next' }, ['newTab', 'dialog', 'download']],
    ['{a}Lost', { changed: true, status: 404, title: 'Nothing here' }, ['newTab']],
    ['{a}Load', { changed: true, download: { name: 'report.csv', url: `${site.origin}/file` } }, ['status', 'newTab']],
    ['{a}Keep', { changed: true, download: { name: 'note.txt' } }, ['status', 'newTab']],
    ['{a}Beside', { changed: true, newTab: 1, status: 200, title: 'Next' }, ['dialog']],
  ];
  for (const [locator, expected, absent] of cases) {
    await call('go', site.set('/start', html));
    const answer = (await call('act', locator, 'click')) as object;
    t.match(answer, expected, locator);
    for (const member of absent) t.notOk(member in answer, `${locator}: no ${member}`);
    if ('dialog' in expected) {
      const after = (await call('act', '{dialog}Cancel', 'click')) as object;
      t.notOk('dialog' in after, 'it has gone');
    }
  }
  t.match(await call('go', site.set('/asks', '<script>alert("Hello")</script>')), {
    dialog: { kind: 'alert', message: 'Hello' },
  });
  await call('act', '{dialog}OK', 'click');
  t.match(await call('go', '/absent'), { status: 404 });
});
