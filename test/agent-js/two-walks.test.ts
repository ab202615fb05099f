import { join } from 'node:path';
import { build } from 'esbuild';
import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { openCorpus } from '../support/corpus.js';
import { guardLeaks } from '../support/leaks.js';
import { libraryNames, openLibraries } from '../support/library-corpus.js';
import { installLibraries } from '../support/library-install.js';
import { hasAllCases, sampled } from '../support/sampled.js';

guardLeaks(t);
const lease = await openBrowser(t);
const { call, browser, look } = await openAgent(t, lease);
const corpus = await openCorpus(t);
const site = await openSite(t);
const missing = hasAllCases ? await installLibraries() : 'a sample has none';
const libraries = missing === false ? await openLibraries(t, libraryNames()) : [];

/**
 * The two walks of the page code, side by side: the one that finds what a word calls, without styles and listeners, and the one
 * that lists everything. Listeners and closed roots are noted as the hooks do.
 */
const SOURCE = `
import { Collector } from './collector.js';
import { share } from './discoveries.js';
import { answersTo, naturalRole, roleOf } from '../names/roles.js';
import { kindOfEvent } from '../event-kinds.js';
import { walk } from '../tree/flat-tree.js';

const kinds = new WeakMap();
const roots = new WeakMap();
const { addEventListener } = EventTarget.prototype;
EventTarget.prototype.addEventListener = function (type, ...rest) {
  if (this instanceof Node) kinds.set(this, (kinds.get(this) ?? 0) | kindOfEvent(type));
  return addEventListener.call(this, type, ...rest);
};
const { attachShadow } = Element.prototype;
Element.prototype.attachShadow = function (options) {
  const root = attachShadow.call(this, options);
  roots.set(this, root);
  return root;
};
share({ ask() {}, closedRoot: (host) => roots.get(host) ?? null, kindsOf: (element) => kinds.get(element) ?? 0 });

const shown = ({ controls, inert }) => [...controls, null, ...inert].map((one) => one ?? { element: null, rect: 0 }).map(({ element, rect }) => ({ element, rect: JSON.stringify(rect) }));
const byWalk = (word, fits, inert) => new Collector({ word, fits, inert, takesWord: true }).collect();
const same = (left, right) =>
  left.length === right.length && left.every(({ element, rect }, at) => right[at].element === element && right[at].rect === rect);

globalThis.compareWalks = () => {
  const every = () => true;
  const all = byWalk('*', every, false);
  const differences = [];
  if (!same(shown(all), shown(byWalk('*', every, false)))) differences.push('two walks for everything');
  const words = new Set();
  walk(document.documentElement, true, (element) => {
    words.add(roleOf(element));
    if (roleOf(element) === element.localName) words.add(naturalRole(element));
    return true;
  });
  let decided = 0;
  let found = 0;
  for (const word of words) {
    if (word === '*') continue;
    const names = new Set(all.controls.filter((one) => one.words.includes(word)).map(({ name }) => name));
    for (const name of [null, ...names]) {
      const fits = (one) => name === null || one.name === name;
      const byWord = byWalk(word, fits, true);
      if (byWord === null) continue;
      decided++;
      found += byWord.controls.length + byWord.inert.length;
      const among = byWalk('*', (one) => one.words.includes(word) && fits(one), true);
      const places = (collected) => collected.gaps.map(({ at }) => at).join();
      if (!same(shown(byWord), shown(among)) || places(byWord) !== places(among))
        differences.push(word + ' ' + name + ': ' + shown(byWord).length - 1 + ' by word, ' + (shown(among).length - 1) + ' among all');
    }
  }
  return { differences, decided, found };
};
`;

/** Where one control is listed in the place of another, or is hidden by what is around it. */
const ODD = `<!doctype html><title>Odd</title>
<ul role=tree><li role=treeitem style="padding: 20px"><a style="cursor: pointer" onclick="1">Leaf</a></li>
<li role=treeitem tabindex=0><span onclick="1" style="display: inline-block; width: 9px; height: 9px"></span>Branch</li></ul>
<table><tr onclick="1"><td contenteditable>One <b>bold</b></td><td>Two</td></tr></table>
<div role=tab tabindex=0><a href="#" tabindex=-1>Tab</a></div><div onclick="1" style="cursor: pointer">Card <button>Save</button></div>
<div style="height: 0; overflow: hidden"><button>Folded</button><button style="position: fixed; right: 0; bottom: 0">Free</button>
<iframe srcdoc="<button>In a folded frame</button>"></iframe></div>
<div style="height: 0; overflow: hidden; position: relative"><button style="position: absolute">Held</button></div>
<iframe srcdoc="<button>In a frame</button><div style='width: 0; overflow: clip'><button>Folded</button></div>"></iframe>
<label>Box <input type=checkbox style="display: none"></label> <label>Seen <input type=checkbox style="opacity: 0"></label>
<div style="display: none"><input type=checkbox id=away><button>Away</button></div><label for=away>Its label</label>
<label>File <input type=file hidden></label><textarea style="display: none"></textarea><input type=hidden><button hidden>Gone</button>
<button style="visibility: hidden">Not seen</button><button style="width: 0; padding: 0; border: 0">No size</button><button inert>Inert</button>
<section inert><button>Save</button><div onclick="1" style="cursor: pointer">Card</div></section>
<div role=dialog aria-modal=true style="position: fixed; inset: 200px"><button>Save</button><button>Close <i>x</i></button></div>`;

const { outputFiles } = await build({
  stdin: {
    contents: SOURCE,
    resolveDir: join(import.meta.dirname, '../../src/page/controls'),
    loader: 'js',
  },
  bundle: true,
  write: false,
  format: 'iife',
  target: 'es2023',
  logLevel: 'error',
});

await t.test('what a word calls is the same by its own walk and among all controls', async (t) => {
  await call('go', 'about:blank');
  const { targetInfos } = await browser.send('Target.getTargets', {});
  const target = targetInfos.find(({ type }) => type === 'page');
  const { sessionId } = await browser.send('Target.attachToTarget', {
    targetId: target?.targetId ?? '',
    flatten: true,
  });
  const source = outputFiles.map(({ text }) => text).join('');
  await browser.send('Page.enable', {}, { session: sessionId });
  await browser.send('Page.addScriptToEvaluateOnNewDocument', { source }, { session: sessionId });
  let found = 0;
  const odd = [ODD, ODD.replace(/<div role=dialog.*/, '')];
  const pages = [
    ...odd.map((html, at) => ({ name: `odd ${at}`, url: site.set(`/odd${at}`, html), last: '' })),
    ...sampled(corpus, { name: 'two walks', count: 12 }).map(({ name, url, expected }) => ({
      name,
      url,
      last: expected.at(-1) ?? '',
    })),
    ...libraries.map(({ name, url }) => ({
      name,
      url: url(false),
      last: '#main *',
    })),
  ];
  for (const { name, url, last } of pages) {
    await call('go', url);
    // Components draw themselves when their script has come.
    if (/^(?:\{\*\}|#)/.test(last)) await call('wait', last);
    await look();
    const walks = (await call('page', 'compareWalks()')) as { differences: string[]; found: number };
    t.same(walks.differences, [], name);
    found += walks.found;
  }
  t.ok(found > 100, `${found} controls were found by words`);
});
