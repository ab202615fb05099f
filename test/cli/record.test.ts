import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import t from 'tap';
import { openSite } from '../support/agent-fixture.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';
import { startCommand } from '../support/service-process.js';

guardLeaks(t);

const AsyncFunction = (async () => undefined).constructor as new (
  ...parts: string[]
) => (page: unknown) => Promise<void>;

t.test(
  'troupe record writes what a person does with control of the session as a flow, which then passes',
  async (t) => {
    const service = await startTestService(t, { maxSessions: 2 });
    const site = await openSite(t);
    const page = site.set(
      '/',
      `<title>Shop</title><input id=q aria-label=Search style="position:absolute;left:0;top:0;width:200px;height:30px">
     <button style="position:absolute;left:0;top:50px;width:200px;height:30px" onclick="document.title = 'Found ' + q.value">Find</button>`,
    );
    const file = join(service.home, 'flows', 'found.js');
    const command = startCommand(service.home, 'record', page, '--no-open', '--url', service.url, '--out', file);
    const idIn = () => /sessions\/(\w+)/.exec(command.output())?.[1];
    await eventually('the command says where the session is', () => idIn() !== undefined);
    const id = idIn() ?? '';
    await service.run(id, "agent.act('{input}Search', 'input', 'tea'); agent.act('{button}Find', 'click')");
    await eventually('the last act is written', () => readFileSync(file, 'utf8').includes('Find'));
    command.child.kill('SIGINT');
    t.same(await once(command.child, 'close'), [0, null]);
    t.equal(
      readFileSync(file, 'utf8'),
      [
        `agent.go('${page}');`,
        "agent.act('{input}Search', 'input', 'tea');",
        "agent.act('{button}Find', 'click');",
        '',
      ].join('\n'),
    );
    t.match(await service.job({ flowFiles: ['found.js'] }), { status: 'completed' });
    t.equal((await service.call('GET', `/api/sessions/${id}`)).body.status, 'stopped', 'the session has ended');
  },
);

t.test('what is recorded as a test of Playwright does the same with its calls', async (t) => {
  const service = await startTestService(t, { maxSessions: 3 });
  const site = await openSite(t);
  site.set('/inner', '<button onclick="parent.did.push(1)">Inner</button>');
  const page = site.set(
    '/',
    `<title>Forms</title><script>did = []</script><label>Name <input id=n></label><label>Size <select id=s><option>S<option>L</select></label>
     <label><input type=checkbox id=c> Agree</label><button>Add</button><button onclick="did.push('second')">Add</button>
     <ul><li ondblclick="did.push('item')">Item</li></ul><iframe src=/inner></iframe>
     <button onclick="did.push(prompt('Who?'))">Ask</button>`,
  );
  const file = join(service.home, 'test.ts');
  const words = ['record', page, '--no-open', '--url', service.url, '--out', file, '--playwright'];
  const command = startCommand(service.home, ...words);
  const idIn = () => /sessions\/(\w+)/.exec(command.output())?.[1];
  await eventually('the command says where the session is', () => idIn() !== undefined);
  const acts = `agent.act('{input}Name', 'input', 'Ada'); agent.act('{input}Agree', 'click'); agent.act('{button:2}Add', 'click');
    agent.act('{li}Item', 'dblclick'); agent.act('{button}Inner', 'click'); agent.act('{button}Ask', 'click');
    agent.act('{dialog}Input', 'input', 'me'); agent.act('{dialog}OK', 'click')`;
  await service.run(idIn() ?? '', acts);
  await eventually('the last act is written', () => readFileSync(file, 'utf8').includes('Ask'));
  command.child.kill('SIGINT');
  await once(command.child, 'close');
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('  '));
  t.match(lines, [
    /goto/,
    "page.getByRole('textbox', { name: 'Name', exact: true }).fill('Ada');",
    "page.getByRole('checkbox', { name: 'Agree', exact: true }).check();",
    "page.getByRole('button', { name: 'Add', exact: true }).nth(1).click();",
    /locator\('.*'\)\.dblclick/,
    /frameLocator\('.*'\)\.getByRole\('button', \{ name: 'Inner', exact: true \}\)\.click/,
    "page.once('dialog', (dialog) => dialog.accept('me'));",
    /'Ask'/,
  ]);
  const { id } = await service.live();
  const browser = await chromium.connectOverCDP(`${service.url.replace('http', 'ws')}/sessions/${id}/cdp`);
  t.teardown(() => browser.close());
  const [tab] = browser.contexts()[0]?.pages() ?? [];
  await new AsyncFunction('page', lines.join('\n'))(tab);
  t.same(await tab?.evaluate('[did, n.value, c.checked]'), [['second', 'item', 1, 'me'], 'Ada', true]);
});

t.test('troupe record says what it takes', async (t) => {
  const { child, output } = startCommand(t.testdir({}), 'record', 'shop');
  t.same(await once(child, 'close'), [2, null]);
  t.match(output(), /'shop' is no http or https address/);
});

t.end();
