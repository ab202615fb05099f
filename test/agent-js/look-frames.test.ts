import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { findChromium } from '#troupe/containers/chromium/chromium-binary.js';
import { bounds, driverFixture, openFolder, wish } from '../containers/driver-fixture.js';
import { openAgent, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

/** A Chromium that gives each site a process of its own, as a full one does and a headless shell does not. */
const folder = openFolder(t);
const chromium = await findChromium({ configured: process.env.TROUPE_CHROMIUM, cacheDir: join(folder, 'cache') });
const wrapper = join(folder, 'chromium');
writeFileSync(wrapper, `#!/bin/sh\nexec '${chromium.path}' --site-per-process "$@"\n`);
chmodSync(wrapper, 0o755);
const { driver } = await driverFixture(t, { chromium: { ...chromium, path: wrapper } });
const lease = await driver.lease(wish('frames', { viewport: { width: 1280, height: 720 } }), bounds());
t.teardown(() => lease.release());
const site = await openSite(t);
const neighbour = await openSite(t);
const { call, look, failure } = await openAgent(t, lease);
/** Another site in the browser's eyes: drawn by a process of its own. */
const farOrigin = site.origin.replace('127.0.0.1', 'localhost');

async function locators(options: object = { full: true }): Promise<string[]> {
  return (await look(options)).elements.map(({ locator }) => locator);
}

const LOG = '<p id=out></p><script>onclick = (e) => { out.textContent += e.target.textContent + "." }</script>';

t.test(
  'Frames of the same origin, of another origin and of another site are seen in the order of drawing',
  async (t) => {
    site.set('/deepest', `<button>Deepest</button><button>Save</button>${LOG}`);
    neighbour.set('/next', `<button>Save</button><label>Card <input></label>${LOG}`);
    site.set(
      '/far',
      `<button>Far</button><iframe src="${site.origin}/deepest" height=60></iframe><button>Save</button>${LOG}`,
    );
    await call(
      'go',
      site.set(
        '/outer',
        `<button>Save</button><iframe srcdoc="<button>Save</button>" height=40></iframe>
      <iframe src="${neighbour.origin}/next" height=60></iframe><button>Between</button>
      <iframe src="${farOrigin}/far" height=150></iframe><button>Save</button>${LOG}`,
      ),
    );
    t.same(await locators(), [
      '{button:1}Save',
      '{button:2}Save',
      '{button:3}Save',
      '{input}Card',
      '{button}Between',
      '{button}Far',
      '{button}Deepest',
      '{button:4}Save',
      '{button:5}Save',
      '{button:6}Save',
    ]);
    t.same((await look()).diff, { added: [], removed: [], changed: [] });
  },
);

t.test('Each locator means its own element, in whichever frame it is', async (t) => {
  const value = (text: unknown) => String(text);
  await call('act', '{input}Card', 'input', '4242');
  t.equal(await call('value', '{input}Card'), '4242');
  t.same((await look()).diff?.changed, [{ locator: '{input}Card', value: '4242' }]);
  await call('act', '{button}Deepest', 'click');
  await call('act', '{button:3}Save', 'click');
  await call('act', '{button:4}Save', 'click');
  await call('act', '{button:5}Save', 'click');
  await call('act', '{button:6}Save', 'click');
  t.equal(value(await call('page', 'out.textContent')), 'Save.');
  const texts = await Promise.all(['{button}Far', '{button}Deepest'].map((locator) => call('text', locator)));
  t.same(texts, ['Far', 'Deepest']);
  t.match(await failure('act', '{button}Save', 'click'), {
    code: 'LOCATOR_AMBIGUOUS',
    details: { candidates: [1, 2, 3, 4, 5, 6].map((index) => `{button:${index}}Save`) },
  });
  t.match(await call('wait', '{button}Deepest'), {});
  t.match(await call('wait', '!{button}Nowhere'), {});
});

t.test('A frame that comes, changes and goes is in the diffs', async (t) => {
  neighbour.set('/pay', '<button id=b>Pay</button>');
  await call('go', site.set('/plain', '<button>Buy</button>'));
  t.same(await locators(), ['{button}Buy']);
  await call(
    'page',
    `document.body.insertAdjacentHTML('beforeend', '<iframe src="${neighbour.origin}/pay"></iframe>'); 0`,
  );
  await call('wait', '{button}Pay');
  t.same((await look()).diff, { added: [1], removed: [], changed: [] });
  await call('page', `document.querySelector('iframe').remove()`);
  t.same((await look()).diff, { added: [], removed: ['{button}Pay'], changed: [] });
});

t.test('A frame that hangs takes nothing but itself out of view', async (t) => {
  const hangs = new Promise<void>((resolve) => {
    site.set('/hangs', (_, response) => void response.end(resolve));
  });
  const lastWords = `const asked = new XMLHttpRequest(); asked.open('GET', '/hangs', false); asked.send(); for (;;);`;
  site.set('/busy', `<button>Busy</button><script>setTimeout(() => { ${lastWords} }, 300)</script>`);
  await call('go', site.set('/beside', `<button>Beside</button><iframe src="${farOrigin}/busy"></iframe>`));
  await hangs;
  t.same(await locators(), ['{button}Beside']);
  t.match(await call('act', '{button}Beside', 'click'), { url: `${site.origin}/beside` });
  await call('go', 'about:blank');
});

t.test('An object is a frame where it shows a document, and what it holds where it does not', async (t) => {
  site.set('/in-object', `<label>Code <input></label><button>Save</button>${LOG}`);
  neighbour.set('/in-object', `<button>Far</button>${LOG}`);
  site.set('/drawing', (_, response) => {
    response.setHeader('content-type', 'image/svg+xml');
    response.end(
      '<svg xmlns="http://www.w3.org/2000/svg" width="50" height="50"><a href="/x"><text y="20">Map</text></a></svg>',
    );
  });
  await call(
    'go',
    site.set(
      '/objects',
      `<object data=/in-object type=text/html height=80></object><object data="${neighbour.origin}/in-object" type=text/html height=60></object>
       <object data=/drawing type=image/svg+xml></object><object data=/missing><button>Instead</button></object><object id=late></object>`,
    ),
  );
  t.same(await locators(), ['{input}Code', '{button}Save', '{button}Far', '{a}Map', '{button}Instead']);
  await call('act', '{input}Code', 'input', 'four');
  t.equal(await call('value', '{input}Code'), 'four');
  t.match(await call('act', '{button}Far', 'click'), { changed: true });
  t.match(await call('act', '{button}Instead', 'click'), { changed: false });
  await call('page', `late.type = 'text/html'; late.data = '/in-object'; 0`);
  await call('wait', '{button:2}Save');
  t.same((await look()).elements.map(({ locator }) => locator).slice(-2), ['{input:2}Code', '{button:2}Save']);
});

t.test('Closed shadow roots are seen into, made by script', async (t) => {
  await call(
    'go',
    site.set(
      '/closed',
      `<x-card>Slotted</x-card><script>
      customElements.define('x-card', class extends HTMLElement {
        constructor() {
          super();
          const root = this.attachShadow({ mode: 'closed' });
          root.innerHTML = '<button><slot></slot> here</button><x-inner></x-inner>';
          root.querySelector('button').onclick = () => { this.dataset.clicked = 'yes'; };
        }
      });
      customElements.define('x-inner', class extends HTMLElement {
        connectedCallback() { this.attachShadow({ mode: 'closed' }).innerHTML = '<label>Deep <input></label>'; }
      });</script>`,
    ),
  );
  t.same(await locators(), ['{button}Slotted here', '{input}Deep']);
  await call('act', '{button}Slotted here', 'click');
  t.equal(await call('page', `document.querySelector('x-card').dataset.clicked`), 'yes');
  await call('act', '{input}Deep', 'input', 'down here');
  t.equal(await call('value', '{input}Deep'), 'down here');
  t.equal(
    await call('page', `String(document.querySelector('x-card').shadowRoot)`),
    'null',
    'the page sees no difference',
  );
  t.match(await call('page', 'Element.prototype.attachShadow.toString()'), /\[native code\]/);
});

t.test('Closed shadow roots that markup declares are seen into, whoever has it parsed, in frames too', async (t) => {
  const declared = (inside: string, more = '') => `<template shadowrootmode=closed ${more}>${inside}</template>`;
  site.set('/declared-far', `<section>${declared(`<button onclick="this.title = 7">Far</button>`)}</section>`);
  await call(
    'go',
    site.set(
      '/declared',
      `<div id=host>${declared('<label>Deep <input></label><button>One</button><slot></slot>', 'shadowrootclonable')}<i>Light</i></div>
       <iframe src="${farOrigin}/declared-far"></iframe><p id=late></p>`,
    ),
  );
  t.same(await locators(), ['{input}Deep', '{button}One', '{button}Far']);
  await call('act', '{input}Deep', 'input', 'down here');
  t.equal(await call('value', '{input}Deep'), 'down here');
  t.match(await call('act', '{button}Far', 'click'), { changed: true });
  await call('page', `late.setHTMLUnsafe(${JSON.stringify(`<div>${declared('<button>Two</button>')}</div>`)}); null`);
  await call('act', '{button}Two', 'click');
  t.same((await look()).diff, { added: [3], removed: [], changed: [{ locator: '{input}Deep', value: 'down here' }] });
  await call('page', `late.replaceChildren(host.cloneNode(true)); null`);
  t.same(await locators(), ['{input:1}Deep', '{button:1}One', '{button}Far', '{input:2}Deep', '{button:2}One']);
  const parsed = JSON.stringify(`<body><div>${declared('<a href=/x>Three</a>')}</div>`);
  await call(
    'page',
    `{ const { body } = Document.parseHTMLUnsafe(${parsed}); setTimeout(() => late.append(...body.children), 100) }`,
  );
  await call('wait', '{a}Three');
  t.equal(await call('page', 'host.shadowRoot'), null, 'the page sees no difference');
});

t.test('Elements with listeners for presses are controls while they listen', async (t) => {
  await call(
    'go',
    site.set(
      '/listening',
      `<div id=a>One</div><div id=b>Two</div><div id=list><button>In a list</button></div><p id=c>Three</p><script>
      const note = () => {};
      a.addEventListener('click', note);
      b.onclick = note;
      list.addEventListener('click', note);
      c.addEventListener('mousedown', note);</script>`,
    ),
  );
  t.same(await locators(), ['{div}One', '{div}Two', '{button}In a list', '{p}Three']);
  await call('page', `a.removeEventListener('click', note); b.onclick = null`);
  t.same((await look()).diff?.removed, ['{div}One', '{div}Two']);
});

t.test('Files are uploaded in frames of another site, into an input and through a button', async (t) => {
  writeFileSync(join(lease.endpoint.uploadsDir, 'cv.txt'), 'hello');
  site.set(
    '/form',
    `<input id=a type=file aria-label=File><input id=h type=file hidden onchange="out.textContent = files[0].name">
     <button onclick="h.click()">Choose</button><p id=out></p>`,
  );
  await call('go', site.set('/hosts-form', `<button>Own</button><iframe src="${farOrigin}/form" height=200></iframe>`));
  await call('act', '{input}File', 'upload', 'cv.txt');
  t.equal(await call('value', '{input}File'), 'cv.txt');
  await call('act', '{button}Choose', 'upload', 'cv.txt');
  t.equal(await call('text', '{p}cv.txt'), 'cv.txt');
});

t.end();

t.test('Assertions read frames of other sites, and count and wait through all of them', async (t) => {
  site.set(
    '/late-frame',
    `<p>Frame</p><button disabled>Pay</button><p id=sum>0</p><script>
    onmessage = () => { sum.textContent = '12'; document.querySelector('button').disabled = false }</script>`,
  );
  await call('go', site.set('/around', `<button>Save</button><iframe src="${farOrigin}/late-frame"></iframe>`));
  const expects = (locator: string | null, matcher: string, ...values: unknown[]) =>
    call('expect', locator, matcher, { not: false, values });
  await expects('{button}Pay', 'toBeDisabled');
  await call('page', "setTimeout(() => frames[0].postMessage(1, '*'), 60); null");
  await expects('{button}Pay', 'toBeEnabled');
  await expects('#sum', 'toHaveText', '12');
  await expects('{button}', 'toHaveCount', 2);
  await expects('{button}Gone', 'toBeHidden');
  t.match(await failure('expect', '{button}Pays', 'toBeVisible', { not: false, values: [{ timeout: 1 }] }), {
    code: 'MATCH_FAILED',
    details: { received: 'no such element' },
  });
  await call('page', "setTimeout(() => document.querySelector('iframe').remove(), 60); null");
  await expects('{button}Pay', 'toBeHidden');
  await expects('{button}', 'toHaveCount', 1);
});
