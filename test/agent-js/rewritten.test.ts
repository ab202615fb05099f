import t from 'tap';
import { HOSTILE_CASES, HOSTILE_PAGE } from '../../bench/support/hostile-page.mjs';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

/** Documents that write themselves anew, or are written by others: the browser takes all listeners away from their windows. */

const lease = await openBrowser(t);
const site = await openSite(t);
const { call, look } = await openAgent(t, lease);

async function writeAnew(html: string): Promise<void> {
  await call('go', site.set('/first', '<title>First</title><button>First</button>'));
  await look();
  await call('page', `document.open(); document.write(${JSON.stringify(html)}); document.close(); 0`);
}
/** Two actions with keys. */
async function types(field: string): Promise<void> {
  await call('act', field, 'input', 'Ada');
  await call('act', field, 'press', 'Backspace');
}
const locators = async () => (await look({ full: true })).elements.map(({ locator }) => locator);

t.test('No click on a hostile button of theirs is lost, and none lands elsewhere', async (t) => {
  await writeAnew(HOSTILE_PAGE);
  for (const kind of HOSTILE_CASES) {
    await call('page', `begin(${JSON.stringify(kind)}); null`);
    for (let tried = 0; tried < 10; tried++) await call('act', '{button}Target', 'click');
    t.same(await call('page', 'tally()'), { right: 10, wrong: 0 }, kind);
  }
});

t.test('Keys are heard in them as fast as in others', async (t) => {
  for (const script of ['', '<script>onkeydown = (event) => { document.title += event.key; };</script>']) {
    await writeAnew(`<title></title><input aria-label=Name>${script}`);
    await types('{input}Name');
    t.equal(await call('value', '{input}Name'), 'Ad');
    t.equal(
      await call('page', 'document.title'),
      script === '' ? '' : 'aBackspace',
      'the last character comes as a key',
    );
  }
});

t.test('What their scripts listen to and close off is found, also while they are written', async (t) => {
  const closed = (name: string) =>
    `document.body.appendChild(document.createElement('p')).attachShadow({ mode: 'closed' }).innerHTML = '<button>${name}</button>';`;
  await writeAnew(`<body><div id=a>One</div><div id=b>Two</div><script>a.addEventListener('click', () => { a.textContent = 'Hit'; });
    ${closed('Three')}</script><section><template shadowrootmode=closed><button>Four</button></template></section>`);
  t.same(await locators(), ['{div}One', '{button}Three', '{button}Four']);
  await call('page', `b.addEventListener('click', () => {}); ${closed('Five')} 0`);
  t.same((await look()).diff, { added: [1, 4], removed: [], changed: [] });
  t.match(await call('act', '{div}One', 'click'), { changed: true });
  t.match(await call('act', '{button}Five', 'click'), { changed: false });
});

t.test('A frame that is written by its page is as others are', async (t) => {
  const editor = `<div contenteditable aria-label=Editor id=e>Text</div><div id=a>One</div><script>
    a.addEventListener('click', () => { a.textContent = 'Hit'; }); onkeydown = () => {};</script>`;
  const write = `const { contentDocument } = f; contentDocument.open(); contentDocument.write(${JSON.stringify(editor)}); contentDocument.close();`;
  await call('go', site.set('/around', `<title>Around</title><iframe id=f></iframe>`));
  for (let time = 0; time < 2; time++) {
    await call('page', `{ ${write} }`);
    t.match(await locators(), ['{div}Editor', '{div}One']);
    await types('{div}Editor');
    t.equal(await call('page', 'f.contentDocument.getElementById("e").innerText'), 'Ad');
    await call('page', `{ ${write} }`);
    t.match(await call('act', '{div}One', 'click'), { changed: true });
  }
});

t.test('So is a window that is written by its opener, and a frame whose first, empty document was used', async (t) => {
  const html = `<title></title><div id=a>One</div><input aria-label=Name><script>
    a.addEventListener('click', () => { a.textContent = 'Hit'; }); onkeydown = (event) => { document.title += event.key; };
    document.body.appendChild(document.createElement('p')).attachShadow({ mode: 'closed' }).innerHTML = '<button>Closed</button>';</script>`;
  const works = async () => {
    t.same(await locators(), ['{div}One', '{input}Name', '{button}Closed']);
    await types('{input}Name');
    t.equal(await call('value', '{input}Name'), 'Ad');
    t.match(await call('act', '{div}One', 'click'), { changed: true });
  };
  site.set('/within', html);
  await call('go', site.set('/opener', '<title>Opener</title>'));
  await call(
    'page',
    `{ const { document } = open('', '', 'width=400,height=300'); document.write(${JSON.stringify(html)}); document.close(); }`,
  );
  await call('wait', '{button}Closed');
  await works();
  await call('page', `document.open(); document.write(${JSON.stringify(html)}); document.close(); 0`);
  await works();
  await call('tab', 0);
  await call(
    'page',
    `{ const frame = document.createElement('iframe'); document.body.append(frame); frame.contentWindow.used = 1; frame.src = '/within'; }`,
  );
  await call('wait', '{button}Closed');
  await works();
});

t.test('An action awaits the page that a form of theirs leads to', async (t) => {
  site.set('/next', '<title>Next</title><h1>Next page</h1>');
  await writeAnew('<title>Anew</title><form action=/next><button>Send</button></form>');
  t.match(await call('act', '{button}Send', 'click'), { changed: true, title: 'Next' });
  t.equal(await call('text', '{h1}'), 'Next page');
});

t.end();
