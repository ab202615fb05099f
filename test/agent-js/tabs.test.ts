import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const lease = await openBrowser(t);
const site = await openSite(t);
const { call, callWithin, failure, look, told } = await openAgent(t, lease);
site.set('/second', '<title>Second</title><h1>Second page</h1><button onclick="window.close()">Close</button>');

t.test('A new tab is followed, listed and left again', async (t) => {
  await call(
    'go',
    site.set(
      '/tabs',
      `<title>First</title><a target=_blank href=/second>Open</a>
    <button onclick="setTimeout(() => window.open('/second', '', 'width=300,height=300'), 20)">Popup</button>`,
    ),
  );
  t.match(await call('act', '{a}Open', 'click'), { changed: true, url: `${site.origin}/second`, title: 'Second' });
  t.equal(await call('text', '{h1}'), 'Second page');
  t.same(await call('tabs'), [
    { index: 0, url: `${site.origin}/tabs`, title: 'First', active: false },
    { index: 1, url: `${site.origin}/second`, title: 'Second', active: true },
  ]);
  t.match(await call('tab', 0), { index: 0, title: 'First', active: true });
  t.match(await look(), { title: 'First' });
  t.match(await call('tab', 1), { title: 'Second' });
  t.match(await call('act', '{button}Close', 'click'), { changed: true, title: 'First' }, 'a tab that closes itself');
  t.match(await failure('tab', 5), { code: 'ACTION_FAILED', error: /no tab 5/ });
  await call('act', '{button}Popup', 'click');
  await call('wait', 'navigation');
  t.match(await look(), { title: 'Second' });
  await call('act', '{button}Close', 'click');
});

t.test('Open dialogs are seen by look and answered by act', async (t) => {
  await call(
    'go',
    site.set(
      '/dialogs',
      `<title>Dialogs</title><p id=out></p>
    <button onclick="alert('Hello')">Alert</button>
    <button onclick="out.textContent = confirm('Sure?')">Confirm</button>
    <button onclick="out.textContent = prompt('Who?', 'nobody')">Prompt</button>
    <button onclick="for (let i = 0; i < 5; i++) alert('Storm ' + i)">Storm</button>`,
    ),
  );
  t.match(await call('act', '{button}Alert', 'click'), { changed: true });
  t.match(await look({ full: true }), {
    title: 'Dialogs',
    dialog: { kind: 'alert', message: 'Hello' },
    elements: [{ role: 'dialog', name: 'OK', locator: '{dialog}OK', actions: ['click'] }],
  });
  t.equal(await call('text', '{dialog}'), 'Hello');
  t.match(await failure('act', '{button}Confirm', 'click'), { code: 'ACTION_FAILED', error: /dialog is open.*Hello/ });
  t.match(await failure('page', '1'), { code: 'ACTION_FAILED' });
  t.match(await failure('screenshot'), { code: 'ACTION_FAILED' });
  t.match(await call('act', '{dialog}OK', 'click'), { changed: true });

  for (const [button, text] of [
    ['OK', 'true'],
    ['Cancel', 'false'],
  ]) {
    await call('act', '{button}Confirm', 'click');
    t.same(
      (await look()).elements.map((element) => element.name),
      ['OK', 'Cancel'],
    );
    await call('act', `{dialog}${button}`, 'click');
    t.equal(await call('text', '#out'), text);
  }
  await call('act', '{button}Prompt', 'click');
  t.equal(await call('value', '{dialog}Input'), 'nobody');
  await call('act', '{dialog}Input', 'input', 'Ada');
  await call('act', '{dialog}OK', 'click');
  t.equal(await call('text', '#out'), 'Ada');

  await call('act', '{button}Storm', 'click');
  for (let answered = 0; answered < 5; answered++) await call('act', '{dialog}OK', 'click');
  t.equal((await look()).dialog, undefined);
  t.match(await call('dialogs'), [
    { kind: 'alert', message: 'Hello', url: `${site.origin}/dialogs` },
    { kind: 'confirm' },
  ]);
  t.equal(told('DialogOpened').length, 9);
});

