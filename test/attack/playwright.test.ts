import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { urlPattern } from '#troupe/agent-js/network/url-pattern.js';
import { checkCall, checkExpect } from '#troupe/playwright/session/check-call.js';
import { guardedRegExp } from '#troupe/playwright/thread/guarded-reg-exp.js';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const REFUSED = { code: 'SCRIPT_ERROR' };
const deep = (levels: number): unknown => (levels === 0 ? 1 : ['a', [deep(levels - 1)]]);

/** Messages as a broken sandbox could send them. */
const MESSAGES: readonly (readonly [chain: unknown, method: unknown, args: unknown])[] = [
  [null, 'title', []],
  ['page', 'title', []],
  [['page'], 'title', []],
  [['window', []], 'title', []],
  [['__proto__', []], 'title', []],
  [['constructor#1', []], 'title', []],
  [['Page#', []], 'title', []],
  [['Page#1e3', []], 'title', []],
  [['Page#-1', []], 'title', []],
  [['toString#1', []], 'title', []],
  [['page', []], '__proto__', []],
  [['page', []], 'constructor', []],
  [['page', []], 'toString', []],
  [['page', []], 'hasOwnProperty', ['x']],
  [['page', []], '_connection', []],
  [['page', []], '_wrapApiCall', []],
  [['page', []], 'emit', ['close']],
  [['page', []], 'screenshot', [['o', [['path', '/tmp/x.png']]]]],
  [['page', []], 'pdf', [['o', [['path', '/tmp/x.pdf']]]]],
  [['page', []], 'routeFromHAR', ['/etc/passwd']],
  [['page', []], 'addInitScript', [['o', [['path', '/etc/passwd']]]]],
  [['page', []], 'addScriptTag', [['o', [['path', '/etc/passwd']]]]],
  [['page', []], 'addStyleTag', [['o', [['path', '/etc/passwd']]]]],
  [['page', []], 'exposeFunction', ['f', ['f', '() => 1']]],
  [['page', []], 'route', ['**', ['f', '() => 1']]],
  [['page', []], 'route', ['**', ['o', [['path', '/etc/passwd']]]]],
  [['page', []], 'route', ['**', ['o', [['response', 1]]]]],
  [['page', []], 'waitForResponse', [['f', '() => true']]],
  [['page', []], 'goto', ['file:///etc/passwd']],
  [['page', []], 'goto', [' FILE:///etc/passwd']],
  [['page', []], 'goto', ['fi\tle:///etc/passwd']],
  [['page', []], 'goto', ['\u0001file:///etc/passwd']],
  [['page', []], 'goto', ['file:0/../etc/passwd']],
  [['page', []], 'goto', ['\nfile:1']],
  [['page', []], 'goto', ['chrome:1']],
  [['page', []], 'goto', ['chrome://version']],
  [['page', []], 'goto', ['view-source:file:///etc/passwd']],
  [['page', []], 'goto', ['javascript:alert(1)']],
  [['page', []], 'goto', ['x', 'y', 'z']],
  [['page', []], 'click', ['#a', ['o', [['__proto__', 1]]]]],
  [['page', []], 'click', ['#a', ['o', [['constructor', 1]]]]],
  [['page', []], 'click', ['#a', ['o', [['signal', 1]]]]],
  [['page', []], 'click', ['#a', ['c', 'page', []]]],
  [['page', []], 'evaluate', [['z']]],
  [['page', []], 'evaluate', [{ toString: 1 }]],
  [['page', []], 'evaluate', ['x', deep(60)]],
  [['page', []], 'evaluate', ['x'.repeat(1024 * 1024 + 1)]],
  [['page', []], 'fill', ['a'.repeat(600_000), 'b'.repeat(600_000)]],
  [['page', []], 'context', []],
  [['page', [['goto', ['http://x']]]], 'title', []],
  [['page', [['keyboard', []]]], 'press', ['a']],
  [['page', [['request', null]]], 'get', ['http://x']],
  [['page', [['_browserContext', null]]], 'pages', []],
  [['page', Array.from({ length: 10_000 }, () => ['mainFrame', []])], 'title', []],
  [['page', [['locator', ['#a', ['o', [['has', ['c', 'context', []]]]]]]]], 'click', []],
  [['page', [['getByText', [['r', 'a'.repeat(3000), '']]]]], 'click', []],
  [['context', []], 'browser', []],
  [['context', []], 'newCDPSession', [['c', 'page', []]]],
  [['context', []], 'storageState', [['o', [['path', '/tmp/x']]]]],
  [['context', []], 'close', []],
  [['context', [['tracing', null]]], 'start', []],
  [['Download#1', []], 'path', []],
  [['Download#1', []], 'createReadStream', []],
  [['Response#1', []], 'body', []],
];

