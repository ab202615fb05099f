import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import ts from 'typescript';
import { SCRIPT_CALLS } from '#troupe/agent-js/script-api.js';
import { openSite, type Site } from '../support/agent-fixture.js';
import { compile } from '../support/compile.js';
import { guardLeaks } from '../support/leaks.js';
import { startTestService, type TestService } from '../support/service.js';

guardLeaks(t);

const PAGE = `<title>Shop</title><h1>Tea</h1><p>Hot</p><a href="/next" target="_blank">Next</a> <a href="/file" download>Get</a>
<label>Name <input value="x"></label> <label>Gift <input type="checkbox"></label> <input type="password" aria-label="Key" value="k">
<select aria-label="Size"><option>S<option>L</select> <select multiple aria-label="Kinds"><option selected>a<option selected>b</select>
<button onclick="alert('Hi')">Ask</button> <button disabled>Never</button>
<div draggable="true" style="width: 40px; height: 40px" id="drag">Drag me</div>
<ul id="list"></ul><button onclick="list.innerHTML += '<li><button>More</button>'; fetch('/api', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })">Add</button>
<div style="height: 3000px"></div><button>Far</button><div role="slider" id="box" style="position: absolute; left: 300px; top: 300px; width: 20px; height: 20px; background: red"
  onpointerdown="this.setPointerCapture(event.pointerId)" onpointermove="if (event.buttons) this.style.left = event.clientX - 10 + 'px'"></div>`;

/** Calls whose results are compared with their types, in this order, each a script. `SITE` is the address of a test site. */
const CALLS = [
  "agent.go('SITE/')",
  "agent.go('about:blank')",
  "agent.go('SITE/')",
  'agent.look()',
  "agent.act('{button}Add', 'click')",
  'agent.look()',
  'agent.look().elements',
  'agent.look({ full: true })',
  "agent.look({ within: 'ul' })",
  "agent.act('{input}Name', 'input', 'Ada')",
  "agent.act('{select}Size', 'select', 'L')",
  "agent.act('{select}Kinds', 'select', ['a', 'b'])",
  "agent.act('{h1}Tea', 'click', { x: 1, y: 1, timeout: 5000 })",
  "agent.act('#box', 'drag', { by: [100, 0] })",
  "agent.act('body', 'wheel', [0, 10])",
  "agent.act('body', 'scroll', 'top')",
  "agent.wait('{h1}Tea')",
  'agent.wait(1, { timeout: 1000 })',
  "agent.wait('idle')",
  'agent.text()',
  "agent.text('h1')",
  'agent.read()',
  "agent.value('{input}Name')",
  "agent.value('{input}Gift')",
  "agent.value('{input}Key')",
  "agent.value('{select}Size')",
  "agent.value('{select}Kinds')",
  "agent.screenshot('All')",
  "agent.screenshot({ title: 'One', within: 'h1', marks: true })",
  "agent.page('document.title')",
  "agent.requests({ url: '**/api', method: 'POST' })",
  'agent.requests()',
  "agent.mock('**/mocked', { status: 201, json: { a: 1 }, headers: { b: 'c' }, delay: 1 })",
  'agent.page(\'fetch("/mocked").then((answer) => answer.json())\')',
  "agent.mock('**/mocked', null)",
  "agent.saveState('kept', { expiresIn: 60 })",
  "agent.act('{a}Get', 'click')",
  'agent.downloads()',
  "agent.act('{button}Ask', 'click')",
  "agent.act('{dialog}OK', 'click')",
  'agent.dialogs()',
  "agent.act('{a}Next', 'click')",
  'agent.tabs()',
  'agent.tab(0)',
  "agent.go('SITE/next')",
  'agent.back()',
  "agent.expect('{h1}Tea').toBeVisible()",
  'agent.expect(agent).not.toHaveURL(/next/, { timeout: 1000 })',
  "agent.until(() => agent.look().elements.length > 0 && 'there')",
  'agent.vitals()',
  "agent.audit({ impact: 'none' })",
  "agent.pdf({ name: 'shop', landscape: true })",
  "agent.clock.install({ time: '2030-01-01T12:00:00Z' })",
  'agent.clock.fastForward(1000)',
  "agent.clock.runFor('00:01')",
  "agent.clock.pauseAt('2030-01-02')",
  'agent.clock.resume()',
  'agent.clock.setFixedTime(0)',
  "agent.clock.setSystemTime('2030-01-01')",
  "agent.session('ben').go('SITE/')",
  "agent.session('ben').look()",
  "match(1, '#number')",
  "match(agent.vitals(), { cls: '#? _ < 0.1', inp: '##number' })",
  'match.equals([1], [1], "said")',
  'match.contains([1, 2], 2)',
  'match.each([1, 2], "#number")',
  "File.write('made/check.js', 'agent.expectLook(\"controls\")')",
  "File.read('made/check.js')",
  "File.list('made/*')",
  "Flow.run('made/value')",
  "Request.run('shop/Ask', { base: 'SITE' })",
  "agent.handoff('Solve it', { timeout: 60000 })",
  "console.log('said')",
  "console.error('said', { a: 1 })",
] as const;

