import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { hostModule, openSandbox } from './open-sandbox.js';

guardLeaks(t);

/**
 * Scripts with an error of the engine at `»`; `»?` is where it may have been, of several places on different lines, and the
 * script's first such line is not after the reported one.
 */
const SCRIPTS: { readonly [name: string]: string } = {
  'a declaration': 'let user;\nconst x = 1;\n\nconst n = user.»name;',
  'a returned value': 'function get(u) {\n  const z = 2;\n  return u.»name;\n}\nconst a = 1;\nget(undefined);',
  'after a call': "function f(user) {\n  host.call('x');\n  const x = 1;\n\n  return user.»name.first;\n}\nf(null);",
  'a loop':
    'function f() {\n  for (const u of [{ a: 1 }, undefined]) {\n    const k = 1;\n    const y = u.»a;\n  }\n}\nf();',
  'a condition': "function f(u) {\n  const x = 1;\n  if (u.»name === 'x') {\n    host.call('x');\n  }\n}\nf();",
  'the condition of a loop':
    'function f(o) {\n  const x = 1;\n  for (let i = 0; i < o.x.»y; i++) {\n    x;\n  }\n}\nf({});',
  'what a loop does after its body':
    "function f(o) {\n  let n = 0;\n  for (let i = 0; i < 2; n = o.x.»y) {\n    i = 1;\n    host.call('x');\n  }\n}\nf({});",
  'the condition after a body': "function f(o) {\n  do {\n    host.call('x');\n  } while (o.x.»y);\n}\nf({});",
  'a chain over lines': 'function f(o) {\n  const n = o.x\n    .»y\n    .z;\n  return n;\n}\nf({});',
  'one member of an object':
    "function f(o) {\n  const n = {\n    a: o.x,\n    b: host.call('x'),\n    c: o.y.»z,\n  };\n}\nf({});",
  'a default value': 'function f(\n  o = 1,\n  n = o.x.»y,\n) {\n  return n;\n}\nf();',
  'behind a call on its line': "function f(o) {\n  const n = host.call('x') + o.x.»y;\n}\nf({});",
  'a case': 'function f(o) {\n  switch (o) {\n    case 1: {\n      const n = o.x.»y;\n    }\n  }\n}\nf(1);',
  'a finally': 'function f(o) {\n  try {\n    const n = o.x;\n  } finally {\n    const m = o.y.»z;\n  }\n}\nf({});',
  'a callback': 'function f(o) {\n  return o.map((x) => {\n    const d = 1;\n    return x.y.»z;\n  });\n}\nf([1]);',
  'a method': 'class A {\n  m(x) {\n    const d = 1;\n    return x.»y;\n  }\n}\nconst a = 1;\nnew A().m();',
  'a getter': 'const o = {\n  get a() {\n    const d = 1;\n    return this.q.»r;\n  },\n};\nconst x = o.a;',
  'a template': 'function f(o) {\n  const x = 1;\n  return `\u0024{x} \u0024{o.q.»w}`;\n}\nf({});',
  'a write': 'function f(o) {\n  const x = 1;\n  const y = (o.a.»b = 1);\n}\nf({});',
  'a computed name': 'function f(u) {\n  const i = 0;\n  return u[»i];\n}\nf();',
  'a pattern': 'function f(u) {\n  const i = 0;\n  const »{ x } = u;\n}\nf();',
  'a pattern in a pattern': 'function f(u) {\n  const i = 0;\n  const »{ x: { y } } = u;\n}\nf({});',
  'a list of names': 'function f(u) {\n  const i = 0;\n  const »[x] = u;\n}\nf();',
  'a spread value': 'function f(u) {\n  const i = 0;\n  return [1, ...»u];\n}\nf();',
  'a name that there is none of': 'function f() {\n  const i = 0;\n  return »nope;\n}\nf();',
  'a name before its declaration': 'function f() {\n  const i = 0;\n  const y = »x;\n  let x = 2;\n}\nf();',
  'a constant': 'function f() {\n  const i = 0;\n  const y = (»i = 2);\n}\nf();',
  'no function': 'function f(o) {\n  const i = 0;\n  return o\n    .»b();\n}\nf({});',
  'one of two places, before the next statement':
    "function f(u) {\n  const a = u.»name;\n  host.call('x');\n  return u.name;\n}\nf();",
  'one of two places, after a call':
    "function f(u) {\n  const a = u?.name;\n  host.call('x');\n  return u.»name;\n}\nf();",
  'another function with the same':
    'const other = (u) => u.name;\nfunction f(u) {\n  const i = 1;\n  return u.»name;\n}\nf();',
  'a line with two functions': 'const g = (u) => u.x; const f = (u) => {\n  const i = 1;\n  return u.»y;\n};\nf();',
  'an error of its own':
    'function f(u) {\n  const i = u?.name;\n  throw »new TypeError("cannot read property \'name\' of undefined");\n}\nf();',
  'a function of the language': 'function f(u) {\n  const { x } = {};\n  return Object.»keys(u);\n}\nf();',
  'two places': 'function f(u, v) {\n  if (u) {\n    const »?{ a } = v;\n  }\n  const { b } = v;\n}\nf(1);',
  'a returned call': 'function f(o) {\n  return o\n    .»b(\n    1);\n}\nf({});',
  'a call returned after another': 'function f(o) {\n  return o.a(), o\n    .»b();\n}\nf({ a() {} });',
  'a returned template': 'function f(o) {\n  return o\n    .»b\n    `x`;\n}\nf({});',
  'an optional call': 'function f(o) {\n  const x = 1;\n  return o.»b?.();\n}\nf({ b: 1 });',
  'a construction': 'function f(o) {\n  const x = 1;\n  return new o.a.»B(\n    1);\n}\nf({ a: {} });',
  'a private name': 'class A {\n  #p;\n  static f(o) {\n    const x = 1;\n    return o.»#p;\n  }\n}\nA.f({});',
  'a list to go through, before a pattern':
    'function f(o) {\n  for (const x of o.»items) {\n    x;\n  }\n  const [a] = o;\n}\nf({});',
  'a spread value before a pattern':
    'function f(o) {\n  g(...o.»items);\n  const [a] = o;\n}\nconst g = () => 1;\nf({});',
  'a deletion before a pattern': 'function f(o) {\n  delete o.a.»b;\n  const { a } = o;\n}\nf({});',
  'a pattern after another': 'function f(o) {\n  const { a } = o;\n  o.b = a;\n  const »{ c } = a;\n}\nf({});',
  'a pattern in a parameter': 'function f(\n  o,\n  »{ a },\n) {\n  return a;\n}\nf({});',
  'a pattern of what was thrown':
    'function f() {\n  try {\n    throw null;\n  } catch (»{ a }) {\n    a;\n  }\n}\nf();',
  'what a pattern takes apart': 'function f(o) {\n  const x = 1;\n  const { a } = o.b.»c;\n}\nf({});',
};

