import t from 'tap';
import { DevToolsFilter } from '#troupe/gateway/tunnel/devtools-filter.js';
import { seededRandom } from '../chaos/seeded-random.js';
import { guardLeaks } from '../support/leaks.js';
import { sampled } from '../support/sampled.js';
import { SEED } from '../support/seed.js';

guardLeaks(t);

const DOWNLOADS = '/s/downloads';
const UPLOADS = '/s/uploads';
const filter = new DevToolsFilter({ id: 'abc', downloadsDir: DOWNLOADS, uploadsDir: UPLOADS });
const judge = (text: string) => filter.judge(Buffer.from(text), true);

/** What no client may have the browser do, whatever else stands in the message. */
const FORBIDDEN = `
  Browser.close Browser.crash Browser.crashGpuProcess Browser.executeBrowserCommand Browser.getBrowserCommandLine
  Cast.enable Cast.startTabMirroring DOM.getFileInfo Extensions.getStorageItems Extensions.loadUnpacked
  HeadlessExperimental.beginFrame Memory.forciblyPurgeJavaScriptMemory Memory.getBrowserSamplingProfile
  Memory.simulatePressureNotification NodeRuntime.enable NodeWorker.sendMessageToWorker PWA.install
  PWA.launchFilesInApp Page.addCompilationCache Page.crash Page.handleFileChooser SystemInfo.getInfo
  Target.exposeDevToolsProtocol Target.getDevToolsTarget Target.openDevTools Target.sendMessageToTarget
  Target.setRemoteLocations Tethering.bind
`
  .trim()
  .split(/\s+/);

/** Each letter in turn as an escape of JSON, in both cases of its digits. */
function escapes(method: string): string[] {
  return [...method].flatMap((letter, at) => {
    const code = letter.charCodeAt(0).toString(16).padStart(4, '0');
    return [...new Set([code, code.toUpperCase()])].map(
      (digits) => `${method.slice(0, at)}\\u${digits}${method.slice(at + 1)}`,
    );
  });
}

const wholly = (method: string) => [...method].map((letter) => escapes(letter)[0]).join('');

t.test('No spelling of a forbidden command reaches the browser', async (t) => {
  for (const method of FORBIDDEN) {
    const spellings = [method, wholly(method), ...escapes(method)].flatMap((spelt) => [
      `{"id":1,"method":"${spelt}"}`,
      `{"id":1,"method":"Page.enable","method":"${spelt}"}`,
      `\n{\t"params" : {} ,"\\u006dethod"\r:"${spelt}","id":1,"sessionId":"S"}`,
    ]);
    t.notOk(
      spellings.find((text) => judge(text).kind === 'forward'),
      method,
    );
  }
});

