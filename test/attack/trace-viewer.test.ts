import { request } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { ShareLinks } from '#troupe/auth/share-links.js';
import { TraceViewer } from '#troupe/gateway/trace-viewer/trace-viewer.js';
import { SessionId } from '#troupe/protocol/session.js';
import type { Artifacts } from '#troupe/supervisor/ports/artifacts.js';
import { guardLeaks } from '../support/leaks.js';
import { testedServer } from '../support/tested-server.js';

guardLeaks(t);

const ID = SessionId.parse('k3v9x0p2m7qa');
const clock = { now: () => new Date() };
const vault = {
  fingerprint: (parts: unknown) => Buffer.from(JSON.stringify(parts).padEnd(32)).toString('base64url').slice(0, 43),
};
const traceLinks = new ShareLinks({ vault, clock }, 'trace');
const opened: string[] = [];
const trace: Artifacts['trace'] = async (id) => {
  opened.push(id);
  return { bytes: 5, stream: Readable.from([Buffer.from('trace')]) };
};
const sessions = { traceLinks, artifacts: { trace } } as unknown as Parameters<TraceViewer['open']>[2];
const viewer = new TraceViewer({
  host: '127.0.0.1',
  port: 0,
  allowedHosts: [],
  publicUrl: undefined,
  servicePublicUrl: undefined,
  server: testedServer(),
  onFault: ({ error }) => t.fail(String(error)),
});
t.teardown(() => viewer.close());
const { url } = await viewer.open(ID, '127.0.0.1:4444', sessions);
const { port } = new URL(url);
const path = new URL(new URL(url).searchParams.get('trace') ?? '').pathname;

/** Sent as it stands: `fetch` would tidy up the path. */
function ask(path: string, { method = 'GET', host = `localhost:${port}`, headers = {} } = {}) {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers: { host, ...headers }, agent: false });
    sent.on('error', reject);
    sent.on('response', (answer) => {
      text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }), reject);
    });
    sent.end();
  });
}

t.test('a signed address opens its trace, with no cookie, for this origin alone', async (t) => {
  const answer = await ask(path, { headers: { cookie: 'troupe=x' } });
  t.match(answer, { status: 200, body: 'trace', headers: { 'cross-origin-resource-policy': 'same-origin' } });
  t.equal(answer.headers['set-cookie'], undefined);
  t.equal(answer.headers['access-control-allow-origin'], undefined);
  t.same(opened, [ID]);
});

t.test('an address that is not signed for a trace opens none', async (t) => {
  opened.length = 0;
  const [, , link = ''] = path.split('/');
  const [id = '', until = '', seal = ''] = link.split('.');
  const share = new ShareLinks({ vault, clock }).make(ID, 60).link;
  const expired = new ShareLinks({ vault, clock: { now: () => new Date(0) } }, 'trace').make(ID, 60).link;
  const links = [
    share,
    expired,
    `aaaaaaaaaaaa.${until}.${seal}`,
    `${id}.zzzzzzzzz.${seal}`,
    `${id}.${until}.${'A'.repeat(43)}`,
    `${id}.${until}.${seal.slice(1)}`,
    `${id}.${until}.${seal}x`,
    `${id}.${until}`,
    `${id}..${seal}`,
    id,
    '',
    '.',
    '..',
    '%00',
    `${link}%00`,
    `${link}/..`,
    `../traces/${link}x`,
    `${link.toUpperCase()}`,
    `${link}.${link}`,
    `${encodeURIComponent(`../${link}`)}`,
    'x'.repeat(5_000),
    '__proto__',
  ];
  t.ok(links.length > 20);
  for (const wrong of links) t.match((await ask(`/traces/${wrong}/trace.zip`)).status, /^4/, wrong.slice(0, 80));
  t.same(opened, []);
});

t.test('nothing but the viewer’s own files is served', async (t) => {
  t.match((await ask('/index.html')).headers['content-security-policy'], "connect-src 'self'");
  t.match(await ask('/sw.bundle.js'), { status: 200, headers: { 'content-type': /javascript/ } });
  const paths = [
    '/../package.json',
    '/../../package.json',
    '/..%2fpackage.json',
    '/%2e%2e/package.json',
    '/assets/../../../package.json',
    '/assets/..%2f..%2fpackage.json',
    '/assets//index.html',
    '/assets',
    '/assets/',
    '//etc/passwd',
    '/etc/passwd',
    '/.htaccess',
    '/.js',
    '/..js',
    '/assets/.js',
    '/index.html/',
    '/index.html%00.js',
    '/index.html\\..\\x.js',
    '/file?path=/etc/passwd',
    '/file',
    '/api/sessions',
    '/metrics',
    '/CON.js',
    '/x.js',
    '/sw.bundle.js.map',
    '/traces/',
  ];
  t.ok(paths.length > 20);
  for (const wrong of paths) t.match((await ask(wrong)).status, /^4/, wrong);
});

t.test('no other name, origin or method is let in', async (t) => {
  const hosts = ['evil.example', `evil.example:${port}`, 'localhost.evil.example', '127.0.0.1.nip.io', 'a b', '[::2]'];
  for (const host of hosts) t.match((await ask(path, { host })).status, /^4/, host);
  const origins = [
    'http://127.0.0.1:4444',
    'http://localhost',
    'null',
    'https://evil.example',
    `http://localhost:${Number(port) - 1}`,
  ];
  for (const origin of origins) t.equal((await ask(path, { headers: { origin } })).status, 403, origin);
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    t.equal((await ask(path, { method })).status, 405, method);
  }
});
