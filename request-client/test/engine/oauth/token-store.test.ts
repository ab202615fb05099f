import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { type OAuthSettings, readOAuthSettings } from '#request-client/engine/oauth/oauth-settings.js';
import { RunTokens } from '#request-client/engine/oauth/run-tokens.js';
import { TokenStore } from '#request-client/engine/oauth/token-store.js';
import { openBrowser } from '#troupe/terminal/open-browser.js';
import { freePorts } from '../../../../test/support/free-ports.js';
import { guardLeaks } from '../../../../test/support/leaks.js';
import { LOGIN_BROWSER } from './login-browser.js';
import { LoginServer } from './login-server.js';

guardLeaks(t);
const callbackPorts = await freePorts(4);
const redirect_uris = callbackPorts.map((port) => `http://127.0.0.1:${port}/callback`);
const code = {
  redirect_uris,
  application_type: 'native',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
};
const server = await LoginServer.start([
  { client_id: 'public', token_endpoint_auth_method: 'none', ...code },
  { client_id: 'basic', client_secret: 'a secret & more', token_endpoint_auth_method: 'client_secret_basic', ...code },
  { client_id: 'post', client_secret: 'a secret & more', token_endpoint_auth_method: 'client_secret_post', ...code },
  { client_id: 'elsewhere', token_endpoint_auth_method: 'none', ...code, redirect_uris: ['http://127.0.0.1:1/other'] },
  {
    client_id: 'machine',
    client_secret: 'machine secret',
    token_endpoint_auth_method: 'client_secret_basic',
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
  },
]);
t.teardown(() => server.close());
t.afterEach(() => {
  server.user = 'logs in';
  server.offline = false;
});

function settingsOf(fields: Record<string, string>): OAuthSettings {
  const stored = new Map(
    Object.entries({
      grant_type: 'authorization_code_with_pkce',
      authorizationUrl: `${server.origin}/auth`,
      url: `${server.origin}/token`,
      scope: 'openid offline_access',
      ...fields,
    }),
  );
  return readOAuthSettings(stored, (text) => text);
}

interface Desk {
  readonly store: TokenStore;
  readonly opened: string[];
  now: number;
}

/** A store whose browser is a program that keeps cookies and follows redirects. */
function desk(options: { timeoutMs?: number } = {}): Desk {
  const opened: string[] = [];
  const made: Desk = {
    opened,
    now: Date.now(),
    store: new TokenStore({
      callbackPorts,
      now: () => made.now,
      openBrowser: (url) => {
        opened.push(url);
        return openBrowser(url, LOGIN_BROWSER);
      },
      ...options,
    }),
  };
  return made;
}

t.test('fifty concurrent runs open one browser and make one token request; later runs are silent', async (t) => {
  const { store, opened } = desk();
  const settings = settingsOf({ client_id: 'public' });
  const before = server.counts.granted;
  const tokens = await Promise.all(Array.from({ length: 50 }, () => store.token(settings)));
  t.equal(new Set(tokens).size, 1);
  t.equal(await store.token(settings), tokens[0]);
  t.equal(opened.length, 1);
  t.equal(server.counts.granted - before, 1);
  const url = new URL(opened[0] ?? '');
  t.match(Object.fromEntries(url.searchParams), {
    response_type: 'code',
    client_id: 'public',
    redirect_uri: redirect_uris[0],
    code_challenge_method: 'S256',
    state: /^[\w-]{43}$/,
    code_challenge: /^[\w-]{43}$/,
  });
  t.equal(store.mask(`x ${tokens[0]} y`), 'x ******** y');
});

t.test('an expired token is refreshed without a browser, and so is a rejected one', async (t) => {
  const made = desk();
  const settings = settingsOf({ client_id: 'public' });
  const first = await made.store.token(settings);
  made.now += 539_000;
  t.equal(await made.store.token(settings), first, 'good until a minute before its end');
  made.now += 2000;
  const second = await made.store.token(settings);
  t.not(second, first);
  t.equal(made.store.refused(settings, second, 'http://api'), true);
  t.not(await made.store.token(settings), second);
  t.equal(made.opened.length, 1);
});

t.test('a network fault keeps the refresh token, a rejection by the provider asks the user again', async (t) => {
  const made = desk();
  const settings = settingsOf({ client_id: 'public' });
  await made.store.token(settings);
  made.now += 600_000;
  server.offline = true;
  await t.rejects(made.store.token(settings), { code: 'REQUEST_FAILED' });
  server.offline = false;
  await made.store.token(settings);
  t.equal(made.opened.length, 1, 'refreshed');
  made.now += 600_000;
  const clock = Date.now;
  // The provider's clock advances by two hours: its refresh tokens have expired.
  Date.now = () => clock() + 7_200_000;
  t.teardown(() => {
    Date.now = clock;
  });
  await made.store.token(settings);
  t.equal(made.opened.length, 2, 'logged in anew');
});

t.test('a secret is sent in the header or body, and again in the body if the header is rejected', async (t) => {
  const client_secret = 'a secret & more';
  for (const [client_id, client_authentication] of [
    ['basic', 'header'],
    ['post', 'body'],
    ['post', 'header'],
  ] as const) {
    const settings = settingsOf({ grant_type: 'authorization_code', client_id, client_secret, client_authentication });
    t.ok(await desk().store.token(settings), `${client_id} by ${client_authentication}`);
  }
  const wrong = settingsOf({ grant_type: 'authorization_code', client_id: 'basic', client_secret: 'wrong secret' });
  await t.rejects(desk().store.token(wrong), {
    code: 'LOGIN_FAILED',
    message: /invalid_client.*check Client ID and Client Secret/,
    details: { cause: 'TOKEN_REFUSED', error: 'invalid_client' },
  });
});

