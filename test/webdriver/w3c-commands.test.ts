import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { skipWithout } from '../support/programs.js';
import { startTestService } from '../support/service.js';
import { NEEDING_A_WINDOW, routeOf, W3C_ROUTES } from './w3c-routes.js';

guardLeaks(t);

const PAGE = `<!doctype html><title>Commands</title><style>h1 { color: rgb(1, 2, 3) }</style>
<h1 id=top class=big>Hello <em>you</em></h1><p id=empty></p>
<form id=form><input id=name value=Ada><input id=on type=checkbox checked><button id=off disabled>Off</button></form>
<div id=host></div><iframe srcdoc="<p id=inside>Inside</p>"></iframe><button id=go onclick="document.getElementById('top').title = 'gone'">Go</button>
<script>document.getElementById('host').attachShadow({ mode: 'open' }).innerHTML = '<b class=in>Shadow</b>';</script>`;
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';
const SHADOW = 'shadow-6066-11e4-a52e-4f735466cecf';
const IN_DOCKER = process.env.TROUPE_TEST_DRIVER === 'docker';
const NONE = 'f.none.d.none.e.1';

/** One command: method and path below the session, body, and the value or the error that it is answered with. */
interface Case {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  /** A pattern of tap for the value. */
  readonly value?: unknown;
  /** An error code of the recommendation; the status belongs to it. */
  readonly error?: string;
}

/** Valid bodies of commands, for what is wrong besides. */
const BODIES: { readonly [route: string]: object } = {
  'POST url': { url: 'http://127.0.0.1:1/' },
  'POST window/new': { type: 'tab' },
  'POST frame': { id: null },
  'POST window/rect': { width: 700, height: 500 },
  'POST element': { using: 'css selector', value: 'p' },
  'POST elements': { using: 'css selector', value: 'p' },
  'POST value': { text: 'x' },
  'POST execute/sync': { script: 'return 1', args: [] },
  'POST execute/async': { script: 'arguments[0](1)', args: [] },
  'POST cookie': { cookie: { name: 'a', value: 'b' } },
  'POST actions': { actions: [] },
};

const missingIn = (seen: ReadonlySet<string>) => W3C_ROUTES.filter((route) => !seen.has(route));

/** Section 6.6 of W3C WebDriver. */
const STATUS: { readonly [error: string]: number } = {
  'invalid argument': 400,
  'invalid selector': 400,
  'element not interactable': 400,
  'invalid element state': 400,
  'invalid cookie domain': 400,
  'no such element': 404,
  'no such shadow root': 404,
  'no such window': 404,
  'no such frame': 404,
  'no such cookie': 404,
  'no such alert': 404,
  'unknown command': 404,
  'javascript error': 500,
  'script timeout': 500,
  'unsupported operation': 500,
  'unknown error': 500,
};

