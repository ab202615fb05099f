import {
  awaits,
  Choices,
  closure,
  expression,
  type FunctionKind,
  head,
  holder,
  inFunction,
  inner,
  KINDS,
  leaf,
  methodHead,
  type Scope,
  yields,
} from './generated-code.js';
import { PARTS } from './generated-parts.js';

/** A script whose value depends on all that it did, and that Node runs to the same value, or one that ends at a limit. */
export interface GeneratedScript {
  readonly seed: number;
  /** What it runs into: nothing, an interrupt, the end of its memory, or the end of its stack. */
  readonly limit: 'none' | 'interrupt' | 'memory' | 'stack';
  /** Whether its value is that of Node. */
  readonly compared: boolean;
  /** The number of calls of the interrupt handler after which it is to stop. */
  readonly stopAfter: number;
  readonly before: string;
  readonly statements: readonly string[];
  readonly after: string;
}

export function codeOf({ before, statements, after }: GeneratedScript): string {
  return [before, ...statements, after].join('\n');
}

const MOST_DEPTH = 3;

export function generateScript(seed: number): GeneratedScript {
  const c = new Choices(seed);
  const limit = limitOf(c.below(1000));
  c.compared = limit === 'none' && c.chance(0.93);
  const { compared } = c;
  const isAsync = c.chance(0.6);
  const strict = c.chance(0.5);
  const scope: Scope = {
    kind: isAsync ? 'async' : 'plain',
    depth: 0,
    names: [],
    lets: [],
    functions: [],
    labels: [],
    strict,
    returns: false,
    throws: false,
  };
  const statements = Array.from({ length: 1 + c.below(4) }, () =>
    c.chance(0.4) ? suspended(c, scope) : statement(c, scope),
  );
  const use = `${strict ? "'use strict'; " : ''}const { say, show, attempt, nameOf, spent, num, later, step, churn, collect, keep, probe, digest, rest, calm, refuel, start, kept, its, wakers, pool, never } = tools();`;
  const before = `(() => { ${use}\nconst main = ${isAsync ? 'async ' : ''}() => {`;
  const pauses = isAsync
    ? `for (let i = 0; i < 2; i++) { await rest(${c.below(6)}); probe(5); }`
    : `probe(5); rest(${c.below(9)}).then(() => probe(5));`;
  const run = limit === 'none' ? 'start(main);' : toLimit(c, limit);
  const stopAfter = limit === 'interrupt' ? 1 + c.below(3) : 20;
  return { seed, limit, compared, stopAfter, before, statements, after: `${pauses}\n};\n${run}\n})();` };
}

/** The costly limits are few. */
function limitOf(turn: number): GeneratedScript['limit'] {
  if (turn < 5) return 'memory';
  if (turn < 25) return 'stack';
  return turn < 75 ? 'interrupt' : 'none';
}

/** Code that runs `main` until it ends at the limit. */
function toLimit(c: Choices, limit: 'interrupt' | 'memory' | 'stack'): string {
  switch (limit) {
    case 'interrupt': {
      // A stopped async function only rejects: what called it must end, too.
      const spin = c.pick([
        'const spin = () => { for (let i = 0; i < 12; i++) { refuel(); start(main); probe(9); churn(50); } };',
        'const spin = () => { refuel(); start(main); for (let i = 0; i < 20000; i++) { const o = {}; o.f = () => o; keep(o.f); } };',
        'const spin = () => { refuel(); start(main); for (let i = 0; i < 20000; i++) { const c = {}; c.it = (function* (x) { c.f = keep(() => x); yield* (function* () { yield x; })(); })({ c }); c.it.next(); if (attempt(kept[kept.length - 1]) === 0) break; } };',
      ]);
      return `${spin}\n${through(c, 'spin')}`;
    }
    case 'stack':
      return `let deep = 0; const at = ${3 + c.below(40)};
      const dive = () => { deep += 1; if (deep % ${20 + c.below(40)} === 0) collect();
      if (deep === at) { refuel(); attempt(main); } if (deep > 320) return deep;
      const cycle = {}; cycle.f = keep(() => [cycle, deep].length); cycle.it = (function* () { try { yield cycle; } finally { say(deep); } })(); cycle.it.next();
      ${through(c, 'dive')} return cycle; };
      say(attempt(dive)); refuel(); start(main);`;
    case 'memory':
      // Most of the memory, so that the rest is soon used up.
      return `const hoard = [new ArrayBuffer(10 << 20)]; for (let i = 0, failed = 0; failed < ${1 + c.below(3)} && i < 100; i++) { try { refuel(); start(main); ${c.pick(
        [
          'hoard.push(kept.slice(), its.slice(), new Array(20000).fill(i));',
          "hoard.push('x'.repeat(100000) + i, kept.slice());",
          'for (let j = 0; j < 1000; j++) { const o = { j }; o.f = () => o; hoard.push(o); }',
          'for (let j = 0; j < 500; j++) { const it = (function* () { const x = { j, it }; keep(() => x); yield x; })(); it.next(); hoard.push(it); }',
          'hoard.push(new Uint8Array(300000 + i), new Map(kept.map((f) => [f, i])));',
          'hoard.push(JSON.parse(JSON.stringify(Array.from({ length: 1000 }, (_, k) => ({ k, a: [k] })))));',
        ],
      )} } catch (error) { failed += 1; ${c.pick(['hoard.length >>= 1;', 'hoard.length = 0; collect();', 'probe(5);', ''])} } }`;
  }
}

