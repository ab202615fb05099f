import t from 'tap';
import { DevToolsFilter } from '#troupe/actors/session/filter/devtools-filter.js';
import { guardLeaks } from '../../support/leaks.js';

guardLeaks(t);

const places = { id: 'abc', downloadsDir: '/s/downloads', uploadsDir: '/s/uploads' };
const filter = new DevToolsFilter(places);
const judge = (text: string) => filter.judge(Buffer.from(text), true);

/** The verdict on a command, with its text parsed. */
function told(method: string, params?: unknown, more: object = {}) {
  const verdict = judge(JSON.stringify({ id: 1, method, params, ...more }));
  if (verdict.kind === 'close') return { close: verdict.command };
  const { text } = verdict;
  return verdict.kind === 'answer'
    ? { answer: JSON.parse(text) }
    : { forward: JSON.parse(text), sessionId: verdict.sessionId };
}

t.test('A command is forwarded as parsed, with its session named separately', async (t) => {
  const verdict = judge(
    ' {"sessionId":"S", "method" : "P\\u0061ge.reload","id":7.0,"params":{"a":1,"a":2,"b":"\\u0000\\ud800é"}}\n',
  );
  t.same(verdict, {
    kind: 'forward',
    text: '{"id":7,"method":"Page.reload","params":{"a":2,"b":"\\u0000\\ud800é"},"sessionId":"S"}',
    sessionId: 'S',
  });
  t.match(told('Page.reload'), { forward: { id: 1, method: 'Page.reload' }, sessionId: undefined });
  t.match(told('Page.reload', null), { forward: { params: {} } }, 'null is no parameters');
  t.same(
    told('Page.reload', {}, { sessionId: '' }).sessionId,
    undefined,
    'an empty session is the browser, as to Chromium',
  );
});

t.test('A message that is not a command gets a JSON-RPC error', async (t) => {
  const answer = (text: string) => {
    const verdict = judge(text);
    return verdict.kind === 'answer' ? JSON.parse(verdict.text) : verdict;
  };
  t.match(answer('{"id":1,'), { id: null, error: { code: -32700 } });
  t.match(answer('[{"id":1,"method":"Page.enable"}]'), { id: null, error: { code: -32600, message: /each message/ } });
  t.match(answer('{"id":"1","method":"Page.enable"}'), { id: null, error: { code: -32600, message: /integer/ } });
  t.match(answer('{"id":1,"method":1,"sessionId":"S"}'), { id: 1, sessionId: 'S', error: { message: /"method"/ } });
  t.match(answer('{"id":1,"method":"Page.enable","params":[]}'), { id: 1, error: { message: /"params"/ } });
  t.match(answer('{"id":1,"method":"Page.enable","__proto__":{}}'), { id: 1, error: { message: /__proto__/ } });
  const binary = filter.judge(Buffer.from('{"id":1,"method":"Page.enable"}'), false);
  t.match(binary, { kind: 'answer', text: /binary/ });
});

t.test('A client that closes the browser waits for the answer in its own protocol session', async (t) => {
  t.match(told('Browser.close', {}, { sessionId: 'S' }), { close: { id: 1, sessionId: 'S' } });
  t.match(told('Browser.crash', {}, { sessionId: 'S' }), {
    answer: { id: 1, sessionId: 'S', error: { code: -32000 } },
  });
});

t.test("Downloads go to the session's folder, and a page keeps its own context", async (t) => {
  const elsewhere = { behavior: 'allow', downloadPath: '/etc', eventsEnabled: true, browserContextId: 'C' };
  t.same(told('Browser.setDownloadBehavior', elsewhere).forward.params, {
    behavior: 'allowAndName',
    downloadPath: '/s/downloads',
    eventsEnabled: true,
    browserContextId: 'C',
  });
  t.same(told('Page.setDownloadBehavior', { behavior: 'allow', downloadPath: '/etc' }, { sessionId: 'S' }).forward, {
    id: 1,
    method: 'Page.setDownloadBehavior',
    params: { behavior: 'allowAndName', downloadPath: '/s/downloads' },
    sessionId: 'S',
  });
});