/** The same, of a flow: what they compare with is beside it. */
const COMPARED = ["agent.expectLook('controls')", "agent.expectScreenshot('page', { within: 'h1', threshold: 0.5 })"];

function openShop(site: Site): void {
  site.set('/', PAGE);
  site.set('/next', '<title>Next</title><h1>Next</h1>');
  site.set('/api', (_, answer) => answer.writeHead(201, { 'content-type': 'application/json' }).end('{"id":1}'));
  site.set('/file', (_, answer) =>
    answer.writeHead(200, { 'content-disposition': 'attachment; filename="a.txt"' }).end('text'),
  );
}

function prepare({ home }: TestService): void {
  mkdirSync(join(home, 'requests'));
  const script = [
    "pm.test('asked', () => pm.response.to.have.status(201));",
    "pm.test.skip('later', () => {});",
    'console.log(1)',
  ];
  const request = { method: 'POST', url: '{{base}}/api?x={{none}}' };
  const item = [{ name: 'Ask', request, event: [{ listen: 'test', script: { exec: script } }] }];
  writeFileSync(join(home, 'requests', 'shop.json'), JSON.stringify({ info: { name: 'shop' }, item }));
  mkdirSync(join(home, 'flows', 'made'));
  writeFileSync(join(home, 'flows', 'made', 'value.js'), '() => ({ made: true });');
  writeFileSync(
    join(home, 'flows', 'made', 'compare.js'),
    `({ url }) => { agent.go(url); File.write('made/compared.json', JSON.stringify([${COMPARED}])); };`,
  );
}

/** What each call returned, as JSON. */
async function results(t: Test, service: TestService, site: Site): Promise<[call: string, json: string][]> {
  const { id } = await service.live({ har: 'bodies' });
  const found: [string, string][] = [];
  for (const call of CALLS) {
    const answered = service.run(id, call.replace('SITE', site.origin));
    if (call.startsWith('agent.handoff')) {
      await service.seen(id, 'HandoffRequested');
      await service.call('POST', `/api/sessions/${id}/handoff`, { answer: 'done', note: 'solved' });
    }
    const { status, body } = await answered;
    if (status !== 200) t.fail(`${call}: ${JSON.stringify(body)}`);
    else found.push([call, JSON.stringify(body)]);
  }
  const job = await service.job({ flowFiles: ['made/compare.js'], args: { url: site.origin }, updateBaselines: true });
  t.match(job, { status: 'completed' });
  const compared: unknown[] = JSON.parse(readFileSync(join(service.home, 'flows/made/compared.json'), 'utf8'));
  return [...found, ...COMPARED.map((call, at): [string, string] => [call, JSON.stringify(compared[at])])];
}

t.test('What calls return in a browser is of the type that editors show', async (t) => {
  const site = await openSite(t);
  openShop(site);
  const service = await startTestService(t, { maxSessions: 3 });
  prepare(service);
  const found = await results(t, service, site);
  const folder = join(process.cwd(), 'test/agent-js');
  const lines = [
    "import type {} from 'troupe/agent-js';",
    "import type { Files, Requests } from 'troupe/agent-js';",
    "import type { Returned } from 'troupe/client';",
    'declare const File: Files;',
    'declare const Request: Requests;',
    ...found.flatMap(([call, json], at) => [
      `const call${at} = () => ${call};`,
      `const value${at}: Returned<ReturnType<typeof call${at}>> = ${json};`,
    ]),
    'export {};',
  ];
  const { faults } = compile(new Map([[join(folder, 'results.ts'), lines.join('\n')]]), {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts'],
    types: ['node'],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    paths: {
      'troupe/client': [join(process.cwd(), 'src/client/index.ts')],
      'troupe/agent-js': [join(process.cwd(), 'dist/agent-js.d.ts')],
      '#troupe/*': [join(process.cwd(), 'src/*')],
    },
  });
  const told = faults.map((fault) => {
    const line = Number(/line (\d+)/.exec(fault)?.[1] ?? 1);
    return `${fault}\n${lines[line - 2]}\n${lines[line - 1]}`;
  });
  t.same(told, []);
  t.equal(found.length, CALLS.length + COMPARED.length);
  const tried = found.map(([call]) => call).join('\n');
  for (const [object, calls] of Object.entries(SCRIPT_CALLS)) {
    for (const call of calls) t.match(tried, `${object}.${call}`, 'every call is tried');
  }
});