/** Calls the function from inside of something that the engine itself does. */
function through(c: Choices, name: string): string {
  const again = c.pick(['', `try { `, `for (let i = 0; i < 2; i++) try { `, `out: for (let i = 0; i < 9; i++) try { `]);
  const end =
    again === ''
      ? ''
      : c.pick(['} catch (error) { say(nameOf(error)); }', '} finally { probe(2); }', '} catch { collect(); }']);
  const leave = again.startsWith('out') ? ' break out;' : '';
  const call = c.pick([
    `${name}();`,
    `for (const v of (function* () { const held = {}; keep(() => held); try { yield ${name}(); } finally { say(held); } })()) say(1);`,
    `[3, 1, 2].sort(() => { ${name}(); return 1; });`,
    `JSON.parse('[1, [2]]', () => ${name}());`,
    `JSON.stringify({ toJSON() { return ${name}(); } });`,
    `'ab'.replace(/./g, () => ${name}());`,
    `new Proxy({}, { get: () => ${name}() }).x;`,
    `(class { static x = ${name}(); });`,
    `const [a] = { [Symbol.iterator]: () => ({ next: () => ({ value: 1, done: false }), return: () => ${name}() }) };`,
    `String({ toString() { return ${name}(); } });`,
    `(async () => { await null; ${name}(); })(); (async () => { const x = {}; keep(() => x); ${name}(); await never; })();`,
    `Promise.resolve().then(${name}); new Promise(${name});`,
    `(async function* () { const x = {}; keep(() => x); yield ${name}(); })().next();`,
    `Array.from({ length: 2 }, ${name});`,
    `[1].reduce(${name}, 0); new Map([[1, 2]]).forEach(${name}); Reflect.construct(${name}.bind(), []);`,
    `new Set([1, 2]).forEach(${name}); Reflect.apply(${name}, null, [1]);`,
    `(function* () { yield* { [Symbol.iterator]: () => ({ next: ${name} }) }; })().next();`,
    `eval('${name}()');`,
    `[1, 2].values().map?.(${name}).next(); new ArrayBuffer(8).transfer?.(1 << 20); attempt(() => [1].values().flatMap(() => [${name}()]).toArray());`,
  ]);
  return `${again}${call}${leave}${end}`;
}

function block(c: Choices, scope: Scope, count = 1 + c.below(3)): string {
  return Array.from({ length: count }, () => statement(c, scope)).join('\n');
}

