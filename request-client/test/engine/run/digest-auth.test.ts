import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import t from 'tap';
import { importCurl } from '#request-client/curl/import/import-curl.js';
import { digestChallenge, digestHeader } from '#request-client/engine/run/digest-auth.js';
import { HttpSender } from '#request-client/engine/run/send-request.js';
import { guardLeaks } from '../../../../test/support/leaks.js';
import { skipWithout } from '../../../../test/support/programs.js';

guardLeaks(t);

/** A server that checks Digest itself; real curl verifies that it does so correctly. Each nonce is valid for `uses`. */
async function startDigestServer(algorithms: readonly string[], uses: number, qop: string) {
  const nonces = new Map<string, number>();
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const header = request.headers.authorization ?? '';
    const given = Object.fromEntries(
      [...header.matchAll(/(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))/g)].map(([, name, a, b]) => [
        name,
        a?.replace(/\\(.)/g, '$1') ?? b,
      ]),
    );
    const hash = (text: string): string =>
      createHash(/^SHA-256/.test(given.algorithm ?? '') ? 'sha256' : 'md5')
        .update(text)
        .digest('hex');
    const secret = hash('ada "x":the realm, of it:pass:word');
    const a1 = /-sess$/.test(given.algorithm ?? '') ? hash(`${secret}:${given.nonce}:${given.cnonce}`) : secret;
    const a2 = hash(`${request.method}:${request.url}`);
    const middle = given.qop === undefined ? given.nonce : `${given.nonce}:${given.nc}:${given.cnonce}:${given.qop}`;
    const right = given.uri === request.url && given.response === hash(`${a1}:${middle}:${a2}`);
    const left = nonces.get(given.nonce ?? '') ?? 0;
    if (right && left > 0) {
      nonces.set(given.nonce ?? '', left - 1);
      bodies.push(Buffer.concat(chunks).toString());
      if (request.url === '/moved') return void response.writeHead(302, { Location: '/there' }).end();
      return void response.end('in');
    }
    const nonce = randomBytes(8).toString('hex');
    nonces.set(nonce, uses);
    const challenges = algorithms.map(
      (algorithm) =>
        `Digest realm="the realm, of it", nonce="${nonce}", opaque="o\\"q", algorithm=${algorithm}${qop}${right ? ', stale=true' : ''}`,
    );
    response.writeHead(401, { 'WWW-Authenticate': ['Basic realm="other"', ...challenges] }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
}

const sender = new HttpSender();
t.teardown(() => sender.close());

async function statusOf(command: string): Promise<number> {
  const [request] = importCurl(command).requests;
  if (request === undefined) throw new Error('nothing was imported');
  const response = await sender.send(request, { timeoutMs: 20_000, folder: '.' });
  await response.dispose();
  return response.status;
}

t.test(
  'the imported request is accepted if curl --digest is; a wrong password is not',
  { skip: skipWithout('bash', 'curl') },
  async (t) => {
    for (const [algorithms, uses, qop] of [
      [['MD5'], 9, ', qop="auth-int,auth"'],
      [['SHA-256', 'MD5'], 9, ', qop="auth"'],
      [['MD5-sess'], 9, ', qop=auth'],
      [['MD5'], 1, ''],
    ] as const) {
      const { origin, bodies } = await startDigestServer(algorithms, uses, qop);
      const command = `curl --digest -u 'ada "x":pass:word' '${origin}/a?b=c' -d 'x=1'`;
      const { stdout } = await promisify(execFile)('bash', ['-c', `${command} -s`]);
      t.equal(stdout, 'in');
      t.equal(await statusOf(command), 200, `${algorithms}${qop}`);
      t.strictSame(bodies, ['x=1', 'x=1']);
      t.equal(await statusOf(command.replace('pass:word', 'wrong')), 401);
    }
  },
);

t.test('a redirect is authorized for its own URL, also with a stale nonce', async (t) => {
  const { origin, bodies } = await startDigestServer(['SHA-256'], 1, ', qop="auth"');
  t.equal(await statusOf(`curl -L --digest -u 'ada "x":pass:word' ${origin}/moved`), 200);
  t.equal(bodies.length, 2);
});

t.test('the example of RFC 7616 gives the documented result', (t) => {
  const [sha, md5] = ['SHA-256', 'MD5'].map((algorithm) =>
    digestChallenge([
      `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`,
    ]),
  );
  if (sha == null || md5 == null) throw new Error('no challenge');
  const user = { kind: 'digest', username: 'Mufasa', password: 'Circle of Life' } as const;
  const turn = {
    method: 'GET',
    uri: '/dir/index.html',
    count: 1,
    cnonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ',
  };
  t.match(digestHeader(md5, user, turn), 'response="8ca523f5e9506fed4657c9700eebdbec"');
  t.match(digestHeader(sha, user, turn), 'response="753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"');
  t.equal(digestChallenge(['Digest realm="r", nonce="n", algorithm=TOKEN', 'Negotiate']), null);
  t.end();
});
