import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { Collection } from '#request-client/engine/collection/collection.js';
import { CollectionRunner } from '#request-client/engine/collection-run/collection-runner.js';
import type { RequestResult } from '#request-client/engine/collection-run/result.js';
import { insecureUrls, readOAuthSettings } from '#request-client/engine/oauth/oauth-settings.js';
import { readTokenAnswer } from '#request-client/engine/oauth/token-answer.js';
import { TokenStore } from '#request-client/engine/oauth/token-store.js';
import { freePorts } from '../../../../test/support/free-ports.js';
import { guardLeaks } from '../../../../test/support/leaks.js';

guardLeaks(t);

let granted = 0;
const seen: string[] = [];
/** Grants tokens at `/token`, refuses all of them at `/never`, and answers others with what they got. */
const server = createServer((request, response) => {
  const { url = '', headers } = request;
  if (url === '/token') {
    granted += 1;
    response.end(JSON.stringify({ access_token: `granted-${granted}`, expires_in: 3600 }));
    return;
  }
  seen.push(url);
  response.writeHead(url === '/never' ? 401 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ url, authorization: headers.authorization ?? null }));
});
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve);
});
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
t.teardown(() => {
  server.closeAllConnections();
  server.close();
});
const callbackPorts = await freePorts(1);

const pairs = (values: Record<string, string>): object[] =>
  Object.entries(values).map(([key, value]) => ({ key, value, type: 'string' }));
const script = (listen: 'test' | 'prerequest', ...exec: string[]): object => ({ listen, script: { exec } });
const machine = { grant_type: 'client_credentials', url: `${base}/token`, client_id: 'c', client_secret: 'secret' };

async function run(collection: object, openBrowser: (url: string) => Promise<void> = async () => undefined) {
  const parsed = Collection.parse(JSON.stringify({ info: { name: 'c' }, ...collection }));
  const runner = new CollectionRunner({
    collection: parsed,
    environment: new Map(),
    folder: '.',
    tokens: new TokenStore({ openBrowser, callbackPorts }),
  });
  const results: RequestResult[] = [];
  const bodies: string[] = [];
  try {
    await runner.runAll(parsed.items, async (result) => {
      results.push(result);
      if (result.response?.body.kind === 'memory') bodies.push(result.response.body.bytes.toString());
      await result.response?.dispose();
      return undefined;
    });
  } finally {
    await runner.close();
  }
  return { results, bodies };
}

t.test('a Before script that throws does not keep the request from being sent', async (t) => {
  seen.length = 0;
  const { results } = await run({
    item: [
      {
        name: 'one',
        event: [script('prerequest', 'nothing.here'), script('test', 'pm.test("sent", () => pm.response.to.be.ok)')],
        request: `${base}/sent`,
      },
    ],
  });
  t.strictSame(seen, ['/sent']);
  t.match(results, [
    { response: { status: 200 }, error: { code: 'SCRIPT_ERROR', error: /nothing/ }, tests: [{ status: 'passed' }] },
  ]);
});

t.test('a script that is wrong is reported with its name, its line, and its own text', async (t) => {
  const wrong = [
    ['const a = 1;', 'const b = ;'],
    ['const a = 1;', '', '  pm.nothing.here();'],
    ['missing();'],
    ['await 1; if (true) {'],
  ];
  const { results } = await run({
    item: wrong.map((lines, index) => ({
      name: `n${index}`,
      event: [script('test', ...lines)],
      request: `${base}/wrong`,
    })),
  });
  const errors = results.map(({ error }) => error);
  t.match(errors, [
    { error: "After of n0, line 2: SyntaxError: Unexpected token ';': const b = ;", details: { line: 2, column: 11 } },
    { error: /^After of n1, line 3: TypeError/, details: { line: 3, frame: /> 3 \| {3}pm\.nothing\.here/ } },
    { error: /^After of n2, line 1: ReferenceError/, details: { line: 1, frame: /> 1 \| missing\(\);/ } },
    { error: /^After of n3, line 1: SyntaxError: Unexpected/, details: { line: 1 } },
  ]);
  t.notMatch(JSON.stringify(errors), /\$script/);
});

t.test('a query parameter that is switched off is not sent, though the whole URL has it', async (t) => {
  seen.length = 0;
  const off = { key: 'b', value: '2', disabled: true };
  const a = { key: 'a', value: '1' };
  const item = [
    { raw: `${base}/q?a=1&b=2`, query: [a, off] },
    { raw: `${base}/q?b=2&b=2&a=1#x`, query: [{ key: 'b', value: '2' }, off, a] },
    { raw: `${base}/q?a=1`, query: [a, off] },
    { raw: `${base}/q?b=2`, query: [off] },
    { raw: `${base}/q?a=1&c`, query: [a, { key: 'c', value: null, disabled: true }] },
  ].map((url, index) => ({ name: `n${index}`, request: { url } }));
  await run({ item });
  t.strictSame(seen, ['/q?a=1', '/q?b=2&a=1', '/q?a=1', '/q', '/q?a=1']);
});