function statement(c: Choices, scope: Scope): string {
  const flat = scope.depth >= MOST_DEPTH;
  const turn = c.below(100);
  if (turn < 16) return c.pick(PARTS)(c, scope);
  if (turn < 22 && scope.depth < 3) return suspended(c, scope);
  if (turn < 30 && !flat) return declaration(c, scope);
  if (turn < 40 && !flat) return loop(c, scope);
  if (turn < 52 && !flat) return trying(c, scope);
  if (turn < 56 && !flat) {
    return `if (num(${expression(c, scope)}) % 2) {\n${block(c, inner(scope))}\n} else {\n${block(c, inner(scope))}\n}`;
  }
  if (turn < 62) return jump(c, scope);
  if (turn < 68) return use(c, scope);
  if (turn < 74 && scope.names.length > 0) return `keep(${closure(c, scope, scope.names)});`;
  if (turn < 78) return c.pick(['collect();', 'churn(200);', 'churn(20);', 'probe(4);', `probe(${c.below(20)});`]);
  if (turn < 81 && (yields(scope) || awaits(scope))) return suspension(c, scope, 'pool');
  if (turn < 85 && scope.lets.length > 0) return `${c.pick(scope.lets)} = ${expression(c, scope)};`;
  if (turn < 88) return `pool[${c.below(5)}] = ${expression(c, scope)};`;
  if (turn < 92) return `say(${expression(c, scope)});`;
  return variable(c, scope);
}

function variable(c: Choices, scope: Scope): string {
  const name = c.name('v');
  const value = expression(c, scope);
  const word = c.pick(['const', 'let', 'let']);
  scope.names.push(name);
  if (word === 'let') scope.lets.push(name);
  return `${word} ${name} = ${value};`;
}

/** A function, or a class or an object with it as a method, and calls of it. */
function declaration(c: Choices, scope: Scope): string {
  const name = c.name('f');
  const kind = c.pick(KINDS);
  const [a, b] = [c.name('a'), c.name('b')];
  const isPrivate = c.chance(0.2);
  const body = { ...inFunction(scope, kind), strict: scope.strict || isPrivate };
  body.names.push(a, b);
  const outside: Scope = { ...body, kind: 'plain', names: scope.names };
  const parameters = c.pick([
    `${a}, ${b}`,
    `${a} = ${leaf(c, outside)}, ${b} = ${closure(c, outside, [a])}`,
    `${a}, { x: ${b} } = { x: ${leaf(c, outside)} }`,
    `${a}, ...${b}`,
  ]);
  // The engine's closures in default values do not see what the body assigns to parameters: it assigns nothing then.
  if (!parameters.includes('=>') && !parameters.includes('function')) body.lets.push(a, b);
  const inside = `if (spent()) return ${a};\n${block(c, body, 2 + c.below(3))}\nreturn ${expression(c, body)};`;
  scope.functions.push({ name, kind });
  const privateMethod = (): string =>
    `const ${name} = new (class { ${methodHead(kind, '#m')}(${parameters}) {\n${inside}\n} get m() { return (...a) => this.#m(...a); } })().m;`;
  const functions = [
    () => `const ${name} = ${head(kind)}(${parameters}) {\n${inside}\n};`,
    () => `const ${name} = { ${methodHead(kind, 'm')}(${parameters}) {\n${inside}\n} }.m;`,
    () => `const ${name} = (${head(kind)}(${parameters}) {\n${inside}\n}).bind(${leaf(c, outside)});`,
    ...(kind === 'plain' || kind === 'async'
      ? [() => `const ${name} = ${kind === 'async' ? 'async ' : ''}(${parameters}) => {\n${inside}\n};`]
      : []),
  ];
  const text = isPrivate ? privateMethod() : c.pick(functions)();
  return `${text}\n${use(c, scope)}`;
}

