import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const lease = await openBrowser(t);
const site = await openSite(t);
const { call, failure } = await openAgent(t, lease, { actMs: 300 });

t.test('What is not found is answered with controls of its role, whatever they are called', async (t) => {
  await call('go', site.set('/near', '<button>Place order</button><a href=/x>Help</a><input aria-label=Mail>'));
  t.match(await failure('act', '{button}Qqq', 'click'), {
    code: 'LOCATOR_NOT_FOUND',
    details: { candidates: ['{button}Place order', '{a}Help'] },
  });
  t.match((await failure('value', '{textbox}Zzz')).details, { candidates: ['{input}Mail'] });
});

t.test('What resembled a control that came a moment later is not tied to what it was then', async (t) => {
  const page = `<div id=tabs><button role=tab>Author</button></div><script>
    setTimeout(() => tabs.insertAdjacentHTML('beforeend', '<button role=tab onclick="tabs.innerHTML = tabs.innerHTML">Authors</button>'), 100);
  </script>`;
  await call('go', site.set('/soon', page));
  await call('act', '{tab}Authors', 'click', { timeout: 5_000 });
  t.match(await call('act', '{tab}Author', 'click'), { url: /soon/ });
});

t.test('LOCATOR_AMBIGUOUS names the numbers of what it means', async (t) => {
  await call('go', site.set('/twins', '<button>Save</button><p>and</p><button>Save</button>'));
  t.match(await failure('act', '{button}Save', 'click'), {
    code: 'LOCATOR_AMBIGUOUS',
    details: { candidates: ['{button:1}Save', '{button:2}Save'] },
  });
  const { details } = await failure('act', 'button', 'click');
  t.same(details?.candidates, ['{button:1}Save', '{button:2}Save'], 'also of what CSS finds');
});

t.test('agent.text reads what shadow roots draw, in its lines', async (t) => {
  const page = `<h1>Shop</h1><x-card><b>Slotted</b></x-card><p>After</p><script>
    const root = document.querySelector('x-card').attachShadow({mode: 'open'});
    root.innerHTML = '<style>p { color: red }</style><p>Inner <i>text</i></p><p><slot></slot></p><p hidden>Not drawn</p>';
  </script>`;
  await call('go', site.set('/shadow', page));
  t.equal(await call('text'), 'Shop\n\nInner text\n\nSlotted\n\nAfter');
  t.equal(await call('text', 'x-card'), 'Inner text\n\nSlotted');
});

t.end();