t.test('What only looks like a command to one of two readers is refused, or goes on in one reading', async (t) => {
  const bad = 'Browser.crash';
  const near = [
    'browser.crash',
    'BROWSER.CRASH',
    'Browser.Crash',
    ' Browser.crash',
    'Browser.crash ',
    'Browser.crash\0',
  ];
  const odd = ['Browser..crash', 'Browser', '.crash', '', 'Browser.', 'Page.enable\0', 'Page.__proto__', '__proto__.x'];
  const names = [
    ...near,
    ...odd,
    'constructor.name',
    'Runtime.',
    'Runtime.évaluate',
    'Runtime.evaluate\n',
    'Ｂrowser.crash',
  ];
  const nested = JSON.stringify({ id: 1, method: bad });
  const texts = [
    ...names.map((method) => JSON.stringify({ id: 1, method })),
    `[${nested}]`,
    `[[${nested}]]`,
    JSON.stringify(nested),
    `${nested}${nested}`,
    `${nested}\n${nested}`,
    `${nested}\0{"id":2,"method":"Page.enable"}`,
    `{"id":2,"method":"Page.enable"}\0${nested}`,
    `\uFEFF{"id":2,"method":"Page.enable"}`,
    `//\n{"id":2,"method":"Page.enable"}`,
    `{'id':2,'method':'Page.enable'}`,
    `{"id":2,"method":"Page.enable",}`,
    `{"id":2,"method":["${bad}"]}`,
    `{"id":2,"method":{"toString":"${bad}"}}`,
    `{"id":2,"method":"Page.enable","Method":"${bad}"}`,
    `{"id":2,"method":"Page.enable","message":${JSON.stringify(nested)}}`,
    `{"id":2,"method":"Page.enable","__proto__":${nested}}`,
    `{"id":2,"method":"Page.enable","constructor":${nested}}`,
    `{"id":2,"method":"Page.enable","jsonrpc":"2.0"}`,
    `{"__proto__":${nested}}`,
    `{"id":1e999,"method":"Page.enable"}`,
    `{"id":1.5,"method":"Page.enable"}`,
    `{"id":4294967296,"method":"Page.enable"}`,
    `{"id":true,"method":"Page.enable"}`,
    `{"method":"Page.enable"}`,
    `{"id":2,"method":"Page.enable","params":"{}"}`,
    `{"id":2,"method":"Page.enable","params":[${nested}]}`,
    `{"id":2,"method":"Page.enable","params":{"a":1e999}}`,
    `{"id":2,"method":"Page.enable","params":{"a":[[-1e999]]}}`,
    `{"id":2,"method":"Page.enable","sessionId":null}`,
    `{"id":2,"method":"Page.enable","sessionId":["S"]}`,
    JSON.stringify({ id: 2, method: 'Page.enable', sessionId: 'S'.repeat(1000) }),
    `{"id":2,"method":"Page.enable","params":{"a":${'['.repeat(400)}${']'.repeat(400)}}}`,
    `{"id":2,"method":"Page.enable","params":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
    '['.repeat(500_000),
    `{"id":2,"method":"Page.enable","params":{"a":[${'{},'.repeat(1_000_000)}1]}}`,
    '',
    'null',
    '1',
    '"',
  ];
  for (const text of texts) t.not(judge(text).kind, 'forward', text.slice(0, 100));
});

t.test('Commands for another target do not come inside of a command', async (t) => {
  for (const flatten of [undefined, false, null, 0, 1, 'true', [true], {}]) {
    for (const method of ['Target.attachToTarget', 'Target.setAutoAttach']) {
      const params = { targetId: 'T', autoAttach: true, waitForDebuggerOnStart: false, flatten };
      t.not(judge(JSON.stringify({ id: 1, method, params })).kind, 'forward', `${method} ${JSON.stringify(flatten)}`);
    }
  }
  const inherited =
    '{"id":1,"method":"Target.setAutoAttach","params":{"autoAttach":true,"__proto__":{"flatten":true}}}';
  t.not(judge(inherited).kind, 'forward');
  t.not(judge('{"id":1,"method":"Target.attachToTarget","params":{"flatten":true,"flatten":false}}').kind, 'forward');
});

/** No page may open these, in whatever way the address is written. */
const ADDRESSES = [
  'file:///etc/passwd',
  'FILE:///etc/passwd',
  'fIlE:/etc/passwd',
  'file:etc/passwd',
  'file://localhost/etc/passwd',
  'file:\\\\\\etc\\passwd',
  ' file:///etc/passwd',
  '\u0000file:///etc/passwd',
  '\u001f \tfile:///etc/passwd',
  '\nfile:///etc/passwd',
  'f\tile:///etc/passwd',
  'fi\nle:///etc/passwd',
  'fil\r\ne:///etc/passwd',
  'file\t:///etc/passwd',
  'file:///etc/passwd#http://a/',
  'file:///etc/passwd?http://a/',
  'view-source:file:///etc/passwd',
  'view-source:view-source:file:///etc/passwd',
  'VIEW-SOURCE:http://a/',
  'filesystem:file:///temporary/x',
  'filesystem:http://a/temporary/x',
  'blob:file:///0-1',
  'blob:chrome://settings/0-1',
  'blob: file:///0-1',
  'chrome://version',
  'Chrome://settings',
  'chrome:version',
  'chrome-untrusted://terminal',
  'chrome-extension://abcdefghijklmnop/x.html',
  'chrome-search://x',
  'chrome-error://chromewebdata/',
  'devtools://devtools/bundled/inspector.html',
  'about:version',
  'ABOUT:gpu',
  'about:crash',
  'about:blank/../version',
  'about:BLANK',
  'about:',
  'javascript:location="file:///"',
  'isolated-app://x/',
  'content://x/',
  'ftp://a/',
  'localhost:4000',
  '/etc/passwd',
  '//etc/passwd',
  'etc/passwd',
  'http:',
  'http://',
  'http://a b/',
];

t.test('No page opens a file or a page of the browser itself, however its address is written', async (t) => {
  const asked = (method: string, params: object) => judge(JSON.stringify({ id: 1, method, params })).kind;
  for (const url of ADDRESSES) {
    const name = JSON.stringify(url);
    t.not(asked('Page.navigate', { url }), 'forward', `navigate ${name}`);
    t.not(asked('Target.createTarget', { url }), 'forward', `createTarget ${name}`);
    t.not(asked('Network.loadNetworkResource', { frameId: 'F', url, options: {} }), 'forward', `load ${name}`);
    t.not(asked('Fetch.continueRequest', { requestId: 'R', url }), 'forward', `continue ${name}`);
    t.not(asked('Network.continueInterceptedRequest', { interceptionId: 'R', url }), 'forward', `intercepted ${name}`);
    if (url === '') continue;
    for (const data of [url, `http://a/\r\n${url}`, `# links\n${url}\nhttp://a/`]) {
      const items = [
        { mimeType: 'text/plain', data: 'x' },
        { mimeType: 'Text/URI-List', data },
      ];
      const params = { type: 'drop', x: 1, y: 1, data: { items, dragOperationsMask: 1 } };
      // What is no link at all opens nothing, but it is refused as well.
      t.not(asked('Input.dispatchDragEvent', params), 'forward', `drop ${JSON.stringify(data)}`);
    }
  }
  for (const url of [null, 1, {}, ['file:///'], undefined]) t.not(asked('Page.navigate', { url }), 'forward');
  t.equal(asked('Page.navigate', { url: 'http://a/file:///etc/passwd' }), 'forward');
});