t.test('an error of the engine has the line of what failed, or of one before it and no column', async (t) => {
  const { fails } = await openSandbox(t, { modules: [hostModule(async () => null)] });
  for (const [name, marked] of Object.entries(SCRIPTS)) {
    const at = marked.indexOf('»');
    const isExact = marked[at + 1] !== '?';
    const source = marked.replace(/»\??/, '');
    const before = source.slice(0, at).split('\n');
    const line = before.length;
    // A script's declarations last, and would be known to the next one.
    const { code, message, details = {} } = await fails(`(() => {${source}\n})();`);
    t.equal(code, 'SCRIPT_ERROR', `${name}: ${message}`);
    const reported = Number(details.line);
    const frame = String(details.frame);
    t.match(frame, new RegExp(`^> +${reported} \\|`, 'm'), `${name}: the frame`);
    if (isExact) {
      t.equal(reported, line, `${name}: line ${line}, not ${reported}: ${message}`);
      t.match(frame, /\n +\| +\^/, `${name}: a caret`);
      const column = (before.at(-1)?.length ?? 0) + 1 + (line === 1 ? 8 : 0);
      if (!/function|language|its own/.test(name)) t.equal(details.column, column, `${name}: column ${column}`);
    } else {
      t.ok(reported <= line, `${name}: after line ${reported}`);
      t.notOk('column' in details, `${name}: no column`);
      t.notMatch(frame, /\^/, `${name}: no caret`);
    }
  }
});
