import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { flowModule } from '#troupe/agent-js/flows/flow.js';
import { checkFlow, newlyCalled } from '#troupe/agent-js/flows/flow-check.js';
import { hostModule, openSandbox } from '../script/open-sandbox.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

/** How a flow file can be written. `#n` stands for a check of the argument `n`. */
interface Shape {
  readonly source: string;
  /** TypeScript. */
  readonly ts?: boolean;
  /** It is refused, whatever it checks. */
  readonly refused?: RegExp;
  /** Versions before ran it without calling its function. */
  readonly newly?: boolean;
}

const SHAPES: { readonly [name: string]: Shape } = {
  // What versions before ran, too.
  'a function without a name': { source: 'function (args) {\n  #args.n;\n}' },
  'a function with a name': { source: 'function flow({ n }) {\n  #n;\n}' },
  'an arrow': { source: '// Checks.\n({ n }) => {\n  #n;\n};' },
  'an async arrow': { source: 'async ({ n }) => {\n  await null;\n  #n;\n}' },
  'a script': { source: 'const { n } = args;\n#n;' },
  'a script with a helper': { source: 'const { n } = args;\nfunction check() {\n  #n;\n}\ncheck();' },
  'a function that calls itself': {
    source: '(async () => {\n  #args.n;\n})();',
  },
  // What they did not run.
  'an arrow in parentheses': { source: '(({ n }) => {\n  #n;\n});', newly: true },
  'an arrow after a constant': { source: 'const wanted = 1;\n({ n }) => {\n  #n;\n};', newly: true },
  'an arrow before a constant': { source: '({ n }) => {\n  #n;\n};\nconst wanted = 1;', newly: true },
  'an arrow after a directive': { source: "'use strict';\n\n({ n }) => {\n  #n;\n};", newly: true },
  'an arrow and a helper below': {
    source: '({ n }) => {\n  check(n);\n};\nfunction check(n) {\n  #n;\n}',
    newly: true,
  },
  'an arrow and a class above': {
    source: 'class Shop {\n  check(n) {\n    #n;\n  }\n}\n({ n }) => new Shop().check(n);',
    newly: true,
  },
  'an unnamed function after a constant': { source: 'const wanted = 1;\nfunction (args) {\n  #args.n;\n}' },
  'an unnamed function before a helper': {
    source: 'function (args) {\n  check(args.n);\n}\nfunction check(n) {\n  #n;\n}',
  },
  'an unnamed async function between helpers': {
    source: 'const one = () => 1;\nasync function (args) {\n  one();\n  #args.n;\n}\nconst two = () => one();',
  },
  'an arrow in a constant': { source: 'const flow = ({ n }) => {\n  #n;\n};', newly: true },
  'an arrow in a variable': { source: 'let flow = async ({ n }) => {\n  #n;\n};', newly: true },
  'a function expression in a constant': { source: 'const flow = function ({ n }) {\n  #n;\n};', newly: true },
  'the one function that is not used': {
    source: 'function check(n) {\n  #n;\n}\nfunction flow({ n }) {\n  check(n);\n}',
    newly: true,
  },
  'a function after a constant': { source: 'const wanted = 1;\nfunction flow({ n }) {\n  #n;\n}', newly: true },
  'a function that calls itself again': {
    source:
      'const end = 0;\nfunction flow({ n, left = 1 }) {\n  if (left > end) return flow({ n, left: left - 1 });\n  #n;\n}',
    newly: true,
  },
  'a function whose name others use as a parameter': {
    source: 'const log = (flow) => String(flow);\nfunction flow({ n }) {\n  log(1);\n  #n;\n}',
    newly: true,
  },
  'a function that destructures its name elsewhere': {
    source:
      'const log = () => {\n  const { flow, other: [list] } = { flow: 1, other: [2] };\n  return [flow, list];\n};\nfunction flow({ n }) {\n  log();\n  #n;\n}',
    newly: true,
  },
  'arguments at the top level': { source: 'const { n } = args;\nfunction flow() {\n  #n;\n}', newly: true },
  'a default export': { source: 'export default ({ n }) => {\n  #n;\n};' },
  'a default export after a line without a semicolon': {
    source: 'const wanted = 1\nexport default (({ n }) => {\n  #n;\n})',
  },
  'a default export of a function': { source: 'export default async function ({ n }) {\n  #n;\n}\n[1].map(String);' },
  'a default export of a function with a name': {
    source: 'const again = () => flow;\nexport   /* the */ default function flow({ n }) {\n  again();\n  #n;\n}',
  },
  'a default export of a name': { source: 'const flow = ({ n }) => {\n  #n;\n};\nexport default flow;' },
  'a default export by a list': {
    source: 'function flow({ n }) {\n  #n;\n}\nexport {\n  flow as default,\n};\nfunction other() {}',
  },
  'a default export that a helper makes': {
    source:
      'const twice = (body) => (args) => {\n  body(args);\n  body(args);\n};\nexport default twice(({ n }) => {\n  #n;\n});',
  },
  'a default export beside what the top level does': {
    source: "host.call('ready');\nexport default ({ n }) => {\n  #n;\n};",
  },
  'a constant named args': {
    source: 'const args = { other: 1 };\nfunction flow({ n }) {\n  args.other;\n  #n;\n}',
    newly: true,
  },
  'lines that end with CR and LF': { source: 'const wanted = 1;\r\n({ n }) => {\r\n  #n;\r\n};\r\n', newly: true },
  'TypeScript: an arrow after an interface': {
    ts: true,
    source: 'interface Args {\n  n: number;\n}\n({ n }: Args): void => {\n  #n;\n};',
  },
  'TypeScript: a constant': {
    ts: true,
    source: 'type Flow = (args: { n: number }) => void;\nconst flow: Flow = ({ n }) => {\n  #n;\n};',
  },
  'TypeScript: a default export': {
    ts: true,
    source:
      'export interface Args { n: number }\nexport default async function flow({ n }: Args): Promise<void> {\n  #n;\n}',
  },
  'TypeScript: an unnamed function after a constant': {
    ts: true,
    source:
      'const wanted: number = 1;\nfunction (args: { n: number }) {\n  #args.n;\n}\nconst helper = (x: string): string => x;',
  },
  'TypeScript: what is satisfied': {
    ts: true,
    source:
      'const one = 1 as const;\nexport default (({ n }) => {\n  one;\n  #n;\n}) satisfies (args: { n: number }) => void;',
  },
  // What is refused by name.
  'two functions': {
    source: 'const one = () => {};\nfunction two({ n }) {\n  #n;\n}',
    refused: /one \(line 1\), two \(line 2\)/,
  },
  'a generator': { source: 'const end = 1;\nfunction* flow({ n }) {\n  #n;\n}', refused: /generator/ },
  'an unnamed generator': { source: 'function* (args) {\n  #args.n;\n}', refused: /generator/ },
  'a default export of a class': {
    source: 'export default class Flow {\n  run(n) {\n    #n;\n  }\n}',
    refused: /class/,
  },
  'a default export of the name of a class': {
    source: 'class Flow {\n  run(n) {\n    #n;\n  }\n}\nexport { Flow as default };',
    refused: /class/,
  },
  'a default export of an object': { source: 'export default {\n  run({ n }) {\n    #n;\n  },\n};', refused: /object/ },
  'a default export that is computed and no function': {
    source: 'const n = args.n;\nexport default Number(n);',
    refused: /must be a function/,
  },
  'a default export of what is not there': { source: 'export { flow as default };', refused: /flow is not declared/ },
  'a named export': { source: 'export const flow = ({ n }) => {\n  #n;\n};', refused: /default/ },
  'a named export in a list': { source: 'const flow = ({ n }) => {\n  #n;\n};\nexport { flow };', refused: /default/ },
  'module.exports': { source: 'module.exports = ({ n }) => {\n  #n;\n};', refused: /module\.exports/ },
  'an export of Node': { source: 'exports.flow = ({ n }) => {\n  #n;\n};', refused: /module\.exports/ },
  'an import': {
    source: "import { login } from './login.js';\n({ n }) => {\n  #n;\n};",
    refused: /import '\.\/login\.js'/,
  },
  // What runs nothing.
  'an empty file': { source: '', refused: /did nothing/ },
  'a comment': { source: '// ({ n }) => #n', refused: /did nothing/ },
  'a class': { source: 'class Shop {\n  check(n) {\n    #n;\n  }\n}', refused: /did nothing/ },
  'an object with functions': { source: 'const shop = {\n  check({ n }) {\n    #n;\n  },\n};', refused: /did nothing/ },
  'a helper that nothing calls': {
    source: 'let x = 1;\nx += 1;\nfunction check(n) {\n  #n;\n}\nif (x === 3) check(1);',
    refused: /did nothing/,
  },
  'a function as the last value': {
    source: 'let flow;\nflow = ({ n }) => {\n  #n;\n};',
    refused: /a function that nobody called/,
  },
  'a function that returns the flow': {
    source: '() => ({ n }) => {\n  #n;\n};',
    refused: /a function that nobody called/,
  },
  'a function that is returned': {
    source: 'const flow = ({ n }) => {\n  #n;\n};\nreturn flow;',
    refused: /a function that nobody called/,
  },
  'a loop over nothing': { source: 'for (const n of []) {\n  #n;\n}', refused: /did nothing/ },
};

