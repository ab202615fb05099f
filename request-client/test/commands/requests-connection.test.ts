import { spawn } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { guardLeaks } from '../../../test/support/leaks.js';
import { CERTIFICATES } from '../engine/connection/certificates.js';
import { startProxy } from '../engine/connection/proxy-server.js';
import { startTls } from '../engine/connection/servers.js';
import { startEcho } from '../window/window-fixture.js';

guardLeaks(t);
const cli = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));
const PROXY_VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'];
for (const name of PROXY_VARIABLES.flatMap((one) => [one, one.toLowerCase()])) delete process.env[name];

async function run(
  args: readonly string[],
  env: { readonly [name: string]: string },
): Promise<{ code: number | null; out: string }> {
  const child = spawn(process.execPath, [cli, 'requests', 'run', ...args], { env: { ...process.env, ...env } });
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, out: out + err };
}

t.test(
  'a run uses the proxy and certificates of its options, of the saved settings, or of the environment',
  async (t) => {
    const [echo, tls] = [await startEcho(t), await startTls(t, { wantsCertificate: true })];
    const [first, second, third] = [
      await startProxy(t, { login: 'ada:s3cret' }),
      await startProxy(t),
      await startProxy(t),
    ];
    const plain = { name: 'plain', request: { method: 'GET', url: `http://shop.test:${new URL(echo.origin).port}/` } };
    const secure = { name: 'secure', request: { method: 'GET', url: `https://shop.test:${tls.port}/` } };
    const pm = "pm.test('ok', () => pm.response.to.have.status(200));";
    const event = [{ listen: 'test', script: { exec: [pm] } }];
    const home = t.testdir({
      'ca.pem': CERTIFICATES.authority,
      'client.pfx': CERTIFICATES.client.pfx,
      'client.pem': CERTIFICATES.client.cert,
      'client.key': CERTIFICATES.client.key,
      'c.json': JSON.stringify({ info: { name: 'c' }, event, item: [plain, secure] }),
    });
    const file = (name: string): string => join(home, name);
    const env = { TROUPE_HOME: home, PFX_PASS: 'sesame', HTTPS_PROXY: third.url, HTTP_PROXY: third.url };

    const flags = ['--proxy', first.url.replace('//', '//ada:s3cret@'), '--ca', file('ca.pem')];
    const cert = ['--cert', `shop.test=${file('client.pfx')}`, '--passphrase', 'PFX_PASS'];
    const junit = file('out.xml');
    const byFlags = await run([file('c.json'), ...flags, ...cert, '--junit', junit], env);
    t.equal(byFlags.code, 0, byFlags.out);
    t.match(first.asked, [{ method: 'GET' }, { method: 'CONNECT', target: `shop.test:${tls.port}` }]);
    t.equal(tls.seen[0]?.client, 'ada');
    t.notMatch(byFlags.out, /s3cret|sesame/);
    t.notOk(existsSync(file('request-settings.json')), 'options are not saved');

    const certificate = { host: '*.test', cert: 'client.pem', key: 'client.key', pfx: '', passphrase: '' };
    const settings = { proxy: 'manual', proxyUrl: second.url, ca: ['ca.pem'], certificates: [certificate] };
    writeFileSync(file('request-settings.json'), JSON.stringify(settings));
    const bySettings = await run([file('c.json')], env);
    t.equal(bySettings.code, 0, bySettings.out);
    t.equal(second.asked.length, 2);

    writeFileSync(file('request-settings.json'), JSON.stringify({ ...settings, proxy: 'environment' }));
    const byEnvironment = await run([file('c.json')], env);
    t.equal(byEnvironment.code, 0, byEnvironment.out);
    t.equal(third.asked.length, 2);

    writeFileSync(file('request-settings.json'), '{"proxy": "somewhere"}');
    t.match(await run([file('c.json')], env), { code: 1, out: /request-settings\.json cannot be read/ });
    t.equal(third.asked.length, 2, 'nothing is sent past settings that cannot be read');
  },
);

t.test('wrong connection options are refused before anything is sent', async (t) => {
  const home = t.testdir({ 'c.json': '{"info": {"name": "c"}, "item": []}' });
  const results = await Promise.all(
    [
      [['--cert', 'client.pfx'], /--cert takes HOST=FILE\.pfx or HOST=CERT\.pem,KEY\.pem/],
      [['--passphrase', 'NOT_SET_ANYWHERE'], /NOT_SET_ANYWHERE, which is not set/],
    ].map(async ([args, says]) => ({
      says: says as RegExp,
      ...(await run([join(home, 'c.json'), ...(args as string[])], { TROUPE_HOME: home })),
    })),
  );
  for (const { says, ...result } of results) t.match(result, { code: 2, out: says });
});

t.test('settings are saved for their owner only', async (t) => {
  const { SettingsFile } = await import('#request-client/window/settings-file.js');
  const path = join(t.testdir({}), 'sub', 'request-settings.json');
  const file = await SettingsFile.open(path);
  const manual = {
    ...file.settings,
    proxy: 'manual' as const,
    proxyUrl: 'proxy.test:3128',
    proxyUser: 'a:b@c',
    proxyPassword: 'd/e',
    noProxy: 'shop.test, 10.0.0.0/8',
  };
  await file.save(manual);
  t.equal(statSync(path).mode & 0o777, 0o600);
  const again = await SettingsFile.open(path);
  t.strictSame(again.settings, manual);
  t.match(again.connection.proxy, {
    http: 'http://a%3Ab%40c:d%2Fe@proxy.test:3128',
    bypass: ['shop.test', '10.0.0.0/8'],
  });
  for (const [change, says] of [
    [{ proxyUrl: '' }, /needs a URL/],
    [{ proxyUrl: 'socks5://h' }, /not supported/],
    [{ certificates: [{ host: 'a b', cert: 'c', key: 'k', pfx: '', passphrase: '' }] }, /'a b' is not a host/],
    [{ certificates: [{ host: 'h', cert: 'c', key: '', pfx: '', passphrase: '' }] }, /needs a certificate and a key/],
    [{ certificates: [{ host: 'h', cert: 'c', key: 'k', pfx: 'p', passphrase: '' }] }, /or a PFX file/],
  ] as const) {
    await t.rejects(again.save({ ...manual, ...change } as typeof manual), { code: 'INVALID_REQUEST', message: says });
  }
  t.strictSame((await SettingsFile.open(path)).settings, manual, 'what is wrong is not saved');
  const nowhere = new SettingsFile(join(path, 'settings.json'));
  await t.rejects(nowhere.save(manual), { code: /^(?:ENOTDIR|EEXIST)$/ });
  t.equal(nowhere.settings.proxyUrl, '', 'what could not be written is not used');
});
