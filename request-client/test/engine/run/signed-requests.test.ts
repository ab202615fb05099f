import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import t from 'tap';
import { Collection } from '#request-client/engine/collection/collection.js';
import { CollectionRunner } from '#request-client/engine/collection-run/collection-runner.js';
import { TokenStore } from '#request-client/engine/oauth/token-store.js';
import { guardLeaks } from '../../../../test/support/leaks.js';

guardLeaks(t);

/** An NTLM challenge of a server without a domain. */
const CHALLENGE = ((): string => {
  const message = Buffer.alloc(48);
  message.write('NTLMSSP\0', 'latin1');
  message.writeUInt32LE(2, 8);
  message.writeUInt32LE(48, 16);
  message.writeUInt32LE(0x00088201, 20);
  message.write('01234567', 24, 'latin1');
  message.writeUInt32LE(48, 44);
  return `NTLM ${message.toString('base64')}`;
})();

async function sent(
  auth: object,
  body?: object,
): Promise<{ authorizations: string[]; sockets: number; status: number }> {
  const authorizations: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const authorization = request.headers.authorization ?? '';
    authorizations.push(authorization);
    sockets.add(request.socket);
    request.resume().once('end', () => {
      const begins = authorization.startsWith('NTLM') && authorizations.length === 1;
      response.writeHead(begins ? 401 : 200, begins ? { 'www-authenticate': CHALLENGE } : {}).end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a?b=c`;
  const collection = Collection.parse(
    JSON.stringify({ info: { name: 'c' }, item: [{ name: 'one', request: { method: 'POST', url, auth, body } }] }),
  );
  const tokens = new TokenStore({ openBrowser: async () => undefined });
  const runner = new CollectionRunner({ collection, environment: new Map(), folder: '.', tokens });
  let status = 0;
  await runner.runAll(collection.items, async ({ response, error }) => {
    if (error !== null) authorizations.push(error.error);
    status = response?.status ?? 0;
    await response?.dispose();
    return undefined;
  });
  await runner.close();
  server.closeAllConnections();
  server.close();
  return { authorizations, sockets: sockets.size, status };
}

const list = (type: string, values: Record<string, string>): object => ({
  type,
  [type]: Object.entries(values).map(([key, value]) => ({ key, value })),
});

t.test('NTLM logs in on one connection', async (t) => {
  const auth = list('ntlm', { username: 'ada', password: 'pw', domain: 'shop' });
  const { authorizations, sockets, status } = await sent(auth, { mode: 'raw', raw: 'text' });
  t.equal(status, 200);
  t.equal(sockets, 1);
  const types = authorizations.map((one) => Buffer.from(one.slice(5), 'base64').readUInt32LE(8));
  t.strictSame(types, [1, 3]);
});

t.test('a JWT is signed with the secret', async (t) => {
  const auth = list('jwt', { algorithm: 'HS256', secret: 'key', payload: '{"sub":"ada"}' });
  const [authorization = ''] = (await sent(auth)).authorizations;
  const [head = '', payload = '', signature] = authorization.replace('Bearer ', '').split('.');
  t.strictSame(JSON.parse(Buffer.from(payload, 'base64url').toString()), { sub: 'ada' });
  t.equal(signature, createHmac('sha256', 'key').update(`${head}.${payload}`).digest('base64url'));
});

t.test('AWS Signature, Hawk and OAuth 1.0 add their header', async (t) => {
  const aws = list('awsv4', { accessKey: 'AK', secretKey: 'SK', region: 'eu-west-1', service: 's3' });
  t.match((await sent(aws)).authorizations, [
    /^AWS4-HMAC-SHA256 Credential=AK\/\d{8}\/eu-west-1\/s3\/aws4_request, SignedHeaders=.*, Signature=[0-9a-f]{64}$/,
  ]);
  const hawk = list('hawk', { authId: 'id', authKey: 'key', algorithm: 'sha256' });
  t.match((await sent(hawk)).authorizations, [/^Hawk id="id", ts="\d+", nonce=".*", mac=".*="$/]);
  const oauth1 = list('oauth1', { consumerKey: 'ck', consumerSecret: 'cs', token: 't', tokenSecret: 'ts' });
  t.match((await sent(oauth1)).authorizations, [
    /^OAuth oauth_consumer_key="ck", .*oauth_signature="[^"]+".*oauth_token="t"/,
  ]);
});

t.test('settings that cannot sign are named', async (t) => {
  const { authorizations } = await sent(list('jwt', { algorithm: 'RS256', privateKey: 'none', payload: '{}' }));
  t.match(authorizations, [/could not be signed \(jwt\)/]);
});
