import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { readAuth } from '#request-client/engine/collection/auth.js';
import { Collection } from '#request-client/engine/collection/collection.js';
import { CollectionRunner } from '#request-client/engine/collection-run/collection-runner.js';
import { readOAuthSettings } from '#request-client/engine/oauth/oauth-settings.js';
import { TokenStore } from '#request-client/engine/oauth/token-store.js';
import { freePorts } from '../../../../test/support/free-ports.js';
import { guardLeaks } from '../../../../test/support/leaks.js';

guardLeaks(t);

interface Heard {
  readonly path: string;
  readonly form: Readonly<Record<string, string[]>>;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** A provider that grants everything, and a browser whose user is logged in already. */
const heard: Heard[] = [];
const logins: URL[] = [];
const server = createServer(async (request, response) => {
  const form = new URLSearchParams(await text(request));
  const names = [...new Set(form.keys())];
  heard.push({
    path: request.url ?? '',
    form: Object.fromEntries(names.map((name) => [name, form.getAll(name)])),
    headers: request.headers,
  });
  response.setHeader('Content-Type', 'application/json');
  const lasts = form.get('grant_type') === 'refresh_token' ? 3600 : 30;
  response.end(`{"access_token": "T${heard.length}", "refresh_token": "R", "expires_in": ${lasts}}`);
});
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve);
});
t.teardown(() => server.close());
t.teardown(() => server.closeAllConnections());
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const callbackPorts = await freePorts(4);
t.beforeEach(() => {
  heard.length = 0;
  logins.length = 0;
});

const store = () =>
  new TokenStore({
    callbackPorts,
    async openBrowser(address) {
      const url = new URL(address);
      logins.push(url);
      const { searchParams } = url;
      await fetch(`${searchParams.get('redirect_uri')}?code=c&state=${searchParams.get('state')}`);
    },
  });

const parameter = (key: string, value: string, more: object = {}) => ({ key, value, enabled: true, ...more });
const body = { send_as: 'request_body' };
const settings = (own: Record<string, unknown>) => {
  const all = { accessTokenUrl: `${origin}/token`, clientId: 'id', clientSecret: 'secret', ...own };
  return Object.entries(all).map(([key, value]) => ({ key, value, type: 'any' }));
};

async function run(auth: object, variables: Record<string, string> = {}) {
  const collection = Collection.parse(
    JSON.stringify({ info: {}, item: [{ name: 'api', request: { url: `${origin}/api`, auth } }] }),
  );
  const runner = new CollectionRunner({
    collection,
    environment: new Map(Object.entries(variables)),
    folder: '.',
    tokens: store(),
  });
  const messages: string[] = [];
  try {
    await runner.runAll(collection.items, async ({ response, error, console }) => {
      await response?.dispose();
      messages.push(...(error === null ? [] : [error.error]), ...console);
      return undefined;
    });
  } finally {
    await runner.close();
  }
  return messages;
}

t.test(
  'parameters of the token request are sent in the body, with variables, and not if they are switched off',
  async (t) => {
    const auth = {
      type: 'oauth2',
      oauth2: settings({
        grant_type: 'client_credentials',
        tokenRequestParams: [
          parameter('audience', '{{aud}}', body),
          parameter('off', '1', { ...body, enabled: false }),
          parameter('resource', 'a', body),
          parameter('resource', 'b', body),
          parameter('scope', 'own', body),
          parameter('', 'nameless', body),
        ],
        scope: 'replaced',
      }),
    };
    t.strictSame(await run(auth, { aud: 'https://api.example/' }), []);
    t.strictSame(heard[0]?.form, {
      grant_type: ['client_credentials'],
      audience: ['https://api.example/'],
      resource: ['a', 'b'],
      scope: ['own'],
    });
    t.match(heard[1], { path: '/api', headers: { authorization: 'Bearer T1' } });
  },
);

t.test('in the address and in headers; in the form of v2.0', async (t) => {
  const auth = {
    type: 'oauth2',
    oauth2: {
      grant_type: 'client_credentials',
      accessTokenUrl: `${origin}/token?kept=1&tenant=old`,
      clientId: 'id',
      clientSecret: 'secret',
      tokenRequestParams: [
        parameter('tenant', 'a b', { send_as: 'request_url' }),
        parameter('X-Tenant', 'blue', { send_as: 'request_header' }),
        parameter('authorization', 'Custom own', { send_as: 'request_header' }),
      ],
    },
  };
  t.strictSame(await run(auth), []);
  t.match(heard[0], {
    path: '/token?kept=1&tenant=a+b',
    headers: { 'x-tenant': 'blue', authorization: 'Custom own' },
    form: { grant_type: ['client_credentials'] },
  });
});

