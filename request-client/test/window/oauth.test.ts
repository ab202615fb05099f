import { createServer, type Server } from 'node:net';
import t from 'tap';
import { openBrowser } from '#troupe/terminal/open-browser.js';
import { freePorts } from '../../../test/support/free-ports.js';
import { guardLeaks } from '../../../test/support/leaks.js';
import { LOGIN_BROWSER } from '../engine/oauth/login-browser.js';
import { LoginServer } from '../engine/oauth/login-server.js';
import { openWindow, startEcho } from './window-fixture.js';

guardLeaks(t);
const callbackPorts = await freePorts(4);
const code = {
  token_endpoint_auth_method: 'none',
  redirect_uris: callbackPorts.map((port) => `http://127.0.0.1:${port}/callback`),
  application_type: 'native',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
};
const provider = await LoginServer.start([
  { client_id: 'public', ...code },
  { client_id: 'short', ...code, grant_types: ['authorization_code'] },
  { client_id: 'elsewhere', ...code, redirect_uris: ['http://127.0.0.1:1/other'] },
]);
t.teardown(() => provider.close());
const echo = await startEcho(t);
const opened: string[] = [];
/** Settles when the user reaches the login page. */
let arrival: Promise<void> = Promise.resolve();
/** What opens the login page. */
let visit = (url: string): Promise<void> => openBrowser(url, LOGIN_BROWSER);
let now = Date.now();
const { call, act, press, holds, shows } = await openWindow(t, {
  callbackPorts,
  now: () => now,
  loginTimeoutMs: 4000,
  // The hook that users have too: BROWSER names a command.
  openBrowser: async (url) => {
    opened.push(url);
    await arrival;
    await visit(url);
  },
});
const noDialog = 'document.querySelector("dialog") === null';
const bearer = (): string => String(echo.heard.at(-1)?.headers.authorization);
const fill = (label: string, value: string): Promise<unknown> => act(`{input}${label}`, 'input', value);

/** Sends, and waits until this text is on screen and nothing is running. */
async function sendAndSee(text: string): Promise<void> {
  await press('Control+Enter');
  await shows(text);
  await holds('document.querySelector(".line button.main").innerText === "Send"');
}

t.test('Run opens the login; the dialog closes by itself and the request is sent with the token', async (t) => {
  await act('[aria-label="New request"]', 'click');
  await act('input.url', 'input', `${echo.origin}/me`);
  await act('{tab}Auth', 'click');
  await act('{select}Type', 'select', 'OAuth 2.0');
  await act('{select}Grant Type', 'select', 'Authorization Code with PKCE');
  await fill('Authorization URL', `${provider.origin}/auth`);
  await fill('Access Token URL', `${provider.origin}/token`);
  await fill('Client ID', 'public');
  await fill('Scope', 'openid offline_access');
  let arrive = (): void => undefined;
  arrival = new Promise((resolve) => {
    arrive = resolve;
  });
  await act('.line button.main', 'click');
  await shows('Log in with the browser');
  t.equal(echo.heard.length, 0);
  arrive();
  await shows('200 OK');
  await holds(noDialog);
  t.match(bearer(), /^Bearer .{20}/);
  t.equal(opened.length, 1);
  await shows('A token is kept until');
});

t.test('a second run is silent, and so is the refresh of an expired token', async (t) => {
  const first = bearer();
  await sendAndSee('200 OK');
  t.equal(bearer(), first);
  now += 3_000_000;
  await act('input.url', 'input', `${echo.origin}/again`);
  await sendAndSee('200 OK');
  await holds('document.querySelector("dialog") === null');
  t.not(bearer(), first);
  t.equal(opened.length, 1);
});

t.test('Get new token logs in again, Delete token removes the token', async (t) => {
  await act('{button}Get new token', 'click');
  await holds('document.querySelector("dialog") === null && !document.querySelector(".token button").disabled');
  await shows('A token is kept');
  t.equal(opened.length, 2);
  await act('{button}Delete token', 'click');
  await shows('No token yet');
  await sendAndSee('200 OK');
  t.equal(opened.length, 3);
});

t.test('a login can be cancelled in the dialog', async (t) => {
  await act('{button}Delete token', 'click');
  await shows('No token yet');
  let arrive = (): void => undefined;
  arrival = new Promise((resolve) => {
    arrive = resolve;
  });
  await press('Control+Enter');
  await shows('Log in with the browser');
  await act('dialog button.main', 'click');
  await holds(noDialog);
  arrive();
  t.equal(echo.heard.at(-1)?.url, '/again');
});

t.test('each failure shows its remedy on screen', async (t) => {
  const before = opened.length;
  await act('{select}Grant Type', 'select', 'select one');
  await sendAndSee('select one of: Client Credentials, Authorization Code, Authorization Code with PKCE');
  await act('{select}Grant Type', 'select', 'Authorization Code');
  await fill('Client ID', '');
  await sendAndSee('fill all required fields');
  await fill('Client ID', '{{client}}');
  await sendAndSee('no value for {{client}}');
  await fill('Client ID', 'public');
  await fill('Authorization URL', 'login.example');
  await sendAndSee('check that it begins with https://');
  t.equal(opened.length, before, 'no browser was opened for any of them');
  await fill('Authorization URL', `${provider.origin}/auth`);

  provider.user = 'refuses';
  await sendAndSee('access_denied: <script>alert(1)</script>');
  t.equal(await call('page', '[...document.scripts].every(({ src }) => src !== "")'), true);
  provider.user = 'logs in';

  await fill('Client ID', 'elsewhere');
  await sendAndSee(
    `if the page reported an invalid redirect URI, register http://127.0.0.1:${callbackPorts[0]}/callback`,
  );

  await fill('Client ID', 'short');
  echo.status = 401;
  await sendAndSee('401 Unauthorized');
  await shows('Send again to log in again');
  echo.status = 200;
  const logins = opened.length;
  await sendAndSee('200 OK');
  t.equal(opened.length, logins + 1);
});

t.test('a callback that is no answer to this login ends it with the reason', async (t) => {
  await fill('Client ID', 'public');
  await act('{button}Delete token', 'click');
  const usual = visit;
  const callbackOf = (url: string) => new URL(url).searchParams.get('redirect_uri') ?? '';
  visit = async (url) => void (await fetch(`${callbackOf(url)}?code=c&state=wrong`));
  await sendAndSee('The answer has a wrong state');
  await holds(noDialog);
  // A browser does not send what is behind #: the page does.
  visit = async (url) => {
    await call(
      'page',
      `void open(${JSON.stringify(`${callbackOf(url)}#error=login_required&error_description=behind`)})`,
    );
  };
  await press('Control+Enter');
  // The new tab is in front.
  await shows('Not logged in');
  await call('page', 'window.close()');
  // The first call says that the tab is closed; the next ones go to the window.
  await t.rejects(call('page', '1'), /tab has been closed/);
  await shows('the provider answered login_required: behind');
  visit = usual;
  await sendAndSee('200 OK');
});

t.test('four ports in use are named; freeing one and running again works', async (t) => {
  const taken = await Promise.all(callbackPorts.map((port) => take(port)));
  t.teardown(() => taken.forEach((server) => void server.close()));
  await act('{button}Delete token', 'click');
  await shows('No token yet');
  await sendAndSee('all four callback ports are in use');
  await new Promise((resolve) => taken[2]?.close(resolve));
  await sendAndSee('200 OK');
  t.match(opened.at(-1), `${callbackPorts[2]}%2Fcallback`);
});

function take(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
