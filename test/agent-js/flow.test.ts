import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t from 'tap';
import { flowModule } from '#troupe/agent-js/flows/flow.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import { hostModule, openSandbox, type Testing } from '../script/open-sandbox.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

/** A sandbox with flows, and a folder beside the flows that must never be read. */
async function withFlows(t: Testing, flows: { readonly [path: string]: string }) {
  const root = await mkdtemp(join(tmpdir(), 'flows-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const flowsDir = join(root, 'flows');
  await mkdir(flowsDir);
  await writeFile(join(root, 'outside.js'), '"outside"');
  for (const [path, text] of Object.entries(flows)) {
    await mkdir(dirname(join(flowsDir, path)), { recursive: true });
    await writeFile(join(flowsDir, path), text);
  }
  const calls: unknown[] = [];
  const modules = [flowModule({ flowsDir }), hostModule(async (args, { site }) => calls.push({ args, site }))];
  return { ...(await openSandbox(t, { modules })), root, flowsDir, calls };
}

t.test('a flow is a function, an arrow or a plain script, and its value is the result', async (t) => {
  const { run } = await withFlows(t, {
    'function.js': '// Adds.\nfunction (args) {\n  return args.a + args.b;\n}\n',
    'named.js': 'function add({ a, b }) { return a + b; };',
    'arrow.js': '({ a, b }) => a + b',
    'async.js': 'async (args) => {\n  await null;\n  return await Promise.resolve(args.a + args.b);\n}',
    'sync-await.js': 'function (args) { return (await Promise.resolve(args.a)) + args.b; }',
    'script.js': '#!/usr/bin/env troupe\nconst sum = args.a + args.b;\nsum',
    'return.js': 'if (args.a) return args.a + args.b;\n"never"',
    'await.js': 'const a = await Promise.resolve(args.a);\nif (a) { a + args.b } // the end',
    'strict.js': '"use strict";\nlet s = args.a + args.b; s',
    'later.js': 'args.a + args.b;\nfor (const x of []) x;\nlet unused;',
    'deep/er/flow.js': 'args => args.a + args.b',
  });
  for (const path of [
    'function',
    'named',
    'arrow',
    'async',
    'sync-await',
    'script',
    'return',
    'await',
    'strict',
    'deep/er/flow',
  ]) {
    t.equal(await run(`Flow.run('${path}', { a: 1, b: 2 })`), 3, path);
    t.equal(await run(`(await Flow.run('./${path}.js', { a: 2, b: 2 }))`), 4, `${path} with await and extension`);
  }
  t.equal(await run("Flow.run('later', { a: 1, b: 2 })"), null, 'a loop that never turns has the value undefined');
  t.same(await run("Flow.run('script')"), null, 'without args they are an empty object');
});

t.test('what a flow declares stays its own, what it returns keeps its identity', async (t) => {
  const { run, fails } = await withFlows(t, {
    'declares.js': 'let x = 2; const y = 3; var z = 4; function f() {} class C {} x + y + z',
    'same.js': '(args) => args.thing',
  });
  await run('let x = 1; const thing = { n: 1 };');
  t.equal(await run("Flow.run('declares')"), 9);
  t.same(await run('[x, typeof y, typeof z, typeof f, typeof C]'), [
    1,
    'undefined',
    'undefined',
    'undefined',
    'undefined',
  ]);
  t.equal(await run("Flow.run('same', { thing }) === thing"), true);
  t.match(await fails("Flow.run('declares'); y"), { code: 'SCRIPT_ERROR' });
});

t.test('an error carries flow, line, column and the stack of flows', async (t) => {
  const { fails, of } = await withFlows(t, {
    'outer.js': 'function (args) {\n  // calls\n  return Flow.run("middle", args);\n}',
    'middle.js': '\nFlow.run("shop/inner", args)',
    'shop/inner.js':
      'async (args) => {\n  await null;\n\n  if (args.how === "throw") throw new Error("broken");\n  if (args.how === "text") throw "only text";\n  match({ total: 1 }, { total: 2 });\n}',
    'syntax.js': 'function () {\n  return (;\n}',
  });
  const error = await fails('\nFlow.run("outer", { how: "throw" })');
  t.match(error, { code: 'SCRIPT_ERROR', message: 'Error: broken' });
  const { frame, ...place } = error.details ?? {};
  t.match(frame, /^> 4 \| {3}if \(args\.how === "throw"\) throw new Error\("broken"\);\n +\| +\^$/m);
  t.same(place, {
    name: 'shop/inner',
    flow: 'shop/inner',
    line: 4,
    column: 39,
    flows: ['outer', 'middle', 'shop/inner'],
  });
  t.match(
    of('FlowFinished').map(({ path, depth, status, line, error }) => ({
      path,
      depth,
      status,
      line,
      message: error?.error,
    })),
    [
      { path: 'shop/inner', depth: 3, status: 'failed', line: 4, message: 'Error: broken' },
      { path: 'middle', depth: 2, status: 'failed', line: 2, message: 'Error: broken' },
      { path: 'outer', depth: 1, status: 'failed', line: 3, message: 'Error: broken' },
    ],
  );
  t.match((await fails('Flow.run("outer", { how: "text" })')).details, {
    flow: 'shop/inner',
    line: 5,
    flows: ['outer', 'middle', 'shop/inner'],
  });
  t.match(await fails('Flow.run("outer", {})'), {
    code: 'MATCH_FAILED',
    details: { flow: 'shop/inner', line: 6, flows: ['outer', 'middle', 'shop/inner'], failures: [{ path: '$.total' }] },
  });
  t.match(await fails('Flow.run("syntax")'), {
    code: 'SCRIPT_ERROR',
    message: /^SyntaxError/,
    details: { flow: 'syntax', line: 2, column: 11, flows: ['syntax'] },
  });
  t.match(of('FlowFinished').at(-1), { path: 'syntax', status: 'failed', line: 2 });
  t.match(await fails('try { Flow.run("outer", { how: "throw" }) } catch {}\nnope'), {
    details: { line: 2, flows: undefined, flow: undefined },
  });
});

t.test('a call that is owed fails the flow that began it, at its place', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'flows-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  await writeFile(join(root, 'begins.js'), '() => {\n  begin("door");\n  return 1;\n}');
  await writeFile(join(root, 'ends.js'), '() => { const end = begin("door"); begin("lid")(); end(); return 2; }');
  await writeFile(join(root, 'fails.js'), '() => { begin("door"); throw new Error("other"); }');
  const prelude = '(function (host, engine) { globalThis.begin = (name) => engine.owe(name + " is open"); })';
  const modules = [flowModule({ flowsDir: root }), { name: 'owing', prelude, calls: {} }];
  const { run, fails, of } = await openSandbox(t, { modules });
  const error = await fails('const outer = begin("gate"); outer(); Flow.run("begins")');
  t.match(error, { code: 'SCRIPT_ERROR', message: 'door is open' });
  t.match(error.details, { flow: 'begins', flows: ['begins'], line: 2, column: 3, frame: /begin\("door"\)/ });
  t.match(of('FlowFinished'), [{ path: 'begins', status: 'failed', line: 2, error: { error: 'door is open' } }]);
  t.equal(await run('try { Flow.run("begins") } catch {} Flow.run("ends")'), 2);
  t.match(await fails('Flow.run("fails")'), { message: /other/ });
  t.match(await fails('const open = begin("gate"); Flow.run("ends"); 3'), { message: 'gate is open' });
  t.equal(await run('for (let i = 0; i < 1000; i += 1) begin("door")(); 4'), 4);
});

t.test('flows are events with their depth and duration, and host calls have their place', async (t) => {
  const { run, of, calls, events } = await withFlows(t, {
    'outer.js': 'args => {\n  host.call("in outer");\n  return Flow.run("inner");\n}',
    'inner.js': '\n\nhost.call("in inner"); console.log("here"); match(1, 1)',
  });
  await run('Flow.run("outer"); host.call("after")', { kind: 'model' });
  t.match(calls, [
    { args: ['in outer'], site: { kind: 'flow', flow: 'outer', line: 2 } },
    { args: ['in inner'], site: { kind: 'flow', flow: 'inner', line: 3 } },
    { args: ['after'], site: { kind: 'model', flow: null, line: 1 } },
  ]);
  t.same(
    events.map((event) => event.type),
    ['FlowStarted', 'FlowStarted', 'ConsoleWritten', 'AssertionChecked', 'FlowFinished', 'FlowFinished'],
  );
  t.match(of('FlowStarted'), [
    { path: 'outer', depth: 1 },
    { path: 'inner', depth: 2 },
  ]);
  t.match(of('FlowFinished'), [
    { path: 'inner', status: 'passed', durationMs: Number },
    { path: 'outer', status: 'passed' },
  ]);
  t.match(of('ConsoleWritten'), [{ flow: 'inner', line: 3 }]);
  t.match(of('AssertionChecked'), [{ flow: 'inner', line: 3 }]);
});

t.test('flows call flows twenty deep and no deeper', async (t) => {
  const { run, fails } = await withFlows(t, {
    'down.js': 'args => args.left === 0 ? "bottom" : Flow.run("down", { left: args.left - 1 })',
    'async-down.js': 'async args => args.left === 0 ? "bottom" : await Flow.run("async-down", { left: args.left - 1 })',
  });
  t.equal(await run('Flow.run("down", { left: 19 })'), 'bottom');
  t.equal(await run('Flow.run("async-down", { left: 19 })'), 'bottom');
  const error = await fails('Flow.run("down", { left: 20 })');
  t.match(error, { code: 'SCRIPT_ERROR', message: /20 levels deep/ });
  t.equal(Array.isArray(error.details?.flows) && error.details.flows.length, 20);
  t.equal(await run('Flow.run("down", { left: 19 })'), 'bottom', 'and what failed is forgotten');
});

t.test('a flow that is stopped is finished as failed, also when its thread was ended', async (t) => {
  const { fails, of, run } = await withFlows(t, {
    'loop.js': 'function () {\n  while (true) Math.abs(1);\n}',
    'built-in.js': 'new Array(2 ** 31).join("y")',
  });
  t.match(await fails('Flow.run("loop")', { timeoutMs: 200 }), {
    code: 'EVAL_TIMEOUT',
    details: { flow: 'loop', line: 2, flows: ['loop'] },
  });
  t.match(await fails('Flow.run("built-in")', { timeoutMs: 200 }), {
    code: 'EVAL_TIMEOUT',
    details: { flow: 'built-in', flows: ['built-in'], scopeLost: true },
  });
  t.match(of('FlowFinished'), [
    { path: 'loop', depth: 1, status: 'failed', error: { code: 'EVAL_TIMEOUT' } },
    { path: 'built-in', depth: 1, status: 'failed', error: { code: 'EVAL_TIMEOUT' } },
  ]);
  t.equal(await run('1'), 1);
});

t.test('a flow that is not there is FLOW_NOT_FOUND, and no path leads out of the folder', async (t) => {
  const { run, fails, root, flowsDir, of } = await withFlows(t, { 'a.js': '1', 'folder.js/x.js': '1' });
  await symlink(join(root, 'outside.js'), join(flowsDir, 'link.js'));
  await symlink(root, join(flowsDir, 'up'));
  await symlink(join(flowsDir, 'a.js'), join(flowsDir, 'alias.js'));
  t.match(await fails('Flow.run("missing")'), { code: 'FLOW_NOT_FOUND', message: /'missing'/, details: { line: 1 } });
  t.equal((await fails('Flow.run("folder")')).code, 'FLOW_NOT_FOUND', 'a folder is no flow');
  t.same(await run('try { Flow.run("missing") } catch (error) { error.code }'), 'FLOW_NOT_FOUND');
  for (const path of [
    '../outside',
    '/etc/passwd',
    'up/outside',
    'link',
    'a/../../outside',
    '..\\\\outside',
    'a\\0b',
    '',
    'x'.repeat(600),
    'C:/x',
  ]) {
    const error = await fails(`Flow.run("${path}")`);
    t.match(error, { code: 'SCRIPT_ERROR', message: /refused/ }, path);
  }
  t.match(await fails('Flow.run()'), { code: 'SCRIPT_ERROR' });
  t.equal(await run('Flow.run("alias")'), 1, 'a link within the folder is fine');
  t.equal(of('FlowStarted').length, 1, 'nothing else ran');
});

t.test('a flow that was changed on disk runs as it is now', async (t) => {
  const { run, flowsDir } = await withFlows(t, { 'a.js': '1' });
  t.equal(await run('Flow.run("a")'), 1);
  await writeFile(join(flowsDir, 'a.js'), '2');
  t.equal(await run('Flow.run("a")'), 2);
});

t.test('A TypeScript flow runs, and its errors have the position and frame of its own source', async (t) => {
  const { run } = await withFlows(t, {
    'arrow.ts': 'interface Args { a: number; b?: number }\n({ a, b = 2 }: Args): number => (a satisfies number) + b!',
    'function.ts': '// Adds.\nfunction (args: { a: number }) {\n  return args.a + 2;\n};\n',
    'script.ts': 'const a: number = (args as { a: number }).a;\nreturn a + 2;',
    'await.ts':
      "import type { Page } from './types';\nconst two: number = await Promise.resolve<number>(2);\nargs.a + two",
    'caller.ts': "({ a }: { a: number }) => Flow.run('./arrow', { a }) as number",
    'fails.ts': '() => {\n  const a: Record<string, unknown> = {}; null!.x;\n}',
    'plain.js': '() => {\n  const a                          = {}; null .x;\n}',
    'twice.js': '1',
    'twice.ts': '1',
    'enum.ts': 'const ok: number = 1;\nenum Colour { Red }\nok',
    'broken.ts': '({ a }: { a: number }) => {\n  const b: = 3;\n}',
    'deep.ts': '('.repeat(100_000),
    'shapes.d.ts': 'declare const a: number;',
  });
  for (const path of ['arrow', 'function', 'script', 'await', 'caller', 'arrow.ts']) {
    t.equal(await run(`Flow.run('${path}', { a: 1 })`), 3, path);
  }
  const place = async (flow: string) => {
    const error = await run(`Flow.run('${flow}')`).catch((thrown: unknown) => thrown);
    return error instanceof TroupeError ? error.details : null;
  };
  const plain = await place('plain');
  t.match(await place('fails'), { flow: 'fails', line: 2, column: plain?.column, frame: /Record<string, unknown>/ });
  t.match(await place('broken'), { flow: 'broken', line: 2, column: 12, frame: /const b: = 3/ });
  await t.rejects(run("Flow.run('enum')"), {
    message: /enum is not supported/,
    details: { flow: 'enum', line: 2, column: 1 },
  });
  await t.rejects(run("Flow.run('deep')"), { message: /nested too deeply/ });
  t.equal(await run("Flow.run('arrow', { a: 1 })"), 3, 'after a source that broke the library, the next one runs');
  await t.rejects(run("Flow.run('twice')"), { message: /twice\.js and flows\/twice\.ts are the same flow/ });
  await t.rejects(run("Flow.run('shapes.d')"), { code: 'FLOW_NOT_FOUND' });
});