/** Calls a function that is there and does something with what it returns. */
function use(c: Choices, scope: Scope): string {
  const target = scope.functions.length > 0 ? c.pick(scope.functions) : null;
  if (target === null) return `say(${expression(c, scope)});`;
  const call = `${target.name}(${leaf(c, scope)}, ${leaf(c, scope)})`;
  const it = c.name('it');
  const cycle = holder(c);
  const dropped = `{ const cycle = ${cycle.make}; const ${it} = ${call}; attempt(() => step(${it})); ${cycle.put('cycle', it)}; ${c.maybe(0.5, () => `its.push(${it});`)} }`;
  switch (target.kind) {
    case 'plain':
      return c.pick([`say(attempt(() => ${call}));`, `pool.push(attempt(${target.name}));`]);
    case 'generator':
      return c.pick([
        dropped,
        `say(attempt(() => { let n = 0; for (const v of ${call}) { if (n++ > 5) break; say(v); } return n; }));`,
        `{ const ${it} = ${call}; say(attempt(() => step(${it})), attempt(() => step(${it}, '${c.pick(['return', 'throw', 'next'])}', ${leaf(c, scope)})), attempt(() => step(${it}))); }`,
        ...(yields(scope) ? [`say(yield* ${call});`] : []),
        ...(awaits(scope)
          ? [`try { for await (const v of ${call}) { say(v); ${leaving(c)} } } catch (error) { say(nameOf(error)); }`]
          : []),
      ]);
    case 'async':
      return c.pick([
        `later(${call});`,
        `{ const cycle = ${cycle.make}; ${cycle.put('cycle', `${call}.then(keep, say)`)}; }`,
        `pool.push(${call}.catch(() => ${leaf(c, { ...scope, kind: 'plain' })}));`,
        ...(awaits(scope)
          ? [`try { say(await Promise.race([${call}, rest(${c.below(30)})])); } catch (error) { say(nameOf(error)); }`]
          : [`later(${call});`]),
      ]);
    case 'asyncGenerator':
      if (c.compared) {
        return c.pick([
          `{ const cycle = ${cycle.make}; const ${it} = ${call}; step(${it}); ${cycle.put('cycle', it)}; }`,
          `later((async () => { let n = 0; for await (const v of ${call}) { n++; say(v); } return n; })());`,
          `{ const ${it} = ${call}; later((async () => { say(await ${it}.next()); say(await ${it}.next(${leaf(c, { ...scope, kind: 'plain' })})); return ${it}.next(); })()); }`,
        ]);
      }
      return c.pick([
        dropped,
        `{ const ${it} = ${call}; step(${it}); step(${it}, '${c.pick(['return', 'throw', 'next'])}', ${leaf(c, scope)}); step(${it}); its.push(${it}); }`,
        `later((async () => { let n = 0; for await (const v of ${call}) { if (n++ > 4) break; say(v); } return n; })());`,
      ]);
  }
}

function leaving(c: Choices): string {
  return c.compared ? '' : 'if (spent()) break;';
}

function loop(c: Choices, scope: Scope): string {
  // The engine makes no variable for the next turn where `continue` ends one of `for (let ...;;)`: none does.
  const counts = c.chance(0.3);
  const label = c.name('l');
  const name = c.name('i');
  const body = inner(scope, {
    labels: [...scope.labels, { name: label, continues: !counts }],
    // `return` that closes an iterator in an async generator takes the engine one job more.
    returns: scope.returns && !(c.compared && scope.kind === 'asyncGenerator'),
  });
  body.names.push(name);
  const turns = 1 + c.below(4);
  // The engine cannot compile `yield` in the head of for-of.
  const source = expression(c, { ...scope, kind: awaits(scope) ? 'async' : 'plain' }, 2);
  const counting = `for (let ${name} = 0; ${name} < ${turns}; ${name}++)`;
  const others = c.pick([
    () => `for (const ${name} of [${source}, ${turns}])`,
    () => `for (const ${name} in { a: 1, b: ${source}, __proto__: { c: 3 } })`,
    () =>
      `for (const ${name} of (function* () { try { for (let i = 0; i < 9; i++) yield i; } finally { say('closed'); ${c.maybe(0.3, () => 'collect();')} } })())`,
    () => `for (const [${name}] of new Map([[1, 2], [${source}, 3]]))`,
    ...(awaits(scope) && !c.compared
      ? [
          () => `for await (const ${name} of [${source}, rest(2), Promise.resolve(3)])`,
          () =>
            `for await (const ${name} of (async function* () { try { yield 1; yield rest(1); yield ${turns}; } finally { await null; say('closed'); } })())`,
        ]
      : []),
  ])();
  const start = counts ? counting : others;
  return `${label}: ${start} {\nif (spent()) break;\n${c.maybe(0.4, () => `keep(() => ${name});`)}\n${block(c, body)}\n}`;
}

/**
 * Where a handler is in loops, compared scripts leave them all: a variable of a block that an exception ended is not a new
 * one for closures in the engine when the block runs again.
 */
function leavingLoops(c: Choices, scope: Scope): string {
  const outermost = scope.labels[0];
  return c.compared && outermost !== undefined ? `break ${outermost.name};` : '';
}