t.test(
  'Each command of W3C WebDriver works, and bad input has the error of the recommendation',
  {
    skip: skipWithout('chromedriver', 'setpriv'),
  },
  async (t) => {
    const site = createServer((request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(request.url === '/other' ? '<title>Other</title><p id=other>Other</p>' : PAGE);
    });
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    t.teardown(() => {
      site.closeAllConnections();
      site.close();
    });
    const { port } = site.address() as AddressInfo;
    const origin = `http://127.0.0.1:${port}`;
    const service = await startTestService(t, {});
    const hub = (method: string, path: string, body?: unknown) => service.call(method, `/wd/hub${path}`, body);
    const { sessionId } = (
      await hub('POST', '/session', { capabilities: { alwaysMatch: { 'troupe:options': { forward: [port] } } } })
    ).body.value;
    const send = (method: string, path: string, body?: unknown) => hub(method, `/session/${sessionId}/${path}`, body);
    const value = async (method: string, path: string, body?: object) => {
      const answer = await send(method, path, body);
      if (answer.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
      return answer.body.value;
    };
    const find = async (css: string): Promise<string> =>
      (await value('POST', 'element', { using: 'css selector', value: css }))[ELEMENT];
    const worked = new Set<string>();
    const refused = new Set<string>();
    const all = async (name: string, cases: readonly Case[]): Promise<void> => {
      for (const { method, path, body, value: wanted = null, error } of cases) {
        const given = method === 'POST' ? (body ?? {}) : undefined;
        const answer = await send(method, path, given);
        const pattern =
          error === undefined
            ? { status: 200, body: { value: wanted } }
            : { status: STATUS[error], body: { value: { error, message: String, stacktrace: String } } };
        t.match(answer, pattern, `${name}: ${method} ${path} ${JSON.stringify(given ?? '')}`);
        (error === undefined ? worked : refused).add(routeOf(method, path));
      }
    };
    const css = { using: 'css selector', value: '#name' };

    await all('Navigation', [
      { method: 'POST', path: 'url', body: { url: `${origin}/` } },
      { method: 'POST', path: 'url', body: {}, error: 'invalid argument' },
      { method: 'POST', path: 'url', body: { url: 'not an address' }, error: 'invalid argument' },
      { method: 'GET', path: 'url', value: `${origin}/` },
      { method: 'GET', path: 'title', value: 'Commands' },
      { method: 'POST', path: 'url', body: { url: `${origin}/other` } },
      { method: 'POST', path: 'back' },
      { method: 'GET', path: 'title', value: 'Commands' },
      { method: 'POST', path: 'forward' },
      { method: 'GET', path: 'title', value: 'Other' },
      { method: 'POST', path: 'refresh' },
      { method: 'GET', path: 'source', value: /id="?other/ },
      { method: 'POST', path: 'url', body: { url: `${origin}/` } },
    ]);
    await all('Timeouts', [
      { method: 'POST', path: 'timeouts', body: { script: 500, pageLoad: 60_000, implicit: 0 } },
      { method: 'GET', path: 'timeouts', value: { script: 500, pageLoad: 60_000, implicit: 0 } },
      { method: 'POST', path: 'timeouts', body: { implicit: -1 }, error: 'invalid argument' },
      { method: 'POST', path: 'timeouts', body: { script: 'soon' }, error: 'invalid argument' },
    ]);

    const input = await find('#name');
    const heading = await find('#top');
    const host = await find('#host');
    const shadow = (await value('GET', `element/${host}/shadow`))[SHADOW];
    await all('Finding', [
      { method: 'POST', path: 'element', body: css, value: { [ELEMENT]: input } },
      { method: 'POST', path: 'element', body: { using: 'xpath', value: '//h1' }, value: { [ELEMENT]: heading } },
      { method: 'POST', path: 'element', body: { using: 'tag name', value: 'h1' }, value: { [ELEMENT]: heading } },
      { method: 'POST', path: 'element', body: { ...css, value: '#none' }, error: 'no such element' },
      { method: 'POST', path: 'element', body: { ...css, value: '[' }, error: 'invalid selector' },
      { method: 'POST', path: 'element', body: { using: 'magic', value: 'x' }, error: 'invalid argument' },
      { method: 'POST', path: 'elements', body: { ...css, value: 'input' }, value: { length: 2 } },
      { method: 'POST', path: 'elements', body: { ...css, value: '#none' }, value: [] },
      { method: 'POST', path: 'elements', body: {}, error: 'invalid argument' },
      {
        method: 'POST',
        path: `element/${heading}/element`,
        body: { ...css, value: 'em' },
        value: { [ELEMENT]: String },
      },
      { method: 'POST', path: `element/${heading}/element`, body: css, error: 'no such element' },
      {
        method: 'POST',
        path: `element/${heading}/elements`,
        body: { ...css, value: 'em' },
        value: [{ [ELEMENT]: String }],
      },
      { method: 'POST', path: `element/${NONE}/elements`, body: css, error: 'no such element' },
      { method: 'GET', path: `element/${host}/shadow`, value: { [SHADOW]: shadow } },
      { method: 'GET', path: `element/${heading}/shadow`, error: 'no such shadow root' },
      {
        method: 'POST',
        path: `shadow/${shadow}/element`,
        body: { ...css, value: '.in' },
        value: { [ELEMENT]: String },
      },
      { method: 'POST', path: `shadow/${shadow}/element`, body: css, error: 'no such element' },
      {
        method: 'POST',
        path: `shadow/${shadow}/elements`,
        body: { ...css, value: '.in' },
        value: [{ [ELEMENT]: String }],
      },
      { method: 'POST', path: `shadow/${NONE}/elements`, body: css, error: 'no such shadow root' },
    ]);
    await all('State of elements', [
      { method: 'GET', path: `element/${heading}/text`, value: 'Hello you' },
      { method: 'GET', path: `element/${NONE}/text`, error: 'no such element' },
      { method: 'GET', path: `element/${heading}/name`, value: 'h1' },
      { method: 'GET', path: `element/${NONE}/name`, error: 'no such element' },
      { method: 'GET', path: `element/${heading}/attribute/class`, value: 'big' },
      { method: 'GET', path: `element/${heading}/attribute/none`, value: null },
      { method: 'GET', path: `element/${NONE}/attribute/class`, error: 'no such element' },
      { method: 'GET', path: `element/${input}/property/value`, value: 'Ada' },
      { method: 'GET', path: `element/${NONE}/property/value`, error: 'no such element' },
      { method: 'GET', path: `element/${heading}/css/color`, value: /rgba?\(1, 2, 3/ },
      { method: 'GET', path: `element/${NONE}/css/color`, error: 'no such element' },
      {
        method: 'GET',
        path: `element/${heading}/rect`,
        value: { x: Number, y: Number, width: Number, height: Number },
      },
      { method: 'GET', path: `element/${NONE}/rect`, error: 'no such element' },
      { method: 'GET', path: `element/${await find('#off')}/enabled`, value: false },
      { method: 'GET', path: `element/${NONE}/enabled`, error: 'no such element' },
      { method: 'GET', path: `element/${await find('#on')}/selected`, value: true },
      { method: 'GET', path: `element/${NONE}/selected`, error: 'no such element' },
      { method: 'GET', path: `element/${heading}/computedrole`, value: 'heading' },
      { method: 'GET', path: `element/${NONE}/computedrole`, error: 'no such element' },
      { method: 'GET', path: `element/${heading}/computedlabel`, value: 'Hello you' },
      { method: 'GET', path: `element/${NONE}/computedlabel`, error: 'no such element' },
    ]);
    await all('Acting', [
      { method: 'POST', path: `element/${input}/clear` },
      { method: 'POST', path: `element/${heading}/clear`, error: 'invalid element state' },
      { method: 'POST', path: `element/${input}/value`, body: { text: 'Grace' } },
      { method: 'POST', path: `element/${input}/value`, body: { text: 7 }, error: 'invalid argument' },
      { method: 'GET', path: `element/${input}/property/value`, value: 'Grace' },
      { method: 'GET', path: 'element/active', value: { [ELEMENT]: input } },
      { method: 'POST', path: `element/${await find('#go')}/click` },
      { method: 'POST', path: `element/${await find('#empty')}/click`, error: 'element not interactable' },
      { method: 'POST', path: `element/${NONE}/click`, error: 'no such element' },
      { method: 'GET', path: `element/${heading}/property/title`, value: 'gone' },
      {
        method: 'POST',
        path: 'actions',
        body: { actions: [{ type: 'key', id: 'keys', actions: [{ type: 'pause', duration: 1 }] }] },
      },
      { method: 'POST', path: 'actions', body: { actions: [{ type: 'magic', id: 'x' }] }, error: 'invalid argument' },
      { method: 'DELETE', path: 'actions' },
    ]);
    await all('Scripts', [
      { method: 'POST', path: 'execute/sync', body: { script: 'return arguments[0] + 1', args: [1] }, value: 2 },
      {
        method: 'POST',
        path: 'execute/sync',
        body: { script: 'throw new Error("no")', args: [] },
        error: 'javascript error',
      },
      { method: 'POST', path: 'execute/sync', body: { script: 'return 1' }, error: 'invalid argument' },
      { method: 'POST', path: 'execute/async', body: { script: 'arguments[0](3)', args: [] }, value: 3 },
      { method: 'POST', path: 'execute/async', body: { script: '0', args: [] }, error: 'script timeout' },
    ]);
    const first = await value('GET', 'window');
    await all('Windows', [
      { method: 'GET', path: 'window', value: first },
      { method: 'GET', path: 'window/handles', value: [first] },
      { method: 'POST', path: 'window', body: { handle: first } },
      { method: 'POST', path: 'window', body: { handle: 'none' }, error: 'no such window' },
      { method: 'POST', path: 'window', body: {}, error: 'invalid argument' },
      { method: 'POST', path: 'window/new', body: { type: 'tab' }, value: { handle: String, type: 'tab' } },
      { method: 'POST', path: 'window/new', body: { type: 7 }, error: 'invalid argument' },
      { method: 'GET', path: 'window/rect', value: { x: Number, y: Number, width: Number, height: Number } },
      { method: 'POST', path: 'window/rect', body: { width: -1 }, error: 'invalid argument' },
      { method: 'POST', path: 'window/rect', body: { width: 700, height: 500 }, value: { width: 700, height: 500 } },
      { method: 'POST', path: 'window/maximize', value: { width: Number, height: Number } },
      // Nothing manages windows on a container's screen.
      IN_DOCKER
        ? { method: 'POST', path: 'window/minimize', error: 'unsupported operation' }
        : { method: 'POST', path: 'window/minimize', value: { width: Number, height: Number } },
      { method: 'POST', path: 'window/fullscreen', value: { width: Number, height: Number } },
    ]);
    const [second] = (await value('GET', 'window/handles')).filter((handle: string) => handle !== first);
    await all('Closing a window', [
      { method: 'POST', path: 'window', body: { handle: second } },
      { method: 'DELETE', path: 'window', value: [first] },
    ]);
    for (const route of NEEDING_A_WINDOW) {
      const [method = '', path = ''] = route.replace('element/*', `element/${input}`).split(' ');
      const body = method === 'POST' ? (BODIES[route.replace(/(element|shadow)\/\*\//, '')] ?? {}) : undefined;
      const answer = await send(method, path.replace('shadow/*', `shadow/${shadow}`).replace('*', 'x'), body);
      t.match(answer, { status: 404, body: { value: { error: 'no such window' } } }, `a closed window: ${route}`);
      refused.add(route);
    }
    await all('The window before', [
      { method: 'POST', path: 'window', body: { handle: first } },
      { method: 'GET', path: 'title', value: 'Commands' },
    ]);
    const frame = { [ELEMENT]: await find('iframe') };
    await all('Frames', [
      { method: 'POST', path: 'frame', body: { id: frame } },
      { method: 'POST', path: 'element', body: { ...css, value: '#inside' }, value: { [ELEMENT]: String } },
      { method: 'POST', path: 'frame/parent' },
      { method: 'POST', path: 'frame', body: { id: 0 } },
      { method: 'POST', path: 'frame', body: { id: null } },
      { method: 'POST', path: 'frame', body: { id: 9 }, error: 'no such frame' },
      { method: 'POST', path: 'frame', body: {}, error: 'invalid argument' },
    ]);
    await all('Cookies', [
      { method: 'POST', path: 'cookie', body: { cookie: { name: 'tea', value: 'green' } } },
      { method: 'POST', path: 'cookie', body: { cookie: { name: 'tea' } }, error: 'invalid argument' },
      {
        method: 'POST',
        path: 'cookie',
        body: { cookie: { name: 'a', value: 'b', domain: 'example.test' } },
        error: 'invalid cookie domain',
      },
      { method: 'GET', path: 'cookie', value: [{ name: 'tea', value: 'green' }] },
      { method: 'GET', path: 'cookie/tea', value: { name: 'tea', value: 'green', path: '/' } },
      { method: 'GET', path: 'cookie/none', error: 'no such cookie' },
      { method: 'DELETE', path: 'cookie/tea' },
      { method: 'DELETE', path: 'cookie' },
      { method: 'GET', path: 'cookie', value: [] },
    ]);
    await all('Alerts', [
      { method: 'GET', path: 'alert/text', error: 'no such alert' },
      { method: 'POST', path: 'alert/accept', error: 'no such alert' },
      { method: 'POST', path: 'alert/dismiss', error: 'no such alert' },
      { method: 'POST', path: 'alert/text', body: { text: 'x' }, error: 'no such alert' },
      {
        method: 'POST',
        path: 'execute/sync',
        body: { script: 'setTimeout(() => { window.said = prompt("Who?") })', args: [] },
      },
      { method: 'GET', path: 'alert/text', value: 'Who?' },
      { method: 'POST', path: 'alert/text', body: {}, error: 'invalid argument' },
      { method: 'POST', path: 'alert/text', body: { text: 'Ada' } },
      { method: 'POST', path: 'alert/accept' },
      { method: 'POST', path: 'execute/sync', body: { script: 'return said', args: [] }, value: 'Ada' },
      {
        method: 'POST',
        path: 'execute/sync',
        body: { script: 'setTimeout(() => { window.sure = confirm("Sure?") })', args: [] },
      },
      { method: 'POST', path: 'alert/dismiss' },
      { method: 'POST', path: 'execute/sync', body: { script: 'return sure', args: [] }, value: false },
    ]);
    await all('Pictures', [
      { method: 'GET', path: 'screenshot', value: /^iVBOR/ },
      { method: 'GET', path: `element/${heading}/screenshot`, value: /^iVBOR/ },
      { method: 'GET', path: `element/${NONE}/screenshot`, error: 'no such element' },
      { method: 'POST', path: 'print', value: /^JVBER/ },
      { method: 'POST', path: 'print', body: { scale: 99 }, error: 'invalid argument' },
    ]);
    // chromedriver names a wrong method so, too.
    await all('Paths that do not exist', [
      { method: 'GET', path: 'nothing', error: 'unknown command' },
      { method: 'POST', path: 'title', error: 'unknown command' },
      { method: 'DELETE', path: 'url', error: 'unknown command' },
    ]);
    for (const route of W3C_ROUTES.filter((route) => route.startsWith('POST'))) {
      const answer = await send('POST', route.slice('POST '.length).replaceAll('*', input), '{');
      t.match(answer, { status: 400, body: { value: { error: 'invalid argument' } } }, `no JSON: ${route}`);
    }
    t.same(missingIn(worked), IN_DOCKER ? ['POST window/minimize'] : [], 'each command has worked');
    t.same(missingIn(refused), ['GET timeouts', 'GET window/handles'], 'and all with any input were refused a bad one');
    t.match(await hub('DELETE', `/session/${sessionId}`), { status: 200, body: { value: null } });
    t.match(await hub('DELETE', `/session/${sessionId}`), {
      status: 404,
      body: { value: { error: 'invalid session id' } },
    });
  },
);