t.test('what is not in the table is refused before it reaches Playwright', async (t) => {
  for (const [chain, method, args] of MESSAGES) {
    t.throws(() => checkCall(chain, method, args), REFUSED, JSON.stringify([chain, method, args]).slice(0, 200));
  }
  const expectations: readonly (readonly [unknown, unknown, unknown])[] = [
    [['c', 'page', []], 'toHaveScreenshot', ['/etc/passwd']],
    [['c', 'page', [['locator', ['a']]]], 'toHaveScreenshot', []],
    [1, 'toMatchSnapshot', ['x']],
    [1, '__proto__', []],
    [1, 'constructor', []],
    [1, 'toThrow', []],
    [['c', 'context', []], 'toBe', [1]],
    [['f', '() => 1'], 'toBe', [1]],
    [1, 'toEqual', [['x', 'constructor', [], false]]],
    [1, 'toEqual', [['x', '__proto__', [], false]]],
  ];
  for (const [subject, matcher, args] of expectations) {
    t.throws(() => checkExpect(subject, matcher, args), REFUSED, JSON.stringify([subject, matcher, args]));
  }
});

t.test('an expression that never ends is ended, and is not run twice', async (t) => {
  const endless = guardedRegExp('(a+)+$', '');
  const text = `${'a'.repeat(40)}b`;
  t.throws(() => endless.test(text), REFUSED);
  t.throws(() => endless.test('aa'), REFUSED, 'not even on a text that it would match');
  t.equal(guardedRegExp('^t(.)a', 'i').exec('Tea')?.[1], 'e');
  const global = guardedRegExp('a', 'g');
  t.same([global.test('aa'), global.lastIndex, global.test('aa'), global.test('aa')], [true, 1, true, false]);
  t.end();
});

t.test('globs mean what they mean to Playwright, in linear time', (t) => {
  const matches = (glob: string, url: string) => (urlPattern(glob) as RegExp).test(url);
  for (const [glob, url, expected] of [
    ['**/data', 'http://h/data', true],
    ['**/data', 'http://h/a/data', true],
    ['**/data', 'http://h/data2', false],
    ['http://h/*', 'http://h/a', true],
    ['http://h/*', 'http://h/a/b', false],
    ['http://h/**', 'http://h/a/b', true],
    ['http://h/**/x', 'http://h/x', true],
    ['http://h/**/x', 'http://h/a/b/x', true],
    ['**/*.{png,jpg}', 'http://h/a.jpg', true],
    ['**/*.{png,jpg}', 'http://h/a.gif', false],
    ['**/a\\*b', 'http://h/a*b', true],
    ['**/a\\*b', 'http://h/aXb', false],
    ['*', 'abc', true],
    ['**', 'http://h/a', true],
  ] as const) {
    t.equal(matches(glob, url), expected, `${glob} ${url}`);
  }
  // At once; a pattern that backtracks would not end.
  t.equal(matches(`${'**a'.repeat(100)}b`, `http://h/${'a'.repeat(2_000)}`), false);
  t.throws(() => urlPattern('{a,b}'.repeat(10)), REFUSED);
  t.throws(() => urlPattern('*'.repeat(3_000)), REFUSED);
  t.end();
});

t.test('scripts and pages that attack Playwright are stopped alone', async (t) => {
  const server = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hi'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  const service = await startTestService(t, { forward: [port], evalTimeout: 6 });
  const [attacker, neighbour] = [await service.live(), await service.live()];
  const attack = (js: string) => service.run(attacker.id, js);
  t.match(await service.run(neighbour.id, `page.goto('${url}'); page.textContent('p')`), { body: 'hi' });
  await attack(`page.goto('${url}')`);

  const scripts: readonly (readonly [js: string, error: RegExp])[] = [
    ['page.__proto__ = null; page.nope()', /./],
    ['let l = page.locator("a"); for (let i = 0; i < 10000; i++) l = l.first(); l.click()', /at most 100 calls/],
    ['const a = []; a.push(a); page.evaluate("1", a)', /nested too deeply/],
    ['page.evaluate("1", "x".repeat(2e6))', /characters/],
    ['page.context().browser()', /one browser/],
    ['page.$("p")', /locator/],
    ['page.screenshot({path: "/tmp/x"})', /agent.screenshot/],
    ['page.on("console", () => 1)', /waitForEvent/],
    ['page.setInputFiles("p", "../../etc/passwd")', /file/],
    ['page.setInputFiles("p", {name: "a", mimeType: "b", buffer: 1})', /by name/],
    ['page.goto.call({})', /something else/],
    ['Object.prototype.path = "/etc/passwd"; page.pdf()', /not offered/],
    [
      'Array.prototype[Symbol.iterator] = null; Map.prototype.get = null; page.title(); page.nope()',
      /Page has no nope/,
    ],
  ];
  for (const [js, error] of scripts) t.match(await attack(js), { status: 422, body: { error } }, js);
  const fresh = await service.live();
  // Handles of another session, and of none.
  t.match(await service.run(fresh.id, `const r = page.goto('${url}'); r.status()`), { body: 200 });

  // Two expressions: one that runs beside Playwright, one that runs in the page.
  t.match(await service.run(fresh.id, `expect('${'a'.repeat(40)}b').toMatch(/(a+)+$/)`), { body: REFUSED });
  const hanging = service.run(
    fresh.id,
    `page.setContent('<p>${'a'.repeat(40)}b'); page.getByText(/^(a+)+$/).click({timeout: 1000})`,
  );
  t.match(await service.run(neighbour.id, 'page.textContent("p")'), { body: 'hi' });
  t.match(await hanging, { body: { code: 'WAIT_TIMEOUT' } });
  t.match(await service.run(neighbour.id, 'page.textContent("p")'), { body: 'hi' });
});