t.test('parameters of the login are in its address; what protects the login cannot be replaced', async (t) => {
  const auth = {
    type: 'oauth2',
    oauth2: settings({
      grant_type: 'authorization_code_with_pkce',
      authUrl: `${origin}/login?kept=1`,
      authRequestParams: [
        parameter('prompt', 'consent', { send_as: 'request_url' }),
        parameter('audience', 'api'),
        parameter('state', 'fixed', { send_as: 'request_url' }),
        parameter('redirect_uri', 'http://elsewhere.example/', { send_as: 'request_url' }),
        parameter('off', '1', { send_as: 'request_header', disabled: true }),
        parameter('never', '1', { send_as: 'request_header' }),
      ],
    }),
  };
  const messages = await run(auth);
  t.match(messages, [/authRequestParams has never with send_as "request_header", which is not sent/]);
  const [login] = logins;
  const { state, redirect_uri, ...sent } = Object.fromEntries(login?.searchParams ?? []);
  t.match(sent, { kept: '1', prompt: 'consent', audience: 'api', client_id: 'id', response_type: 'code' });
  t.notMatch(sent, { never: '1' });
  t.not(state, 'fixed');
  t.match(redirect_uri, /^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  // The token request has parameters of its own.
  t.notMatch(heard[0]?.form, { prompt: ['consent'] });
});

t.test('a refresh has its own address and parameters', async (t) => {
  const auth = readAuth({
    type: 'oauth2',
    oauth2: settings({
      grant_type: 'client_credentials',
      refreshTokenUrl: `${origin}/refresh`,
      tokenRequestParams: [parameter('of', 'token', body)],
      refreshRequestParams: [parameter('of', 'refresh', body)],
    }),
  });
  if (auth.kind !== 'oauth2') throw new Error('it is OAuth 2.0');
  const wanted = readOAuthSettings(auth.settings, (one) => one, auth.parameters);
  const tokens = store();
  // The first token lasts 30 seconds, which is too short to use it again.
  await tokens.token(wanted);
  await tokens.token(wanted);
  t.match(heard, [
    { path: '/token', form: { grant_type: ['client_credentials'], of: ['token'] } },
    { path: '/refresh', form: { grant_type: ['refresh_token'], refresh_token: ['R'], of: ['refresh'] } },
  ]);
});

t.test('settings that differ in a parameter have tokens of their own', async (t) => {
  const tokens = store();
  const wanted = (audience: string) =>
    readOAuthSettings(
      new Map(
        Object.entries({
          grant_type: 'client_credentials',
          url: `${origin}/token`,
          client_id: 'i',
          client_secret: 's',
        }),
      ),
      (one) => one,
      [{ of: 'token', name: 'audience', value: audience, in: 'body' }],
    );
  t.not(await tokens.token(wanted('a')), await tokens.token(wanted('b')));
});

t.test(
  'a variable without a value in a parameter, or a wrong address to refresh at, is named before anything is sent',
  async (t) => {
    const auth = (own: object) => ({ type: 'oauth2', oauth2: settings({ grant_type: 'client_credentials', ...own }) });
    t.match(await run(auth({ tokenRequestParams: [parameter('audience', '{{nobody}}', body)] })), [
      /no value for \{\{nobody\}\}/,
    ]);
    t.match(await run(auth({ refreshTokenUrl: 'login/refresh' })), [/Refresh Token URL 'login\/refresh' is not a URL/]);
    t.strictSame(heard, []);
  },
);

t.test('settings that are not used are named once', async (t) => {
  const auth = {
    type: 'oauth2',
    oauth2: settings({
      grant_type: 'client_credentials',
      redirect_uri: 'https://oauth.example/callback',
      state: 'fixed',
      challengeAlgorithm: 'plain',
      useBrowser: true,
      tokenName: 'mine',
      tokenType: 'Bearer',
      novelty: 'x',
      password: '',
    }),
  };
  const messages = await run(auth);
  t.strictSame(
    messages.map((message) => /^warning: oauth2\.(\w+)/.exec(message)?.[1]),
    ['redirect_uri', 'state', 'challengeAlgorithm', 'novelty'],
  );
  t.match(messages.at(-1), 'novelty is not understood and has no effect');
});