function trying(c: Choices, scope: Scope): string {
  const error = c.name('e');
  // Nothing leaves the script's own function.
  const wrapped = !scope.throws;
  const inside = (): Scope => inner(scope, { throws: true });
  const caught = inside();
  caught.names.push(error);
  const body = `${block(c, inside())}\n${jump(c, inside())}`;
  const left = leavingLoops(c, scope);
  const handler = c.chance(0.7)
    ? `catch (${error}) {\nsay('caught', ${error} instanceof Error ? nameOf(${error}) : ${error});\n${block(c, caught)}\n${left}\n}`
    : '';
  // What leaves a `finally` block may end an exception.
  const leaves = {
    labels: c.compared ? scope.labels.slice(0, 1).map(({ name }) => ({ name, continues: false })) : scope.labels,
  };
  const last =
    handler === '' || c.chance(0.5)
      ? `finally {\n${c.maybe(0.3, () => 'collect();')}\n${block(c, inner(scope, { ...leaves, throws: true }))}\n${c.maybe(0.3, () => jump(c, inner(scope, { ...leaves, throws: true })))}\n}`
      : '';
  const text = `try {\n${body}\n} ${handler} ${last}`;
  return wrapped ? `try { ${text} } catch (error) { say('out', nameOf(error)); ${left} }` : text;
}

/** A conditional break, continue, return or throw. */
function jump(c: Choices, scope: Scope): string {
  const ways = [
    ...scope.labels.flatMap(({ name, continues }) => [`break ${name};`, ...(continues ? [`continue ${name};`] : [])]),
    ...(scope.returns ? [`return ${expression(c, scope, 1)};`] : []),
    ...(scope.throws
      ? [`throw new ${c.pick(['TypeError', 'RangeError', 'EvalError'])}('j');`, `throw ${leaf(c, scope)};`]
      : []),
  ];
  if (ways.length === 0) return `say(${expression(c, scope)});`;
  return c.chance(0.15)
    ? `{ ${c.pick(ways)} }`
    : `if (num(${leaf(c, scope)}) % ${2 + c.below(3)} === 0) ${c.pick(ways)}`;
}

/** Suspends the frame for a while or for ever. */
function suspension(c: Choices, scope: Scope, cycle: string): string {
  const value = expression(c, scope, 2);
  const ways: string[] = [];
  const woken = 'new Promise((resolve) => wakers.push(resolve))';
  if (yields(scope)) {
    ways.push(
      `say(yield ${value});`,
      `try { yield ${value}; } finally { say('left', ${leaf(c, scope)}); ${c.maybe(0.3, () => 'yield 5;')} }`,
      `say([${leaf(c, scope)}, yield 1, ...(yield [2])?.x ?? []]);`,
      `say(yield* (function* () { const held = [${leaf(c, { ...scope, kind: 'plain' })}]; keep(() => held); try { return yield held; } finally { keep(() => held.pop()); } })());`,
      `yield* { [Symbol.iterator]: () => ({ next: (v) => ({ value: v, done: ${c.pick(['true', 'spent()', '1'])} }), ${c.pick(['return: (v) => ({ value: v, done: true })', "throw: () => { throw new URIError('y'); }", 'x: 1'])} }) };`,
      `{ const list = [1, yield ${value}]; for (const held of list) { keep(() => held); say(yield held); } }`,
    );
  }
  if (awaits(scope)) {
    ways.push(
      `say(await ${value});`,
      'await never;',
      `say(await ${woken});`,
      `await new Promise((resolve) => { attempt(() => { ${cycle}.wake = resolve; }); ${c.maybe(0.4, () => 'wakers.push(resolve);')} });`,
      `await { then(f) { ${c.maybe(0.3, () => 'collect();')} say('then'); ${c.pick(['f(1);', 'wakers.push(f);', "throw new EvalError('a');", `attempt(() => { ${cycle}.f = f; });`])} } };`,
      `try { await ${c.pick(['never', woken, 'rest(2)', 'null'])}; } finally { say('left', ${leaf(c, scope)}); }`,
      `for await (const held of [null, ${woken}, 3]) { keep(() => held); ${leaving(c)} }`,
    );
  }
  const way = c.pick(ways);
  return scope.throws ? way : `try { ${way} } catch (error) { say('out', nameOf(error)); ${leavingLoops(c, scope)} }`;
}

