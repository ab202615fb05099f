import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { By, until } from 'selenium-webdriver';
import t from 'tap';
import { WebSocket } from 'ws';
import { chromedrivers } from '../support/chromedrivers.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { skipWithout } from '../support/programs.js';
import { openSelenium } from '../support/selenium.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const PAGE = `data:text/html,${encodeURIComponent(
  '<title>Form</title><h1>Hello</h1><input id=name><input id=secret type=password>' +
    '<button id=go onclick="document.title=document.getElementById(\'name\').value">Go</button>',
)}`;

/** The ports of this machine that a process is connected to. */
function connectedTo(pid: number): readonly string[] {
  const files = readdirSync(`/proc/${pid}/fd`).map((file) => readlinkSync(`/proc/${pid}/fd/${file}`));
  return readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === '01' && files.includes(`socket:[${inode}]`))
    .filter(([, local]) => !isListening(local))
    .map(([, , remote = '']) => `${Number.parseInt(remote.slice(-4), 16)}`);
}

function isListening(local = ''): boolean {
  return readFileSync('/proc/net/tcp', 'latin1').includes(`${local} 00000000:0000 0A`);
}

t.test('A suite of Selenium runs in a session', { skip: skipWithout('chromedriver', 'setpriv') }, async (t) => {
  const service = await startTestService(t, { maxSessions: 2 });
  const call = (method: string, path: string, body?: unknown) => service.call(method, `/wd/hub${path}`, body);

  await t.test('Commands act on the page and are steps of the transcript, without passwords', async (t) => {
    const driver = await openSelenium(t, `${service.url}/wd/hub`, {
      'troupe:options': { name: 'a suite', labels: { team: 'shop' } },
      'goog:chromeOptions': { args: ['--window-size=1000,700', '--unknown-thing'] },
    });
    const capabilities = await driver.getCapabilities();
    const id = (await driver.getSession()).getId();
    t.equal(capabilities.get('troupe:session'), id);
    t.same(capabilities.get('troupe:ignored'), ['--unknown-thing']);
    t.notOk(capabilities.get('goog:chromeOptions'), 'the DevTools address is not shown');
    const { body: record } = await service.call('GET', `/api/sessions/${id}`);
    t.match(record, { name: 'a suite', labels: { team: 'shop' }, status: 'running' });
    await driver.get(PAGE);
    await driver.findElement(By.id('name')).sendKeys('Ada');
    await driver.findElement(By.id('secret')).sendKeys('hunter22');
    await driver.findElement(By.id('go')).click();
    await driver.wait(until.titleIs('Ada'));
    t.equal(await driver.executeScript('return innerWidth'), 1000);
    await t.rejects(async () => driver.findElement(By.id('none')), { name: 'NoSuchElementError' });
    await t.rejects(driver.get('file:///etc/passwd'));
    await driver.quit();
    const { body: events } = await service.call('GET', `/api/sessions/${id}/report.json`);
    const text = JSON.stringify(events);
    for (const step of ['webdriver.url(', 'webdriver.element.value(', 'webdriver.element.click(', 'Ada']) {
      t.ok(text.includes(step), step);
    }
    t.notOk(text.includes('hunter22'), 'a password is not shown');
    t.match(await call('GET', `/session/${id}/title`), {
      status: 404,
      body: { value: { error: 'invalid session id' } },
    });
    t.same(chromedrivers(), []);
  });

  await t.test('A session that is deleted takes its chromedriver along, and the other way round', async (t) => {
    const open = async () => (await call('POST', '/session', { capabilities: {} })).body.value.sessionId;
    const [first, second] = await Promise.all([open(), open()]);
    t.equal(chromedrivers().length, 2);
    await service.call('DELETE', `/api/sessions/${first}`);
    await eventually('one chromedriver is left', () => chromedrivers().length === 1);
    t.match(await call('GET', `/session/${first}/url`), {
      status: 404,
      body: { value: { error: 'invalid session id' } },
    });
    const [pid] = chromedrivers();
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
    await eventually(
      'the session has ended',
      async () => (await service.call('GET', `/api/sessions/${second}`)).body.status === 'stopped',
    );
    t.match(await call('GET', `/session/${second}/url`), {
      status: 404,
      body: { value: { error: 'invalid session id', message: /chromedriver has ended/ } },
    });
  });

  await t.test('Pages cannot reach the ports of WebDriver', async (t) => {
    const { body } = await call('POST', '/session', { capabilities: {} });
    const id = body.value.sessionId;
    const ports = chromedrivers().flatMap((pid) => {
      const [, port] = /--port=(\d+)/.exec(readFileSync(`/proc/${pid}/cmdline`, 'latin1')) ?? [];
      return port === undefined ? [] : [port];
    });
    const addresses = [...new Set(chromedrivers().flatMap(connectedTo))];
    t.equal(ports.length, 1);
    t.equal(addresses.length, 1, 'the DevTools address of the browser');
    for (const port of addresses) {
      const version = `http://127.0.0.1:${port}/json/version`;
      t.equal((await fetch(version)).status, 404, 'another process than chromedriver is refused');
      const socket = new WebSocket(`ws://127.0.0.1:${port}/devtools/browser/session`);
      const [{ message }] = await once(socket, 'error');
      t.match(message, /socket hang up/);
    }
    for (const port of [...ports, ...addresses]) {
      const answered = await call('POST', `/session/${id}/url`, { url: `http://127.0.0.1:${port}/status` });
      t.match(answered.body.value, { error: 'unknown error', message: /ERR_/ });
    }
    t.equal((await call('DELETE', `/session/${id}`)).status, 200);
  });
});

