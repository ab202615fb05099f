import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Downloads } from '#troupe/agent-js/files/downloads.js';
import type { SessionEvent } from '#troupe/protocol/events.js';
import { openAgent, openReadersBrowser, openSite } from '../support/agent-fixture.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

/** Starts each download, and ends all of them on a message. They take no connections, of which a browser has few. */
const SERVICE_WORKER = `
  const open = [];
  oninstall = () => skipWaiting();
  onactivate = (event) => event.waitUntil(clients.claim());
  onfetch = (event) => {
    if (!new URL(event.request.url).pathname.startsWith('/file')) return;
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(4096));
        open.push(controller);
      },
    });
    event.respondWith(new Response(body, { headers: { 'content-disposition': 'attachment; filename=file.bin' } }));
  };
  onmessage = () => {
    for (const controller of open.splice(0)) {
      try { controller.close(); } catch {}
    }
  };
`;

t.test('the 101st download at once is cancelled, which the console says, and leaves no file', async (t) => {
  const site = await openSite(t);
  // A browser on a desktop asks before it downloads so many at once.
  const lease = await openReadersBrowser(t);
  const { call, told, browser } = await openAgent(t, lease);
  site.set('/worker.js', (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(SERVICE_WORKER);
  });
  const begun = new Set<string>();
  const ended = new Map<string, string>();
  t.teardown(
    browser.listen((event) => {
      if (event.method === 'Browser.downloadWillBegin') begun.add(event.params.guid);
      if (event.method === 'Browser.downloadProgress') ended.set(event.params.guid, event.params.state);
    }),
  );
  const start = `for (let n = 0; n < 105; n += 1) {
    const frame = document.createElement('iframe');
    frame.src = '/file/' + n;
    document.body.append(frame);
  }`;
  const page = `<title>Many</title><button disabled onclick="${start}">Start</button><script>
    navigator.serviceWorker.register('/worker.js');
    navigator.serviceWorker.oncontrollerchange = () => { document.querySelector('button').disabled = false; };
  </script>`;
  await call('go', site.set('/', page));
  void call('act', '{button}Start', 'click').catch(() => undefined);
  const cancelled = () => [...ended.values()].filter((state) => state === 'canceled').length;
  await eventually('105 downloads have begun', () => begun.size >= 105 && cancelled() >= 5);
  t.equal(cancelled(), 5);
  t.match(told('ConsoleWritten'), [{ level: 'warn', text: /^A download was cancelled: 100 downloads are under way/ }]);
  await call('page', 'navigator.serviceWorker.controller.postMessage("end")');
  const listed = (await call('downloads')) as { name: string }[];
  t.equal(listed.length, 100);
  t.equal(readdirSync(lease.endpoint.downloadsDir).length, 100);
});

/** Downloads of which the test tells what a browser would. */
function follow(dir: string) {
  const told: SessionEvent[] = [];
  const cancelled: string[] = [];
  const downloads = new Downloads(dir, {
    emit: (event) => void told.push(event),
    cancel: (guid) => void cancelled.push(guid),
    redact: (text) => text,
  });
  const observe = (method: string, params: object): void =>
    downloads.observe({ method, params, session: undefined } as never);
  const begin = (guid: string, suggestedFilename = 'file'): void =>
    observe('Browser.downloadWillBegin', { guid, url: `http://shop.test/${guid}`, suggestedFilename });
  const end = (guid: string, state = 'completed'): void =>
    observe('Browser.downloadProgress', { guid, state, receivedBytes: 1, totalBytes: 1 });
  const warnings = () => told.filter(({ type }) => type === 'ConsoleWritten').length;
  return { told, cancelled, begin, end, warnings, downloads };
}

t.test('a download that is complete before it can be cancelled is removed', async (t) => {
  const dir = t.testdir({ late: 'x' });
  const { begin, end, cancelled } = follow(dir);
  for (let n = 0; n < 100; n += 1) begin(`${n}`);
  begin('late');
  t.same(cancelled, ['late']);
  end('late');
  while (existsSync(join(dir, 'late'))) await new Promise(setImmediate);
});

t.test('a page that goes on and on starting downloads fills the console once, and again after there was room', (t) => {
  const { begin, end, warnings } = follow(t.testdir({}));
  for (let n = 0; n < 1_000; n += 1) begin(`${n}`);
  t.equal(warnings(), 1);
  end('7', 'canceled');
  for (let n = 1_000; n < 2_000; n += 1) begin(`${n}`);
  t.equal(warnings(), 2);
  t.end();
});