const PATHS = [
  '/etc/passwd',
  '//etc/passwd',
  `${UPLOADS}/../downloads/x`,
  `${UPLOADS}/../../etc/passwd`,
  `${UPLOADS}/../uploads2/x`,
  `${UPLOADS}2/x`,
  `${UPLOADS}`,
  `${UPLOADS}/`,
  `${UPLOADS}/.`,
  `${UPLOADS}/..`,
  `${UPLOADS}/a/b`,
  `${UPLOADS}/a/../../x`,
  `${UPLOADS}/x\0`,
  `${UPLOADS}/\0/../../x`,
  `${UPLOADS}\0/x`,
  `${UPLOADS}/..\\x`,
  `${UPLOADS}/${'x'.repeat(300)}`,
  `${DOWNLOADS}/x`,
  '..',
  '.',
  '',
  '../downloads/x',
  '../../etc/passwd',
  'a/b',
  '~/x',
  '$HOME/x',
  'file:///etc/passwd',
  `file://${UPLOADS}/x`,
  'C:\\x',
  '\\\\host\\x',
  '/proc/self/environ',
  '/S/UPLOADS/x',
];

t.test('No file outside of the uploads is given to a page', async (t) => {
  for (const path of PATHS) {
    for (const files of [[path], ['good.txt', path], [path, `${UPLOADS}/good.txt`]]) {
      const data = { items: [], files, dragOperationsMask: 1 };
      for (const [method, params] of [
        ['DOM.setFileInputFiles', { files, nodeId: 1 }],
        ['Input.dispatchDragEvent', { type: 'drop', x: 1, y: 1, data }],
      ]) {
        t.not(judge(JSON.stringify({ id: 1, method, params })).kind, 'forward', `${method} ${JSON.stringify(files)}`);
      }
    }
  }
  for (const files of [
    undefined,
    null,
    '/etc/passwd',
    { 0: '/etc/passwd', length: 1 },
    [null],
    [['/etc/passwd']],
    [1],
  ]) {
    const text = JSON.stringify({ id: 1, method: 'DOM.setFileInputFiles', params: { files } });
    t.not(judge(text).kind, 'forward', text);
  }
  const twice = `{"id":1,"method":"DOM.setFileInputFiles","params":{"files":["good.txt"],"f\\u0069les":["/etc/passwd"]}}`;
  t.not(judge(twice).kind, 'forward');
});

