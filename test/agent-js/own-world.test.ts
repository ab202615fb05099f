import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import {
  declaring,
  LISTED,
  NAMES,
  PRESSED,
  replacedPage,
  replacing,
  replacingMembers,
} from '../support/replaced-page.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, look, told } = await openAgent(t, lease);
await call('go', site.set('/', '<p>Names'));
const names = (await call('page', NAMES)) as readonly string[];

const REPLACED: { readonly [what: string]: string } = {
  'Map, by a class of its own': 'class Map { constructor() { this.tiles = []; } } new Map();',
  'all globals, by its own declarations': declaring(names),
  'all globals, and all their methods and accessors': replacingMembers(names, true) + replacing(names),
};
for (const [what, replace] of Object.entries(REPLACED)) {
  t.test(`a page that has replaced ${what} works, is listed whole, and its values are right`, async (t) => {
    const before = told('PageErrorLogged').length;
    await call('go', site.set('/replaced', replacedPage(replace)));
    const { title, elements } = await look();
    t.equal(title, 'ready');
    t.same(
      elements.map(({ locator }) => locator),
      LISTED,
    );
    const value = { a: ['', '1', '<#document>'], b: '[window]' };
    t.same(await call('page', '({ a: [heard, 1n, document], b: window })'), value);
    t.same(told('PageErrorLogged').slice(before), []);
    // What is listed can be used: the last page shows it.
    if (!t.passing() || !/methods/.test(what)) return;
    for (const locator of PRESSED) await call('act', locator, 'click');
    await call('act', '{input}Name', 'input', 'A');
    t.match(await call('act', '{button}Pause', 'click'), { changed: true });
    t.equal(await call('text', '#said'), 'Listener Property Closed Open Compiled React Query Written Typed Paused');
    await call('act', '{button}Ask', 'click');
    t.match(await look(), { elements: [{ locator: '{dialog}OK' }] });
    await call('act', '{dialog}OK', 'click');
    t.match(await call('page', 'heard'), /Asked/);
    t.same(told('PageErrorLogged').slice(before), []);
  });
}

t.test('values of a page are what they are, with a toJSON of Prototype.js or a JSON of its own', async (t) => {
  const js = '({ list: [1, "a", { b: [] }], date: new Date(0), url: new URL("http://a.example/") })';
  const value = {
    list: [1, 'a', { b: [] }],
    date: '1970-01-01T00:00:00.000Z',
    url: 'http://a.example/',
  };
  const prototypeJs = `for (const type of [Object, Array, String, Number, Date, URL])
    type.prototype.toJSON = function () { return String(this); };`;
  for (const replace of [
    prototypeJs,
    "window.JSON = { stringify: () => '1' };",
    'class JSON {}',
    'window.eval = null;',
  ]) {
    await call('go', site.set('/values', `<script>${replace}</script>`));
    t.same(await call('page', js), value, replace);
  }
});
