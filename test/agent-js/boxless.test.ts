import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const lease = await openBrowser(t);
const site = await openSite(t);
const { call, look } = await openAgent(t, lease);
const open = (html: string) =>
  call('go', site.set('/boxless', `<title>Boxless</title><style>.c { display: contents }</style>${html}`));
const locators = async () => (await look({ full: true })).elements.map(({ locator }) => locator);

t.test('Controls without a box of their own are seen by what is drawn in them, and clicked there', async (t) => {
  await open(`<main style="display: grid; gap: 4px">
    <a class=c href="#card"><div><h3>Card</h3><p>More of it</p></div></a>
    <button class=c onclick="hit.textContent += 'text '">Text alone</button>
    <div class=c role=button tabindex=0 onclick="hit.textContent += 'role '"><span class=c><b>Nested</b></span></div>
    <div class=c id=listens><span>Listens</span></div>
    <x-button class=c role=button onclick="hit.textContent += 'shadow '"></x-button></main>
    <div style="height: 3000px"></div><a class=c href="#below"><span>Below</span></a><button class=c onclick="hit.textContent += 'far'">Far below</button><p id=hit></p>
    <script>listens.addEventListener('click', () => { hit.textContent += 'listener '; });
    document.querySelector('x-button').attachShadow({ mode: 'open' }).innerHTML = '<i>In a shadow</i>';</script>`);
  t.same(await locators(), [
    '{a}Card More of it',
    '{button}Text alone',
    '{button}Nested',
    '{div}Listens',
    '{button}In a shadow',
    '{a}Below',
    '{button}Far below',
  ]);
  for (const one of [
    '{button}Text alone',
    '{button}Nested',
    '{div}Listens',
    '{button}In a shadow',
    '{button}Far below',
  ])
    await call('act', one, 'click');
  t.equal(await call('text', '#hit'), 'text role listener shadow far');
  t.match(await call('act', '{a}Below', 'click'), { url: /#below$/ });
  t.match(await call('act', '{a}Card More of it', 'click'), { url: /#card$/ });
});

t.test('Those of which nothing is drawn are not seen, and the next look tells when that changes', async (t) => {
  await open(`<style>.gone { display: none }</style>
    <a class=c href=#1><span id=span>One</span></a><div id=around><a class=c href=#2>Two</a></div>
    <a class=c href=#3></a><a class=c href=#4 style="visibility: hidden">Four</a><a class=c href=#5 style="overflow: hidden"><button>Five</button></a>`);
  t.same(await locators(), ['{a}One', '{a}Two', '{a}Five', '{button}Five']);
  await call('page', `span.className = 'gone'; 0`);
  t.same((await look()).diff, { added: [], removed: ['{a}One'], changed: [] });
  await call('page', `document.styleSheets[1].insertRule('#around { display: none }'); 0`);
  t.same((await look()).diff, { added: [], removed: ['{a}Two'], changed: [] });
  await call('page', `document.styleSheets[1].deleteRule(0); span.className = ''; 0`);
  t.same((await look()).diff, { added: [0, 1], removed: [], changed: [] });
  t.match(await call('act', '{a}Two', 'click'), { url: /#2$/ });
});

t.end();