t.test('Downloads, proxies and traces of the machine are never as the client says', async (t) => {
  const forwarded = (text: string) => {
    const verdict = judge(text);
    return verdict.kind === 'forward' ? JSON.parse(verdict.text).params : undefined;
  };
  for (const key of ['downloadPath', '\\u0064ownloadPath', 'downloadPath":"/x","downloadPath']) {
    for (const method of [
      'Browser.setDownloadBehavior',
      'Page.setDownloadBehavior',
      wholly('Page.setDownloadBehavior'),
    ]) {
      const params = forwarded(`{"id":1,"method":"${method}","params":{"behavior":"allow","${key}":"/etc"}}`);
      t.match(params, { behavior: 'allowAndName', downloadPath: DOWNLOADS });
    }
  }
  for (const key of ['proxyServer', 'proxyBypassList', 'p\\u0072oxyServer', 'proxyServer":"","proxyServer']) {
    t.same(forwarded(`{"id":1,"method":"Target.createBrowserContext","params":{"${key}":"http://a"}}`), {});
  }
  for (const params of ['"perfettoConfig":"CgA="', '"perfettoConfig":null', '"tracingBackend":"system"']) {
    t.equal(forwarded(`{"id":1,"method":"Tracing.start","params":{${params}}}`), undefined);
  }
});

/** Good and bad commands that the fuzz begins with. */
const SEEDS: readonly { readonly method: string; readonly params?: object; readonly sessionId?: string }[] = [
  ...FORBIDDEN.map((method) => ({ method })),
  { method: 'Page.enable', sessionId: 'S' },
  { method: 'Runtime.evaluate', params: { expression: 'fetch("file:///etc/passwd")' }, sessionId: 'S' },
  { method: 'Page.navigate', params: { url: 'http://a/' } },
  { method: 'Browser.setDownloadBehavior', params: { behavior: 'allow', downloadPath: '/etc', eventsEnabled: true } },
  { method: 'Page.setDownloadBehavior', params: { behavior: 'allow', downloadPath: '/etc' } },
  { method: 'Target.sendMessageToTarget', params: { message: '{"id":1,"method":"Browser.crash"}', sessionId: 'S' } },
  { method: 'Target.setAutoAttach', params: { autoAttach: true, waitForDebuggerOnStart: true, flatten: true } },
  { method: 'Target.createBrowserContext', params: { proxyServer: 'http://a', disposeOnDetach: true } },
  { method: 'Tracing.start', params: { perfettoConfig: 'CgA=', transferMode: 'ReturnAsStream' } },
  { method: 'Fetch.continueRequest', params: { requestId: 'R', url: 'https://a/' } },
  ...ADDRESSES.slice(0, 20).map((url) => ({ method: 'Target.createTarget', params: { url } })),
  ...PATHS.slice(0, 20).map((path) => ({ method: 'DOM.setFileInputFiles', params: { files: [path, 'good'] } })),
];

type Mutation = (text: string, pick: <T>(from: readonly T[]) => T, at: () => number) => string;

const splice = (text: string, at: number, drop: number, put: string) => text.slice(0, at) + put + text.slice(at + drop);
const asJson = (method: string) =>
  JSON.stringify({ id: 2, method, params: { files: ['/etc/passwd'], url: 'file:///' } });

