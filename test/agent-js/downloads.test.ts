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
  const begin = (guid: string): void =>
    observe('Browser.downloadWillBegin', { guid, url: `http://shop.test/${guid}`, suggestedFilename: 'file' });
  const end = (guid: string, state = 'completed'): void =>
    observe('Browser.downloadProgress', { guid, state, receivedBytes: 1, totalBytes: 1 });
  const warnings = () => told.filter(({ type }) => type === 'ConsoleWritten').length;
  return { told, cancelled, begin, end, warnings };
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