t.test('a callback with a wrong state ends the login, and no request of the run begins another one', async (t) => {
  let opened = 0;
  const tokens = new RunTokens(
    new TokenStore({
      callbackPorts,
      async openBrowser(url) {
        opened += 1;
        await fetch(`${new URL(url).searchParams.get('redirect_uri')}?code=c&state=wrong`);
      },
    }),
  );
  const refused = {
    code: 'LOGIN_FAILED',
    message: /wrong state.*run the request again/,
    details: { cause: 'CALLBACK_REFUSED' },
  };
  await t.rejects(tokens.token(settingsOf({ client_id: 'public' }), undefined), refused);
  await t.rejects(tokens.token(settingsOf({ client_id: 'public' }), undefined), refused);
  t.equal(opened, 1);
});

t.test('client credentials need no browser', async (t) => {
  const { store, opened } = desk();
  const settings = settingsOf({
    grant_type: 'client_credentials',
    client_id: 'machine',
    client_secret: 'machine secret',
    scope: '',
  });
  const first = await store.token(settings);
  t.equal(await store.token(settings), first);
  t.equal(store.refused(settings, first, 'http://api'), true);
  t.not(await store.token(settings), first);
  t.strictSame(opened, []);
});

t.test('failures name a remedy', async (t) => {
  server.user = 'refuses';
  await t.rejects(desk().store.token(settingsOf({ client_id: 'public' })), {
    code: 'LOGIN_FAILED',
    message: /access_denied/,
    details: { cause: 'DENIED' },
  });
  server.user = 'logs in';
  await t.rejects(desk({ timeoutMs: 1500 }).store.token(settingsOf({ client_id: 'elsewhere' })), {
    message: new RegExp(`invalid redirect URI, register ${redirect_uris.join(' ')}`),
    details: { cause: 'TIMED_OUT' },
  });
  await t.rejects(desk().store.token(settingsOf({ client_id: 'public', url: `${server.origin}/nothing` })), {
    message: /answered 404 and no token; check the Access Token URL|invalid_request/,
  });
  const broken = new TokenStore({ callbackPorts, openBrowser: (url) => openBrowser(url, 'no-such-browser-anywhere') });
  await t.rejects(broken.token(settingsOf({ client_id: 'public' })), {
    code: 'LOGIN_FAILED',
    details: { cause: 'NO_BROWSER' },
  });
  for (const [fields, says] of [
    [
      { grant_type: 'password' },
      /grant type 'password' is not known; select one of: Client Credentials, Authorization Code/,
    ],
    [{ client_id: '', authorizationUrl: '' }, /Authorization URL, Client ID are empty; fill all required fields/],
    [{ client_id: '{{ID}}', url: '{{BASE}}/t' }, /no value for \{\{BASE\}\}, \{\{ID\}\}/],
    [{ client_id: 'x', authorizationUrl: 'login.example' }, /Authorization URL 'login\.example' is not a URL.*https:/],
  ] as const) {
    t.throws(() => settingsOf({ ...fields }), { code: 'LOGIN_FAILED', message: says, details: { cause: 'SETTINGS' } });
  }
});

t.test('a caller that gives up does not end the login of the others; when all have, it ends', async (t) => {
  const opened: string[] = [];
  const store = new TokenStore({
    callbackPorts,
    openBrowser: async (url) => {
      opened.push(url);
    },
  });
  const settings = settingsOf({ client_id: 'public' });
  const [first, second] = [new AbortController(), new AbortController()];
  const tokens = [store.token(settings, first.signal), store.token(settings, second.signal)];
  first.abort(new Error('left'));
  await t.rejects(async () => void (await tokens[0]), { message: 'left' });
  second.abort(new Error('left too'));
  await t.rejects(async () => void (await tokens[1]), { message: 'left too' });
  const third = desk();
  t.ok(await third.store.token(settings), 'the port is free again');
});

t.test("a token's own expiry counts if the answer has none, and Postman's keys are read", async (t) => {
  const jwt = ['{}', JSON.stringify({ exp: Math.floor(Date.now() / 1000) + 600 }), 'x']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
  const asked: string[] = [];
  const odd = createServer(async (request, response) => {
    asked.push(await text(request));
    response.end(JSON.stringify({ access_token: `${jwt}` }));
  });
  await new Promise<void>((resolve) => {
    odd.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => odd.close());
  const made = desk();
  const settings = readOAuthSettings(
    new Map(
      Object.entries({
        grant_type: 'client_credentials',
        accessTokenUrl: `http://127.0.0.1:${(odd.address() as AddressInfo).port}/`,
        clientId: 'x',
        clientSecret: 'yyyy',
        scope: 'read write',
        audience: 'https://api.example',
      }),
    ),
    (text) => text,
  );
  await made.store.token(settings);
  await made.store.token(settings);
  made.now += 600_000;
  await made.store.token(settings);
  t.equal(asked.length, 2);
  const sent = Object.fromEntries(new URLSearchParams(asked[0]));
  t.match(sent, { grant_type: 'client_credentials', scope: 'read write', audience: 'https://api.example' });
});
