import * as oauth from 'oauth4webapi';
import t from 'tap';
import { readOAuthSettings } from '#request-client/engine/oauth/oauth-settings.js';
import { TokenStore } from '#request-client/engine/oauth/token-store.js';
import { openBrowser } from '#troupe/terminal/open-browser.js';
import { freePorts } from '../../../../test/support/free-ports.js';
import { guardLeaks } from '../../../../test/support/leaks.js';
import { LOGIN_BROWSER } from './login-browser.js';
import { LoginServer } from './login-server.js';

guardLeaks(t);
const callbackPorts = await freePorts(4);
const server = await LoginServer.start([
  {
    client_id: 'public',
    token_endpoint_auth_method: 'none',
    redirect_uris: callbackPorts.map((port) => `http://127.0.0.1:${port}/callback`),
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  },
  {
    client_id: 'machine',
    client_secret: 'a secret: & more',
    token_endpoint_auth_method: 'client_secret_basic',
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
  },
]);
t.teardown(() => server.close());
const insecure = { [oauth.allowInsecureRequests]: true };
const as = await oauth.processDiscoveryResponse(
  new URL(server.origin),
  await oauth.discoveryRequest(new URL(server.origin), { algorithm: 'oidc', ...insecure }),
);

const settingsOf = (fields: Record<string, string>) =>
  readOAuthSettings(
    new Map(Object.entries({ authorizationUrl: `${server.origin}/auth`, url: `${server.origin}/token`, ...fields })),
    (text) => text,
  );

t.test('the login page gets the same request as from oauth4webapi, and its checks accept the answer', async (t) => {
  let asked: URL | undefined;
  const store = new TokenStore({
    callbackPorts,
    async openBrowser(url) {
      asked = new URL(url);
      await openBrowser(url, LOGIN_BROWSER);
    },
  });
  const settings = settingsOf({
    grant_type: 'authorization_code_with_pkce',
    client_id: 'public',
    scope: 'openid offline_access',
  });
  t.ok(await store.token(settings));
  const verifier = oauth.generateRandomCodeVerifier();
  const wanted = {
    response_type: 'code',
    client_id: 'public',
    redirect_uri: `http://127.0.0.1:${callbackPorts[0]}/callback`,
    scope: 'openid offline_access',
    state: oauth.generateRandomState(),
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  };
  const given = Object.fromEntries(asked?.searchParams ?? []);
  t.strictSame(Object.keys(given).sort(), Object.keys(wanted).sort());
  for (const key of ['state', 'code_challenge'] as const) t.equal(given[key]?.length, wanted[key].length, key);
  t.equal(asked?.origin, new URL(as.authorization_endpoint ?? '').origin);
});

t.test('a secret with all kinds of characters is sent as oauth4webapi sends it', async (t) => {
  const response = await oauth.clientCredentialsGrantRequest(
    as,
    { client_id: 'machine' },
    oauth.ClientSecretBasic('a secret: & more'),
    {},
    insecure,
  );
  const theirs = await oauth.processClientCredentialsResponse(as, { client_id: 'machine' }, response);
  t.equal(theirs.token_type, 'bearer');
  const store = new TokenStore({ openBrowser: async () => undefined });
  const ours = await store.token(
    settingsOf({ grant_type: 'client_credentials', client_id: 'machine', client_secret: 'a secret: & more' }),
  );
  t.equal(ours.length, theirs.access_token.length);
});