t.test('A dialog that opens during a call ends the call, not the session', async (t) => {
  await call('go', `${site.origin}/dialogs`);
  await call('page', 'setTimeout(() => alert("Meanwhile"), 100); null');
  const error = await callWithin({ ms: 1_500 }, 'act', '{button}Not there', 'click').catch((thrown) => thrown);
  t.match(error, { code: 'ACTION_FAILED', message: /dialog is open.*Meanwhile/ });
  await call('act', '{dialog}OK', 'click');
  t.equal(await call('page', 'alert("In page code"); 1'), null);
  await call('act', '{dialog}OK', 'click');
});

t.test('Downloads reach the downloads folder, are listed and told', async (t) => {
  site.set('/report', (_, response) => {
    response.writeHead(200, { 'content-disposition': 'attachment; filename="../rep/ort 1.txt"' });
    response.write('some ');
    setTimeout(() => response.end('text'), 100);
  });
  await call('go', site.set('/downloads', '<title>Downloads</title><a href=/report>Get</a>'));
  t.match(await call('act', '{a}Get', 'click'), { url: `${site.origin}/downloads`, title: 'Downloads' });
  await call('act', '{a}Get', 'click');
  const listed = (await call('downloads')) as { name: string; bytes: number; url: string }[];
  t.match(listed, [
    { bytes: 9, url: `${site.origin}/report` },
    { bytes: 9, url: `${site.origin}/report` },
  ]);
  t.same(
    listed.map((download) => download.name),
    ['_rep_ort 1.txt', '_rep_ort 1 (1).txt'],
  );
  for (const { name } of listed) {
    t.notMatch(name, /[/\\]/);
    t.equal(readFileSync(join(lease.endpoint.downloadsDir, name), 'utf8'), 'some text');
  }
  t.same(told('DownloadFinished'), listed);
  t.match(await call('go', `${site.origin}/report`), { url: `${site.origin}/downloads`, title: 'Downloads' });
});

t.test('Page errors are told, few and short', async (t) => {
  const before = told('PageErrorLogged').length;
  await call(
    'go',
    site.set(
      '/errors',
      `<script>
    console.error('Said', { a: 1 }, 'x'.repeat(10000));
    setTimeout(() => { throw new Error('Thrown') }, 0);
    Promise.reject(new TypeError('Rejected'));
  </script>`,
    ),
  );
  await call('wait', 'idle');
  const errors = told('PageErrorLogged').slice(before);
  t.match(errors, [
    { text: /^Said Object x+$/, url: `${site.origin}/errors` },
    { text: /^Error: Thrown/ },
    { text: /^TypeError: Rejected/ },
  ]);
  t.ok(errors.every((error) => error.text.length <= 2_000));
  await call('page', 'for (let i = 0; i < 1000; i++) console.error(i)');
  await call('page', '1');
  t.equal(told('PageErrorLogged').length, 201);
  t.match(told('PageErrorLogged').at(-1), { text: /not recorded/ });
});

t.test('page answers what JSON cannot say in words that it can', async (t) => {
  const value = await call(
    'page',
    '(() => { const ring = { name: "ring" }; ring.self = ring; const twice = { x: 1 }; return { ring, one: twice, two: twice, big: 10n, date: new Date(0), nan: NaN, inf: [1 / 0], call() {}, none: undefined, node: document.body, list: [undefined] } })()',
  );
  t.strictSame(value, {
    ring: { name: 'ring', self: '[Circular]' },
    one: { x: 1 },
    two: { x: 1 },
    big: '10',
    date: '1970-01-01T00:00:00.000Z',
    nan: null,
    inf: [null],
    node: '<body>',
    list: [null],
  });
  t.equal(await call('page', 'Promise.resolve(7)'), 7);
  t.equal(await call('page', 'undefined'), null);
  t.match(await failure('page', 'nowhere.x'), { code: 'SCRIPT_ERROR', error: /ReferenceError: nowhere/ });
  t.match(await failure('page', '}'), { code: 'SCRIPT_ERROR', error: /SyntaxError/ });
  t.match(await failure('page', '"x".repeat(2 ** 27)'), {
    code: 'SCRIPT_ERROR',
    error: /longer than 8388608 characters/,
  });
  t.equal(await call('page', '1'), 1, 'the connection has survived it');
});

t.end();