/**
 * Functions that are suspended in cycles that are dropped, while closures of their variables are kept: what a
 * collector of cycles gets wrong first.
 */
function suspended(c: Choices, scope: Scope): string {
  const kind = c.pick(['generator', 'generator', 'async', 'asyncGenerator'] as const satisfies readonly FunctionKind[]);
  const turn = c.name('n');
  const cycle = c.name('cycle');
  const g = c.name('g');
  const it = c.name('it');
  const around: Scope = inner(scope, { kind: 'plain', labels: [], returns: false });
  around.names.push(turn, cycle);
  const body = inFunction(around, kind);
  const [a, b] = [c.name('a'), c.name('b')];
  // Only to read: the closure in the default value does not see in the engine what the body assigns.
  body.names.push(a, b);
  const hold = holder(c);
  const lines: string[] = [fresh(c, body, turn, cycle)];
  for (let i = c.below(3); i > 0; i--) {
    lines.push(c.chance(0.4) ? variable(c, { ...body, kind: 'plain' }) : fresh(c, body, turn, cycle));
  }
  const own = body.names.slice(-4);
  for (let i = 1 + c.below(3); i > 0; i--) {
    const f = c.name('f');
    lines.push(`const ${f} = ${closure(c, body, own)};`);
    if (c.chance(0.7)) lines.push(`${hold.put(cycle, f)};`);
    if (c.chance(0.7)) lines.push(`keep(${f});`);
  }
  if (c.chance(0.3)) lines.push(statement(c, inner(body, { depth: MOST_DEPTH })));
  lines.push(suspension(c, body, cycle));
  lines.push(`${c.pick(body.lets)} = ${leaf(c, body)};`);
  if (c.chance(0.6)) lines.push(block(c, inner(body, { depth: 3 }), 1), suspension(c, body, cycle));
  lines.push(`return ${c.pick(own)};`);
  const order = c.chance(0.3) ? lines : [`if (spent()) return ${turn};`, ...lines];
  const start = kind === 'async' ? 'later' : '';
  const single = kind === 'asyncGenerator' && c.compared;
  const more = [
    c.maybe(0.5, () => `its.push(${it}); if (its.length > 20) its.splice(0, 15);`),
    c.maybe(0.3, () => `if (${turn} % 3 === 1) attempt(() => step(${it}));`),
    c.maybe(
      0.2,
      () => `if (${turn} % 4 === 2) say(attempt(() => step(${it}, '${c.pick(['return', 'throw'])}', ${turn})));`,
    ),
  ];
  return `for (let ${turn} = 0; ${turn} < ${c.pick([2, 4, 8, 16])}; ${turn}++) {
const ${cycle} = ${hold.make};
${head(kind, g)}(${a}, ${b} = () => ${a}) {
${order.join('\n')}
}
const ${it} = ${start}(${g}(${leaf(c, around)}));
${hold.put(cycle, it)};
${kind === 'async' ? '' : `attempt(() => step(${it}));\n${single ? '' : more.join('\n')}`}
${c.maybe(0.4, () => `if (${turn} % ${2 + c.below(9)} === 1) collect();`)}
${c.maybe(0.3, () => `churn(${c.below(40)});`)}
${c.maybe(0.6, () => `if (${turn} % ${2 + c.below(6)} === 0) for (const f of kept.slice(-${1 + c.below(30)})) attempt(f);`)}
${c.maybe(0.2, () => `if (${turn} % 8 === 5) probe(3);`)}
}
${c.maybe(0.5, () => 'collect();')} probe(${c.below(12)});`;
}

function fresh(c: Choices, scope: Scope, turn: string, cycle: string): string {
  const name = c.name('x');
  scope.names.push(name);
  scope.lets.push(name);
  return `let ${name} = ${c.pick([`{ ${turn} }`, `[${turn}, '${name}']`, `'${name}' + ${turn}`, `{ cycle: ${cycle}, ${turn} }`, `new Map([[${turn}, ${turn}]])`, `() => ${turn}`, `Symbol('${name}')`, `BigInt(${turn}) ** 30n`])};`;
}
