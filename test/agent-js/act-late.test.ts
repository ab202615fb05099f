import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call } = await openAgent(t, lease);
site.set('/answer', (_, response) => setTimeout(() => response.end('Saved'), 250));

const SAYS = '<button id=b>Save</button><p id=says></p>';
const ASKS = `fetch('/answer').then((answer) => answer.text()).then((text) => { says.textContent = text; })`;
/** A page, what is done on it, and whether something comes of it. */
const CASES: { readonly [what: string]: readonly [html: string, act: readonly unknown[], changed: boolean] } = {
  'by a timer': [
    `${SAYS}<script>b.onclick = () => setTimeout(() => { says.textContent = 'Saved'; }, 300);</script>`,
    ['{button}Save', 'click'],
    true,
  ],
  'by an answer': [`${SAYS}<script>b.onclick = () => { ${ASKS} };</script>`, ['{button}Save', 'click'], true],
  'by an answer to what is asked after a pause': [
    `${SAYS}<script>b.onclick = () => setTimeout(() => { ${ASKS} }, 300);</script>`,
    ['{button}Save', 'click'],
    true,
  ],
  'by a key': [
    `<p tabindex=0 id=k>Keys</p><p id=says></p><script>
      k.onkeydown = () => setTimeout(() => { says.textContent = 'Saved'; }, 400);</script>`,
    ['#k', 'press', 'a'],
    true,
  ],
  'as a hint does': [
    `<b id=h style="margin: 300px">Word</b><p id=says></p><script>
      h.onmouseenter = () => setTimeout(() => { says.textContent = 'Hint'; }, 400);</script>`,
    ['#h', 'hover'],
    true,
  ],
  'by an answer to a drop': [
    `<b id=b style="display:inline-block">Box</b><p id=says>Nothing</p><script>
      b.onpointerdown = () => { onpointerup = () => { ${ASKS}; }; };</script>`,
    ['#b', 'drag', { by: [80, 40] }],
    true,
  ],
  'in nothing, although a timer ran': [
    `${SAYS}<script>b.onclick = () => setTimeout(() => { window.ran = true; }, 300);</script>`,
    ['{button}Save', 'click'],
    false,
  ],
  'in nothing, although an answer came': [
    `${SAYS}<script>b.onclick = () => { fetch('/answer'); };</script>`,
    ['{button}Save', 'click'],
    false,
  ],
};

t.test('changed is true of what a page does late, as far as the action has begun it', async (t) => {
  for (const [what, [html, act, expected]] of Object.entries(CASES)) {
    await call('go', site.set('/late', `<!doctype html><title>Late</title>${html}`));
    const { changed } = (await call('act', ...act)) as { changed: boolean };
    t.equal(changed, expected, what);
  }
});

t.test('changed is true of what a page in a frame of another origin does late', async (t) => {
  const inner = site.set('/inner', `${SAYS}<script>b.onclick = () => { ${ASKS} };</script>`);
  const apart = inner.replace('127.0.0.1', 'localhost');
  await call('go', site.set('/outer', `<!doctype html><title>Outer</title><iframe src="${apart}"></iframe>`));
  const acted = (await call('act', '{button}Save', 'click')) as { changed: boolean; title: string };
  t.match(acted, { changed: true, title: 'Outer' });
});

t.end();
