import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import axe from 'axe-core';
import t from 'tap';
import { guardLeaks } from '../../../test/support/leaks.js';
import { startProxy } from '../engine/connection/proxy-server.js';
import { openWindow } from './window-fixture.js';

guardLeaks(t);
const cookies: (string | undefined)[] = [];
const server = createServer((request, response) => {
  cookies.push(request.headers.cookie);
  response.setHeader('set-cookie', 'sid=s1; Path=/; HttpOnly');
  response.end(`answer ${cookies.length}`);
});
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve);
});
t.teardown(() => {
  server.closeAllConnections();
  server.close();
});
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const proxy = await startProxy(t);
const { workspace, call, act, press, holds, shows, text, faults } = await openWindow(t);

/** Sends the open request and waits for its answer. */
async function send(): Promise<string | undefined> {
  const count = cookies.length + 1;
  await press('Control+Enter');
  await shows(`answer ${count}`);
  return cookies.at(-1);
}

t.test('cookies are shown, changed, added, removed, and switched off', async (t) => {
  await call('page', axe.source);
  await act('{button}Import', 'click');
  await act('aside textarea', 'input', `curl ${origin}/a`);
  await act('aside button.main', 'click');
  await shows('1 request imported');
  await act('{button}Cookies', 'click');
  await shows('appear here');
  t.equal(await send(), undefined);
  await shows('until the window closes, HttpOnly');
  t.equal(await send(), 'sid=s1');

  await act('[aria-label="Host of the new cookie"]', 'input', '127.0.0.1');
  await act('[aria-label="Name of the new cookie"]', 'input', 'theme');
  await act('[aria-label="Value of the new cookie"]', 'input', 'dark');
  await act('{button}Add', 'click');
  await holds('document.querySelector(`[aria-label="Value of theme"]`) !== null');
  await act('[aria-label="Value of theme"]', 'input', 'light');
  await act('[aria-label="Value of theme"]', 'press', 'Enter');
  t.strictSame(await faults(), [[], []]);
  t.match(await send(), /theme=light/);
  await act('[aria-label="Remove theme"]', 'click');
  await holds('document.querySelector(`[aria-label="Value of theme"]`) === null');
  t.equal(await send(), 'sid=s1');

  await act('aside input[type=checkbox]', 'click');
  await holds('document.querySelector("aside input[type=checkbox]").checked === false');
  t.equal(await send(), undefined);
  await act('aside input[type=checkbox]', 'click');
  await holds('document.querySelector("aside input[type=checkbox]").checked === true');
  await act('{button}Clear all', 'click');
  await shows('appear here');
  t.equal(await send(), undefined);
});

t.test('a list of cookies that was asked for before one was removed does not bring it back', async (t) => {
  await send();
  await holds('document.querySelector(`[aria-label="Value of sid"]`) !== null');
  await call(
    'page',
    `window.own = window.fetch; window.release = []; window.fetch = async (url, options) => {
      const answer = await own(url, options);
      if (url === '/api/cookies' && options.method === 'GET') await new Promise((done) => release.push(done));
      return answer;
    }; 0`,
  );
  await send();
  await holds('release.length > 0');
  await act('[aria-label="Remove sid"]', 'click');
  await shows('appear here');
  await call('page', 'window.fetch = own; release.forEach((done) => done()); new Promise((done) => setTimeout(done))');
  t.match(await text(), 'appear here');
  await call('page', 'document.querySelector("aside").animate([], 1).finished.then(() => 0)');
  t.match(await text(), 'appear here');
});

t.test('a proxy is set, used from the next request on, and refused with the reason if it is wrong', async (t) => {
  await act('{button}Settings', 'click');
  await holds('document.querySelector(`aside select`) !== null');
  await act('[aria-label="Proxy"]', 'select', 'This proxy');
  await act('{input}Proxy URL', 'input', 'socks5://127.0.0.1:1');
  await act('{button}Save settings', 'click');
  await shows('is not supported');
  await act('{input}Proxy URL', 'input', proxy.url);
  await act('{button}Save settings', 'click');
  await shows('The settings are saved');
  t.strictSame(await faults(), [[], []]);
  await send();
  t.match(proxy.asked, [{ method: 'GET', target: `${origin}/a` }]);
  t.match(workspace.settings, { proxy: 'manual', proxyUrl: proxy.url, cookies: true });
});