t.test(
  'A chromedriver that starts slowly does not let the idle timeout of its session run out',
  { skip: skipWithout('chromedriver', 'setpriv') },
  async (t) => {
    const folder = t.testdir({ chromedriver: '#!/bin/sh\nsleep 3\nexec chromedriver "$@"\n' });
    chmodSync(`${folder}/chromedriver`, 0o755);
    const service = await startTestService(t, { chromedriver: `${folder}/chromedriver` });
    const capabilities = { alwaysMatch: { 'troupe:options': { idleTimeout: 1 } } };
    const { status, body } = await service.call('POST', '/session', { capabilities });
    t.equal(status, 200, JSON.stringify(body));
  },
);

t.test('Requests that cannot be served get errors in the form of W3C WebDriver', async (t) => {
  const service = await startTestService(t, { chromedriver: '/nowhere/chromedriver' });
  const fails = async (method: string, path: string, body: unknown, status: number, error: string) => {
    for (const prefix of ['', '/wd/hub']) {
      const answered = await service.call(method, prefix + path, body);
      t.match(answered, { status, body: { value: { error } } }, `${method} ${prefix}${path} ${JSON.stringify(body)}`);
    }
  };
  const always = (alwaysMatch: object) => ({ capabilities: { alwaysMatch } });
  await fails('POST', '/session', { capabilities: {} }, 500, 'session not created');
  await fails('POST', '/session', '{', 400, 'invalid argument');
  await fails('POST', '/session', {}, 400, 'invalid argument');
  await fails('POST', '/session', { capabilities: { firstMatch: [] } }, 400, 'invalid argument');
  await fails('POST', '/session', always({ browserName: 'firefox' }), 500, 'session not created');
  await fails('POST', '/session', always({ platformName: 'windows' }), 500, 'session not created');
  await fails('POST', '/session', always({ 'troupe:options': { nmae: 'x' } }), 400, 'invalid argument');
  await fails(
    'POST',
    '/session',
    always({ 'goog:chromeOptions': { debuggerAddress: '127.0.0.1:1' } }),
    400,
    'invalid argument',
  );
  await fails('PUT', '/session', {}, 405, 'unknown method');
  await fails('GET', '/session/abcdefghijkl/url', undefined, 404, 'invalid session id');
  await fails('POST', '/session/abcdefghijkl/url', { url: 'about:blank' }, 404, 'invalid session id');
  await fails('POST', '/session/abcdefghijkl/url', 'x', 400, 'invalid argument');
  await fails('DELETE', '/session/abcdefghijkl', undefined, 404, 'invalid session id');
  const none = await service.call('POST', '/session', { capabilities: {} });
  t.match(none.body.value.message, /apt-get install chromium-driver/);
  t.match(await service.call('GET', '/status'), { status: 200, body: { value: { ready: false } } });
  t.match(await service.call('GET', '/wd/hub/nothing'), { status: 404, body: { value: { error: 'unknown command' } } });
});

t.test('A token may be the password of Basic credentials', async (t) => {
  process.env.DOORS_TOKEN = 'a-token-for-this-test';
  t.teardown(() => delete process.env.DOORS_TOKEN);
  const service = await startTestService(t, { token: 'DOORS_TOKEN' });
  const status = async (authorization: string) =>
    (await service.call('GET', '/wd/hub/status', undefined, { headers: { authorization } })).status;
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  t.equal(await status(basic('ci:a-token-for-this-test')), 200);
  t.equal(await status(basic('a-token-for-this-test:')), 200);
  t.equal(await status('Bearer a-token-for-this-test'), 200);
  t.equal(await status(basic('ci:another')), 401);
  const elsewhere = { headers: { authorization: basic('ci:a-token-for-this-test') } };
  t.equal((await service.call('GET', '/api/sessions', undefined, elsewhere)).status, 401);
});