const MUTATIONS: readonly Mutation[] = [
  (text, _pick, at) => {
    const place = at();
    const letter = text[place] ?? ' ';
    return /[A-Za-z.:/]/.test(letter)
      ? splice(text, place, 1, `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
      : text;
  },
  (text, pick) => text.replace('{', `{"method":"${pick(FORBIDDEN)}",`),
  (text, pick) => text.replace(/\}$/, `,"method":"${pick(FORBIDDEN)}"}`),
  (text, pick) => text.replace('"params":{', `"params":{"url":${JSON.stringify(pick(ADDRESSES))},`),
  (text, pick) => text.replace('"params":{', `"params":{"files":[${JSON.stringify(pick(PATHS))}],`),
  (text, pick) => text.replace('"params":{', `"params":{"__proto__":${asJson(pick(FORBIDDEN))},`),
  (text, pick) => text.replace('"params":{', `"params":{"message":${JSON.stringify(asJson(pick(FORBIDDEN)))},`),
  (text, pick) => text.replace(/"method":"[^"]*"/, `"method":"${pick(SEEDS).method}"`),
  (text, pick, at) =>
    splice(text, at(), 0, pick([' ', '\n', '\t', '\0', '\uFEFF', '\u2028', ',', '"', '\\', '{}', '[]', 'null'])),
  (text, pick, at) => splice(text, at(), 1, pick(['', 'x', '"', '}', ':', 'é', '\ud800'])),
  (text) => `[${text}]`,
  (text, pick) => `${text}${pick(['', '\n', '\0'])}${asJson(pick(FORBIDDEN))}`,
  (text) => text.toUpperCase(),
];

const OPENS = [
  'Fetch.continueRequest',
  'Network.continueInterceptedRequest',
  'Network.loadNetworkResource',
  'Page.navigate',
  'Target.createTarget',
];

/** What is wrong with a text that goes to the browser; written without a look at how the filter decides. */
function fault(text: string): string | null {
  const message = JSON.parse(text);
  // One reading: written again it is the same, so no key is there twice and nothing is spelt in another way.
  if (JSON.stringify(message) !== text) return 'two readings';
  if (/[\0\n\r]/.test(text)) return 'frames of its own';
  if (Object.keys(message).some((key) => !['id', 'method', 'params', 'sessionId'].includes(key))) return 'other keys';
  const { id, method, params } = message;
  if (!Number.isInteger(id) || typeof method !== 'string') return 'no command';
  if (FORBIDDEN.includes(method)) return `forbidden: ${method}`;
  if (/^(?:Extensions|Tethering|Cast|PWA|HeadlessExperimental|Node)/.test(method)) return `forbidden domain: ${method}`;
  if (['Browser.setDownloadBehavior', 'Page.setDownloadBehavior'].includes(method) && params.downloadPath !== DOWNLOADS)
    return 'downloads elsewhere';
  if (/^Target\.(?:attachToTarget|setAutoAttach)$/.test(method) && params.flatten !== true) return 'not flat';
  if (method === 'Target.createBrowserContext' && ('proxyServer' in params || 'proxyBypassList' in params)) {
    return 'a proxy';
  }
  if (method === 'Tracing.start' && 'perfettoConfig' in params) return 'a config that nobody reads';
  if (OPENS.includes(method) && params.url) {
    if (!/^(?:https?|wss?|data|blob|about:(?:blank|srcdoc)(?![^?#]))/i.test(params.url)) return `opens ${params.url}`;
  }
  const files: readonly string[] = params.files ?? params.data?.files ?? [];
  if (!['DOM.setFileInputFiles', 'Input.dispatchDragEvent'].includes(method)) return null;
  return files.every((file) => /^\/s\/uploads\/[^/]+$/.test(file) && !/\/\.\.?$/.test(file)) ? null : `gives ${files}`;
}

t.test('Of messages that were changed at random nothing forbidden is forwarded', async (t) => {
  const all = Array.from({ length: 1_000_000 }, (_, index) => SEED + index);
  const rounds = sampled(all, { name: 'devtools-filter', count: 40_000 });
  let forwarded = 0;
  for (const seed of rounds) {
    const random = seededRandom(seed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    let text = JSON.stringify({ id: 1, ...pick(SEEDS) });
    for (let times = Math.floor(random() * 4); times > 0; times -= 1) {
      const { length } = text;
      text = pick(MUTATIONS)(text, pick, () => Math.floor(random() * length));
    }
    const verdict = judge(text);
    if (verdict.kind !== 'forward') continue;
    forwarded += 1;
    const wrong = fault(verdict.text);
    if (wrong !== null) {
      t.fail(`${wrong}: ${JSON.stringify(text)} became ${verdict.text}`);
      return;
    }
  }
  t.ok(forwarded > rounds.length / 20, `${forwarded} of ${rounds.length} went on`);
});
