import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { checkFlow, numberedLocators } from '#troupe/agent-js/flows/flow-check.js';
import { SCRIPT_CALLS } from '#troupe/agent-js/script-api.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const check = (source: string, flows: string[] = []) => checkFlow(source, (path) => flows.includes(path));

t.test('A flow that is right has no faults, whichever form it has', async (t) => {
  const right = [
    '({ base = "x", ...rest } = {}) => { const { a, b: [c] } = rest; for (const d of [a, c]) agent.go(base + d); }',
    'function (args) { try { match.equals(args.x, 1); } catch (error) { console.log(error); } label: for (;;) break label; }',
    'class A { #p = 1; get q() { return this.#p; } }\nconst f = ({ n }) => n + g(n); function g(m) { return new A().q + m; }\nf(args)',
    'Flow.run("./login"); agent.act("{a}x", "click"); ({ key: 1, nested: { deeper: agent.text() } })',
    'agent.until(() => { for (;;) { if (agent.text("h1")) return true; } }); const shown = () => false; agent.until(shown)',
    'const cart = agent.expect("h1"); cart.toHaveText("x"); expect(page).not.toHaveTitle("y")',
    'const later = async () => { await Promise.all([1].map((n) => n)); }; later()',
  ];
  for (const source of right) t.same(check(source, ['./login']), [], source);
});

t.test('What cannot work is told with its place', async (t) => {
  const wrong: [string, object][] = [
    ['() => {\n  agent.go(;\n}', { line: 2, column: 12, message: /SyntaxError/ }],
    ['() => agent.goto("x")', { line: 1, column: 13, message: /Unknown call agent\.goto\(\)\. Use one of: agent\.go/ }],
    ['() => agent.act("{a}x", "clik")', { message: /Unknown action 'clik'/ }],
    ['() => Flow.run("shop/login")', { message: /There is no flow 'shop\/login'/ }],
    ['() => {\n  const a = 1;\n  return b + a;\n}', { line: 3, column: 10, message: /b is not defined/ }],
    ['() => setTimeout(() => 1, 100)', { message: /setTimeout is not defined/ }],
    ['const fs = require("fs")', { message: /require is not defined/ }],
    [
      '() => {\n  agent.expect("h1");\n}',
      { line: 2, column: 3, message: /^agent\.expect\(\.\.\.\) alone checks nothing/ },
    ],
    ['() => { agent.expect("h1").not; }', { message: /alone checks nothing/ }],
    ['() => { agent.expect("h1").toBeVisible; }', { message: /toBeVisible is not called, so it checks nothing/ }],
    ['({ ben }) => { ben.expect("h1"); }', { message: /ben\.expect\(\.\.\.\) alone/ }],
    ['await expect(page.locator("h1"))', { line: 1, column: 7, message: /^expect\(\.\.\.\) alone/ }],
    ['expect.soft(page.locator("h1")).not', { message: /^expect\.soft\(\.\.\.\) alone/ }],
    ['() => agent.until(agent.text("h1") === "x")', { message: /takes a function/ }],
    ['() => agent.until(agent.text("h1"))', { message: /takes a function/ }],
    ['() => agent.until(() => { agent.text("h1") === "x"; })', { message: /it has no return/ }],
    ['() => agent.until(() => agent.expect("h1"))', { message: /alone checks nothing/ }],
  ];
  for (const [source, fault] of wrong) t.match(check(source), [fault], source);
});

t.test('Locators with a number are found wherever a flow writes them', async (t) => {
  const source = "() => {\n  agent.act('{button:2}Edit', 'click');\n  const a = [`{a:3}`, '{a}x', '#x', '{a:2'];\n}";
  t.same(numberedLocators(source), [
    { line: 2, column: 13, locator: '{button:2}Edit' },
    { line: 3, column: 14, locator: '{a:3}' },
  ]);
  t.same(numberedLocators('() => {'), []);
});

t.test('A TypeScript flow is checked with the positions of its own source', async (t) => {
  const source =
    'interface Args { n: number }\n({ n }: Args): number => {\n  const a: number = n as number; return b;\n}';
  const found = checkFlow(source, () => true, 'shop/buy.ts');
  t.match(found, [{ line: 3, column: 41, message: /b is not defined/ }]);
  t.equal(found.length, 1);
  t.match(
    checkFlow('enum A { B }', () => true, 'a.ts'),
    [{ line: 1, column: 1, message: /enum is not supported/ }],
  );
});

t.test('The calls are those that scripts have', async (t) => {
  const defined = (file: string) =>
    [...readFileSync(`src/agent-js/prelude/${file}.entry.ts`, 'utf8').matchAll(/^ {4}(\w+):/gm)].map(
      ([, name]) => name,
    );
  t.same([...(SCRIPT_CALLS.agent ?? [])].sort(), defined('agent').sort());
  t.same([...(SCRIPT_CALLS.File ?? [])].sort(), defined('files').sort());
});

t.test('The example flows are right', (t) => {
  const folder = 'examples/flows';
  const flows = readdirSync(folder).filter((name) => name.endsWith('.js'));
  t.ok(flows.length >= 4);
  for (const name of flows) {
    const found = checkFlow(readFileSync(join(folder, name), 'utf8'), (path) => flows.includes(`${path.slice(2)}.js`));
    t.same(found, [], name);
  }
  t.end();
});