t.test('A new browser context gets no proxy of its own', async (t) => {
  const params = { disposeOnDetach: true, proxyServer: 'http://127.0.0.1:1', proxyBypassList: '<-loopback>' };
  t.same(told('Target.createBrowserContext', params).forward.params, { disposeOnDetach: true });
});

t.test("Files come from the session's uploads, by path or by name", async (t) => {
  const files = ['/s/uploads/cv.pdf', '/s/downloads/../uploads//b.txt', 'c.txt'];
  t.same(told('DOM.setFileInputFiles', { files, nodeId: 3 }).forward.params, {
    nodeId: 3,
    files: ['/s/uploads/cv.pdf', '/s/uploads/b.txt', '/s/uploads/c.txt'],
  });
  const refused = told('DOM.setFileInputFiles', { files: ['/etc/passwd'] });
  t.match(refused, {
    answer: { error: { message: /\/etc\/passwd.*PUT .*\/api\/sessions\/abc\/files\/NAME.*\/s\/uploads/ } },
  });
  const data = { items: [], files: ['cv.pdf'], dragOperationsMask: 1 };
  t.same(told('Input.dispatchDragEvent', { type: 'drop', x: 1, y: 1, data }).forward.params.data, {
    ...data,
    files: ['/s/uploads/cv.pdf'],
  });
});

t.test('Pages may open URLs of the network, or with their content in the message', async (t) => {
  const lines = 'data:text/html,<pre>a\n\tb</pre>';
  for (const url of ['http://a/b?c#d', 'https://a/', 'about:blank', 'about:srcdoc', 'blob:http://a/0-1', lines]) {
    t.equal(told('Page.navigate', { url }).forward?.params.url, url);
    t.equal(told('Target.createTarget', { url, width: 1 }).forward?.params.url, url);
  }
  t.equal(told('Target.createTarget', { url: '' }).forward?.params.url, '');
  t.equal(told('Page.navigate', { url: ' HT\ntp:\\\\a' }).forward?.params.url, 'http://a/', 'as it was understood');
  t.match(
    told('Page.navigate', { url: 'no address' }),
    { answer: { error: { message: 'Cannot navigate to invalid URL' } } },
    'as the browser says it',
  );
  t.match(told('Page.navigate', { url: 'localhost:4000' }), { answer: { error: { message: /whole URL.*http:/ } } });
  t.match(told('Fetch.continueRequest', { requestId: 'r' }), { forward: { params: { requestId: 'r' } } });
});

t.test('A refusal says what to use instead', async (t) => {
  t.match(told('Target.sendMessageToTarget', { message: '{}' }), { answer: { error: { message: /"sessionId"/ } } });
  t.match(told('Target.attachToTarget', { targetId: 'T' }), { answer: { error: { message: /"flatten": true/ } } });
  t.match(told('Extensions.loadUnpacked', { path: '/' }), { answer: { error: { message: /addScriptToEvaluate/ } } });
  t.match(told('Tracing.start', { perfettoConfig: '' }), { answer: { error: { message: /"traceConfig"/ } } });
  t.match(told('Nothing.known'), { answer: { error: { message: /"Nothing.known" is refused/ } } });
  const long = told('x'.repeat(1_000_000)).answer.error.message;
  t.ok(long.length < 300, 'and is short');
});

t.test('A large file in one message passes, and its letters do not count as values', async (t) => {
  const content = '[{,"\\'.repeat(3_000_000);
  const verdict = judge(
    JSON.stringify({ id: 1, method: 'Runtime.callFunctionOn', params: { arguments: [{ value: content }] } }),
  );
  t.equal(verdict.kind, 'forward');
});