t.test('a body or a part whose file was not chosen is refused, and not left out', async (t) => {
  seen.length = 0;
  const bodies = [
    { mode: 'formdata', formdata: [{ key: 'upload', type: 'file', src: '' }] },
    { mode: 'file', file: { src: '' } },
  ];
  const { results } = await run({
    item: bodies.map((body) => ({ name: body.mode, request: { method: 'POST', url: `${base}/form`, body } })),
  });
  t.match(results, [
    { error: { code: 'REQUEST_FAILED', error: /^The part 'upload' is a file without a path; nothing was sent/ } },
    { error: { code: 'REQUEST_FAILED', error: /^The body is a file without a path; nothing was sent/ } },
  ]);
  t.strictSame(seen, []);
});

t.test('an API that always answers 401 costs one refresh, not one a request', async (t) => {
  granted = 0;
  const auth = { type: 'oauth2', oauth2: pairs(machine) };
  const item = Array.from({ length: 5 }, (_, index) => ({
    name: `n${index}`,
    request: { url: `${base}/never`, auth },
  }));
  const { results } = await run({ item });
  t.strictSame(
    results.map(({ response }) => response?.status),
    [401, 401, 401, 401, 401],
  );
  t.equal(granted, 2, 'the first token, and one that replaced it');
});

t.test('a login that was denied is not tried again in the same run', async (t) => {
  const opened: string[] = [];
  const deny = async (url: string): Promise<void> => {
    opened.push(url);
    const { searchParams } = new URL(url);
    const answer = await fetch(
      `${searchParams.get('redirect_uri')}?error=access_denied&state=${searchParams.get('state')}`,
    );
    await answer.text();
  };
  const login = {
    grant_type: 'authorization_code',
    authorizationUrl: `${base}/login`,
    url: `${base}/token`,
    client_id: 'c',
  };
  const auth = { type: 'oauth2', oauth2: pairs(login) };
  const { results } = await run(
    { item: ['a', 'b', 'c'].map((name) => ({ name, request: { url: `${base}/x`, auth } })) },
    deny,
  );
  t.match(
    results,
    [1, 2, 3].map(() => ({ error: { code: 'LOGIN_FAILED', details: { cause: 'DENIED' } } })),
  );
  t.equal(opened.length, 1);
});

t.test('a token goes into the query where the settings say so, and a pasted token is sent', async (t) => {
  const { bodies } = await run({
    item: [
      {
        name: 'query',
        request: {
          url: `${base}/q?a=1`,
          auth: { type: 'oauth2', oauth2: pairs({ ...machine, addTokenTo: 'queryParams' }) },
        },
      },
      {
        name: 'pasted',
        request: {
          url: `${base}/p`,
          auth: { type: 'oauth2', oauth2: pairs({ accessToken: 'pasted-1', headerPrefix: 'Token' }) },
        },
      },
    ],
  });
  t.match(JSON.parse(bodies[0] ?? ''), { url: /^\/q\?a=1&access_token=granted-\d+$/, authorization: null });
  t.match(JSON.parse(bodies[1] ?? ''), { authorization: 'Token pasted-1' });
});

t.test('a lifetime of 0 means that the token has expired', async (t) => {
  t.match(readTokenAnswer(200, '{"access_token":"t","expires_in":0}'), { token: { expiresIn: 0 } });
  t.match(readTokenAnswer(200, '{"access_token":"t","expires_in":-5}'), { token: { expiresIn: 0 } });
  t.match(readTokenAnswer(200, '{"access_token":"t"}'), { token: { expiresIn: null } });
});

t.test('http:// of a provider on another machine has a warning', async (t) => {
  const settings = (url: string) => readOAuthSettings(new Map(Object.entries({ ...machine, url })), (text) => text);
  t.match(insecureUrls(settings('http://login.example/token')), [/Access Token URL http:\/\/login.example.*https/]);
  for (const url of ['https://login.example/token', 'http://localhost:1/t', 'http://127.0.0.1/t', 'http://[::1]/t']) {
    t.strictSame(insecureUrls(settings(url)), [], url);
  }
});

t.test('assignments that have no effect are named', async (t) => {
  const { results } = await run({
    item: [
      {
        name: 'one',
        event: [
          script(
            'prerequest',
            'pm.environment.who = "ada"; pm.globals = 1; pm.request.body = "acts"; pm.request.method = "POST";',
          ),
          script('test', 'pm.request.method = "PUT";'),
        ],
        request: `${base}/x`,
      },
    ],
  });
  t.match(results, [{ error: null, request: { method: 'POST', body: { text: 'acts' } } }]);
  t.match(results[0]?.console, [/pm\.environment\.who/, /pm\.globals/, /pm\.request was changed/]);
});
