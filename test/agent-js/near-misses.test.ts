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

t.test(
  'LOCATOR_AMBIGUOUS names a locator that only the first of them has, by its row or what its author called it',
  async (t) => {
    const row = (name: string) => `<tr><td>${name}</td><td><button>Edit</button><input type=checkbox></td></tr>`;
    const part = (title: string) =>
      `<fieldset><legend>${title}</legend><label>Street <input></label><button>Copy</button></fieldset>`;
    const page = `<table>${row('Ada Lovelace')}${row('Grace Hopper')}</table>${part('Shipping')}${part('Billing')}
    <button data-testid=top>Help</button><p><button>Help</button></p>
    <p><button id=more>More</button></p><p><button>More</button></p><p><b>Odd</b></p><p><b>Odd</b></p>`;
    await call('go', site.set('/alike', page));
    const told: readonly (readonly [locator: string, only: string])[] = [
      ['{button}Edit', '//tr[contains(., "Ada Lovelace")]//button[normalize-space()="Edit"]'],
      ['{checkbox}', '//tr[contains(., "Ada Lovelace")]//input[@type="checkbox"]'],
      ['{input}Street', '//fieldset[contains(., "Shipping")]//input'],
      ['{button}Copy', '//fieldset[contains(., "Shipping")]//button[normalize-space()="Copy"]'],
      ['{button}Help', '[data-testid="top"]'],
      ['{button}More', '#more'],
    ];
    for (const [locator, only] of told) {
      const { error } = await failure('act', locator, 'hover');
      t.ok(error.endsWith(`or a locator that only one matches, such as ${only}`), error);
      t.match(await call('act', only, 'hover'), { url: /alike/ }, only);
    }
    t.match((await failure('act', '{b}Odd', 'hover')).error, /only one matches$/, 'where there is none, none is named');
  },
);

t.test('A cover is named with what it takes of the window, and how long it was waited for', async (t) => {
  const over = (style: string) => `<button>Pay</button><div style="position:fixed;${style}">Cookies</div>`;
  await call('go', site.set('/veil', over('inset:0')));
  const { error, details } = await failure('act', '{button}Pay', 'click');
  t.match(error, /^\{button\}Pay is covered by \{div\}Cookies \(all of the window\) \(waited \d+ ms\)$/);
  t.match(details, { waitedMs: Number });
  await call('go', site.set('/bar', over('left:0;top:0;width:400px;height:80px')));
  t.match((await failure('act', '{button}Pay', 'click')).error, '{div}Cookies (400 x 80 pixels from 0, 0)');
  t.match((await failure('act', '{button}Buy', 'click')).error, /similar: \{button\}Pay.* \(waited \d+ ms\)$|page has/);
});

t.test('A dialog that is open in place of what is sought is named', async (t) => {
  const dialog = '<button>Pay</button><dialog aria-label="Sign in"><button>Close</button></dialog>';
  await call('go', site.set('/modal', `${dialog}<script>document.querySelector('dialog').showModal()</script>`));
  const modal = 'the dialog "Sign in" is open, and must be answered first';
  t.match((await failure('act', '{button}Pay', 'click')).error, modal);
  t.match(await failure('wait', '{button}Pay', { timeout: 50 }), { code: 'WAIT_TIMEOUT', error: modal });
  await call('go', site.set('/beside', `${dialog}<script>document.querySelector('dialog').show()</script>`));
  const other = await failure('wait', '{dialog}Checkout', { timeout: 50 });
  t.match(other.error, /^\{dialog\}Checkout did not appear; the dialog "Sign in" is open/);
  await call('act', '{button}Pay', 'hover');
  await call('page', 'setTimeout(() => confirm("Archive 3 orders?")); null');
  const waited = await failure('wait', '{h1}Archived', { timeout: 50 });
  t.match(waited.error, /^\{h1\}Archived did not appear\. A dialog is open \(confirm: "Archive 3 orders\?"\)/);
  await call('act', '{dialog}OK', 'click');
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