t.test('a browser cannot name a file outside of its folder as its download', async (t) => {
  const root = t.testdir({ secret: 'of the service' });
  const dir = join(root, 'downloads');
  mkdirSync(dir);
  const { begin, end, told } = follow(dir);
  for (const guid of ['../secret', join(root, 'secret'), '..', '.', '', 'x/../../secret', '..\\secret', 'a\0b']) {
    begin(guid);
    end(guid);
  }
  writeFileSync(join(dir, 'plain'), 'x');
  begin('plain');
  end('plain');
  while (told.length === 0) await new Promise(setImmediate);
  t.match(told, [{ type: 'DownloadFinished', data: { name: 'file', bytes: 1 } }]);
  t.ok(existsSync(join(root, 'secret')));
  t.same(readdirSync(dir), ['file']);
});

const bytesOf = (name: string): number => Buffer.byteLength(name);

/** What a site calls a file, and what it is called then: what is cut stands before the extension. */
const LONG: { readonly [what: string]: readonly [suggested: string, extension: string] } = {
  'a long name': [`${'report '.repeat(80)}.pdf`, '.pdf'],
  'a long name of characters of three bytes': [`${'報告'.repeat(120)}.xlsx`, '.xlsx'],
  'a long name of characters outside the basic plane': [`${'👩‍👩‍👧'.repeat(40)}.png`, '.png'],
  'a long name with combining marks': [`${'é'.repeat(200)}.txt`, '.txt'],
  'a long name without an extension': ['x'.repeat(400), ''],
  'a long name that begins with a dot': [`.${'x'.repeat(400)}`, ''],
  'a name whose extension is long': [`report.${'x'.repeat(400)}`, ''],
};

for (const [what, [suggested, extension]] of Object.entries(LONG)) {
  t.test(`${what} is cut, and is one name everywhere`, async (t) => {
    const dir = t.testdir({ one: '1', two: '22', three: '333' });
    const { begin, end, told, downloads } = follow(dir);
    const begun: (string | undefined)[] = [];
    for (const guid of ['one', 'two', 'three']) {
      begin(guid, suggested);
      begun.push(downloads.begun.last?.name);
    }
    for (const guid of ['three', 'one', 'two']) end(guid);
    while (told.length < 3) await new Promise(setImmediate);
    t.equal(new Set(begun).size, 3);
    for (const name of begun.map(String)) {
      t.ok(bytesOf(name) <= 255 && bytesOf(name) > 200, `${bytesOf(name)} bytes`);
      t.ok(name.endsWith(extension), name);
      const stem = name.slice(0, name.length - extension.length).replace(/ \(\d\)$/, '');
      t.ok(suggested.startsWith(stem), 'it is the beginning of what was suggested');
      const [next] = new Intl.Segmenter().segment(suggested.slice(stem.length));
      t.ok(
        new Intl.Segmenter().segment(suggested).containing(stem.length)?.segment === next?.segment,
        'between characters',
      );
    }
    t.same(begun[1]?.slice(-4 - extension.length), ` (1)${extension}`);
    t.same(readdirSync(dir).sort(), [...begun].sort(), 'the files');
    const names = (
      await downloads.list({ signal: new AbortController().signal, deadline: performance.now() + 60_000 })
    ).map(({ name }) => name);
    t.same(names.sort(), [...begun].sort(), 'agent.downloads()');
    t.same(told.map(({ data }) => Reflect.get(data, 'name')).sort(), [...begun].sort(), 'the events');
  });
}

t.test('the answer of an act names the file as it is called', async (t) => {
  const site = await openSite(t);
  const lease = await openReadersBrowser(t);
  const { call } = await openAgent(t, lease);
  const long = `${'report '.repeat(60)}2026.pdf`;
  site.set('/file', (_request, response) => {
    response.writeHead(200, { 'content-disposition': `attachment; filename="${long}"` }).end('x');
  });
  await call('go', site.set('/', '<title>Get</title><a href="/file">Get it</a>'));
  const names: unknown[] = [];
  for (let round = 0; round < 2; round += 1) {
    const { download } = (await call('act', '{a}Get it', 'click')) as { download?: { name: string } };
    names.push(download?.name);
  }
  const listed = (await call('downloads')) as { name: string }[];
  t.same(
    listed.map(({ name }) => name),
    names,
  );
  t.same(readdirSync(lease.endpoint.downloadsDir).sort(), [...names].sort());
  t.ok(names.every((name) => String(name).endsWith('.pdf') && bytesOf(String(name)) <= 255));
});