t.test('no shape of a file passes without running its checks', async (t) => {
  const flowsDir = await mkdtemp(join(tmpdir(), 'shapes-'));
  t.teardown(() => rm(flowsDir, { recursive: true, force: true }));
  const modules = [flowModule({ flowsDir }), hostModule(async () => null)];
  const { sandbox, of } = await openSandbox(t, { modules, args: { n: 1 } });
  const run = (path: string) =>
    sandbox.run({ source: `Flow.run('${path}', args)`, name: 'job.js', kind: 'flow', timeoutMs: 20_000 });
  for (const [index, [name, { source, ts, refused }]] of Object.entries(SHAPES).entries()) {
    for (const [kind, wanted] of [
      ['right', 1],
      ['wrong', 2],
    ] as const) {
      const path = `${kind}-${index}`;
      await writeFile(
        join(flowsDir, `${path}.${ts ? 'ts' : 'js'}`),
        source.replace(/#([\w.]+)/, `match($1, ${wanted})`),
      );
      const checks = of('AssertionChecked').length;
      const thrown: unknown = await run(path).catch((error: unknown) => error);
      const finished = of('FlowFinished').at(-1);
      if (refused !== undefined) {
        t.match(thrown, { message: refused }, `${name}: refused`);
        t.match(finished, { path, status: 'failed' }, `${name}: failed`);
        t.equal(of('AssertionChecked').length, checks, `${name}: nothing was checked`);
      } else if (kind === 'right') {
        t.not(thrown instanceof Error, true, `${name}: ${thrown}`);
        t.match(finished, { path, status: 'passed' }, `${name}: passed`);
        t.ok(of('AssertionChecked').length > checks, `${name}: was checked`);
      } else {
        const line = source.slice(0, source.indexOf('#')).split('\n').length;
        t.match(thrown, { code: 'MATCH_FAILED', details: { flow: path, line } }, `${name}: failed at its line`);
        t.match(finished, { path, status: 'failed', line }, `${name}: reported`);
      }
    }
  }
});

t.test('flow check says which files mean something else than before, and which run nothing', (t) => {
  for (const [name, { source, ts, refused, newly }] of Object.entries(SHAPES)) {
    const file = ts ? 'flow.ts' : 'flow.js';
    const text = source.replace(/#([\w.]+)/, 'match($1, 1)');
    if (!ts) t.equal(newlyCalled(text, file) !== null, newly === true, `${name}: whether it is called now`);
    if (refused === undefined) {
      const faults = checkFlow(text, () => true, file).filter(({ message }) => !message.startsWith('host is not'));
      t.same(faults, [], `${name}: no fault`);
    }
  }
  const faulty = Object.entries(SHAPES).filter(([, { refused }]) => refused !== undefined);
  const silent = faulty.filter(
    ([, { source }]) => checkFlow(source.replace(/#([\w.]+)/, 'match($1, 1)'), () => true).length === 0,
  );
  t.same(
    silent.map(([name]) => name),
    [
      'a default export that is computed and no function',
      'a helper that nothing calls',
      'a function as the last value',
      'a function that returns the flow',
      'a function that is returned',
      'a loop over nothing',
    ],
    'what only a run can tell',
  );
  t.match(
    checkFlow('agent.go("/");\nfunction check() {}\n', () => true),
    [{ line: 2, message: /check is never called/ }],
  );
  t.match(
    checkFlow('() => 1;\n() => 2;\n', () => true),
    [{ line: 1, message: /never called/ }],
  );
  const inner = '() => {\n  agent.go("/");\n  async () => {\n    match(1, 2);\n  };\n};\n';
  t.match(
    checkFlow(inner, () => true),
    [{ line: 3, column: 3, message: /never called/ }],
  );
  t.same(
    checkFlow('const status = agent.go("/").status;\n', () => true),
    [],
  );
  t.end();
});

t.test(
  'a file that returns a value or reaches the host has done something; hooks and flows of flows need not',
  async (t) => {
    const flowsDir = await mkdtemp(join(tmpdir(), 'shapes-'));
    t.teardown(() => rm(flowsDir, { recursive: true, force: true }));
    const modules = [flowModule({ flowsDir }), hostModule(async () => null)];
    const { sandbox, of } = await openSandbox(t, { modules, args: { n: 1 } });
    const flows = {
      'value.js': '() => 5',
      'nothing.js': 'const x = 1;',
      'null.js': '() => null',
      'host.js': "() => { host.call('x'); }",
      'renamed.js': 'const m = match;\n() => { m(1, 1); }',
      'helpers.js': 'export default () => ({ n }) => n + 1;',
      'calls.js': "() => { Flow.run('nothing'); return Flow.run('helpers')({ n: 1 }); }",
      '_setup.js': 'const x = 1;',
      'warned.js': "host.call('x');\nfunction check() {\n  match(1, 2);\n}",
      'console.js': "console.log('x');\nfunction check() {\n  match(1, 2);\n}",
    };
    for (const [path, text] of Object.entries(flows)) await writeFile(join(flowsDir, path), text);
    const run = (path: string, kind: 'flow' | 'script' = 'flow') =>
      sandbox.run({ source: `Flow.run('${path}', args)`, name: 'job.js', kind, timeoutMs: 20_000 });
    for (const path of ['value', 'null', 'host', 'renamed', 'calls', '_setup', 'warned'])
      await t.resolves(run(path), path);
    t.equal(await run('calls'), '2');
    const nothing = { flow: 'nothing', line: 1, frame: '> 1 | const x = 1;\n    | ^' };
    await t.rejects(run('nothing'), {
      code: 'FLOW_FAILED',
      message: /did nothing; return a value/,
      details: nothing,
    });
    await t.rejects(run('helpers'), { code: 'FLOW_FAILED', message: /returned a function that nobody called/ });
    await t.rejects(run('console'), { code: 'FLOW_FAILED' });
    await t.resolves(run('nothing', 'script'), 'what a script runs is its own affair');
    const warned = of('ConsoleWritten').filter(({ flow }) => flow === 'warned');
    t.match(warned, [{ level: 'warn', text: /check of warned is never called/, line: 2, column: 1 }]);
  },
);

t.test('a promise that a flow or script drops fails it if it is rejected', async (t) => {
  const flowsDir = await mkdtemp(join(tmpdir(), 'shapes-'));
  t.teardown(() => rm(flowsDir, { recursive: true, force: true }));
  const modules = [flowModule({ flowsDir }), hostModule(async () => null)];
  const { sandbox, fails, run, of } = await openSandbox(t, { modules });
  const lost = {
    'a forgotten await': 'async function check() {\n  match(1, 2);\n}\n() => { check(); return 1; };',
    'one that waits first':
      "async function check() {\n  match(await host.call('n'), 2);\n}\n() => { if (true) check(); return 1; };",
    'a chain': '() => {\n  Promise.resolve(1).then((n) => match(n, 2)); return 1;\n};',
    'several at once': '() => {\n  Promise.all([1].map(async (n) => match(n, 2)));\n};',
    'a function that calls itself': '(async () => {\n  match(1, 2);\n})();\n1;',
    'one behind a condition': 'const check = async () => {\n  match(1, 2);\n};\nargs && check(); 1;',
  };
  for (const [name, source] of Object.entries(lost)) {
    await writeFile(join(flowsDir, 'flow.js'), source);
    const thrown = await sandbox
      .run({ source: "Flow.run('flow')", name: 'job.js', kind: 'flow', timeoutMs: 20_000 })
      .catch((error: unknown) => error);
    t.match(thrown, { code: 'MATCH_FAILED', details: { flow: 'flow', line: 2 } }, name);
    t.match(of('FlowFinished').at(-1), { status: 'failed', line: 2 }, name);
    if (!source.includes('() => {\n  P') && !source.includes('() => { '))
      t.match(await fails(source), { code: 'MATCH_FAILED' });
  }
  const kept = {
    'one that is handled': '() => { Promise.reject(1).catch(() => 1); return 1; };',
    'one that is handled later': "() => { const p = Promise.reject(1); host.call('n'); p.catch(() => 1); return 1; };",
    'one that is caught':
      'async function check() { match(1, 2); }\n() => { try { await check(); } catch {} return 1; };',
    'one that is dropped on purpose': 'async function check() { throw 1; }\n() => { void check(); return 1; };',
    'one that never settles': '() => { Promise.race([]); return 1; };',
    'one that is fulfilled': '() => { Promise.resolve(1); return 1; };',
    'what only has a then': '() => { const o = { then() { throw 1; } }; Object(o); return 1; /* async */ };',
  };
  for (const [name, source] of Object.entries(kept)) {
    await writeFile(join(flowsDir, 'flow.js'), source);
    t.equal(await run("Flow.run('flow')"), 1, name);
  }
});
