import { randomOf } from '../support/sampled.js';

export type FunctionKind = 'plain' | 'generator' | 'async' | 'asyncGenerator';

/** What a statement may use where it stands. */
export interface Scope {
  readonly kind: FunctionKind;
  readonly depth: number;
  /** Variables that hold a value of any type. */
  readonly names: string[];
  /** Those that can be assigned. */
  readonly lets: string[];
  readonly functions: { readonly name: string; readonly kind: FunctionKind }[];
  /** Of the loops around, in this function, the outermost first. */
  readonly labels: readonly { readonly name: string; readonly continues: boolean }[];
  readonly strict: boolean;
  readonly returns: boolean;
  /** Whether something around catches what is thrown here. */
  readonly throws: boolean;
}

/** Chooses what a script consists of. */
export class Choices {
  readonly #random: () => number;
  #count = 0;
  /**
   * Whether the script's value is compared. The engine differs from the language where an async generator ends while
   * requests wait (the next one after `return()` is never answered) and where `for await` is left early (it does not
   * wait for `return()`). Compared scripts do neither.
   */
  compared = true;

  constructor(seed: number) {
    this.#random = randomOf(seed);
  }

  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  pick<T>(list: readonly T[]): T {
    const picked = list[this.below(list.length)];
    if (picked === undefined) throw new Error('Nothing to choose from');
    return picked;
  }

  /** One of them if it is chosen, else nothing. */
  maybe(share: number, text: () => string): string {
    return this.chance(share) ? text() : '';
  }

  name(prefix: string): string {
    this.#count += 1;
    return `${prefix}${this.#count}`;
  }
}

export function inner(scope: Scope, change: Partial<Scope> = {}): Scope {
  return {
    ...scope,
    depth: scope.depth + 1,
    names: [...scope.names],
    lets: [...scope.lets],
    functions: [...scope.functions],
    ...change,
  };
}

export function inFunction(scope: Scope, kind: FunctionKind): Scope {
  return inner(scope, { kind, labels: [], returns: true, throws: true });
}

const STARS: { readonly [kind in FunctionKind]: readonly [string, string] } = {
  plain: ['', ''],
  generator: ['', '*'],
  async: ['async ', ''],
  asyncGenerator: ['async ', '*'],
};
export const KINDS: readonly FunctionKind[] = ['plain', 'generator', 'async', 'asyncGenerator'];

/** `async function* name`, without parameters. */
export function head(kind: FunctionKind, name = ''): string {
  const [before, star] = STARS[kind];
  return `${before}function${star} ${name}`;
}

/** `async *name`, a method's. */
export function methodHead(kind: FunctionKind, name: string): string {
  const [before, star] = STARS[kind];
  return `${before}${star}${name}`;
}

export function awaits(scope: Scope): boolean {
  return scope.kind === 'async' || scope.kind === 'asyncGenerator';
}

export function yields(scope: Scope): boolean {
  return scope.kind === 'generator' || scope.kind === 'asyncGenerator';
}

/** An expression of any type. */
export function expression(c: Choices, scope: Scope, depth = 0): string {
  if (depth > 2 || c.chance(0.35)) return leaf(c, scope);
  const part = (): string => expression(c, scope, depth + 1);
  const forms: (() => string)[] = [
    () => `[${part()}, ${part()}]`,
    () => `{ a: ${part()}, b: ${part()} }`,
    () => `{ get a() { return ${leaf(c, { ...scope, kind: 'plain' })}; }, ['b' + num(${leaf(c, scope)})]: ${part()} }`,
    () => `(num(${part()}) * ${1 + c.below(9)} + num(${part()}) | 0)`,
    () => `(num(${part()}) % ${2 + c.below(3)} ? ${part()} : ${part()})`,
    () => `show(${part()})`,
    () => `\`<\${num(${part()})}-\${show(${leaf(c, scope)})}>\``,
    () => `attempt(() => ${object(plain(c, scope))})`,
    () => `(${part()}, ${part()})`,
    () => `(${part()} ?? ${part()})`,
    () => `[...new Set([${part()}, ${part()}])][0]`,
    () => `pool[${c.below(5)}]`,
    () => `keep(() => ${object(leaf(c, { ...scope, kind: 'plain' }))})`,
    () => `new Map([[${part()}, ${part()}]])`,
    () => `(BigInt(num(${part()})) ** ${c.below(9)}n)`,
  ];
  const callable = scope.functions.filter(() => c.chance(0.7));
  for (const { name } of callable.slice(-2)) forms.push(() => `${name}(${part()}, ${leaf(c, scope)})`);
  if (awaits(scope)) forms.push(() => (scope.throws ? `(await ${part()})` : `(await calm(${part()}))`));
  if (yields(scope)) {
    forms.push(
      () => `(yield ${part()})`,
      () => `(yield* [${part()}, ${part()}])`,
    );
  }
  if (!scope.strict) forms.push(() => `attempt(() => eval(${JSON.stringify(leaf(c, scope))}))`);
  return object(c.pick(forms)());
}

/** An object literal in parentheses, so that it is none of a block's braces. */
function object(text: string): string {
  return text.startsWith('{') ? `(${text})` : text;
}

function plain(c: Choices, scope: Scope): string {
  return expression(c, { ...scope, kind: 'plain' }, 2);
}

export function leaf(c: Choices, scope: Scope): string {
  if (scope.names.length > 0 && c.chance(0.6)) return c.pick(scope.names.slice(-8));
  return c.pick([
    () => String(c.below(100) - 20),
    () => `'${'abcdefgh'.slice(0, c.below(8))}'`,
    () => `${c.below(1000)}n`,
    () => 'null',
    () => 'undefined',
    () => 'true',
    () => `${c.below(100) / 8}`,
    () => `[${c.below(9)}]`,
    () => `({ v: ${c.below(9)} })`,
    () => `Symbol('s${c.below(5)}')`,
  ])();
}

/** A function without parameters whose value shows the variables that it captures. */
export function closure(c: Choices, scope: Scope, captured: readonly string[]): string {
  const x = c.pick(captured);
  const y = c.pick(captured);
  const forms: (() => string)[] = [
    () => `() => ${x}`,
    () => `() => [${x}, ${y}]`,
    () => `function () { return [${x}, () => ${y}][1](); }`,
    () => `(() => { const f = () => ${x}; return () => [f(), ${y}]; })()`,
    () => `(function (a) { return [a, ${x}, this]; }).bind(${y}, ${leaf(c, scope)})`,
    () => `new Proxy(() => ${x}, { apply: (t, s, a) => [${y}, Reflect.apply(t, s, a)] })`,
    () =>
      `(() => { const o = { get p() { return ${x}; }, m() { return [this.p, super.toString === undefined, ${y}]; } }; return () => o.m(); })()`,
    () =>
      `(() => { const K = class { #s = ${x}; static t = ${y}; read() { return [this.#s, K.t, ${x}]; } }; const k = new K(); return () => k.read(); })()`,
    () =>
      `(() => { const it = (function* () { try { yield ${x}; yield* [${y}, ${x}]; } finally { say(${y}); } })(); it.next(); return () => it.next().value; })()`,
    () => `(() => { const s = new Map([[${x}, () => ${y}]]); return () => [...s.values()].map((f) => f()); })()`,
    () => `(() => { const w = new WeakMap(), k = {}; w.set(k, () => [${x}, k]); return () => w.get(k)(); })()`,
    () => `(() => { later((async () => { await null; say(${x}); await never; say(${y}); })()); return () => ${y}; })()`,
    () => `(() => { const o = { toString() { return 'o' + show(${x}); } }; return () => \`\${o}\`; })()`,
    () => `((a, b = () => ${x}, [d] = [() => ${y}]) => () => [a, b(), d()])(${leaf(c, scope)})`,
  ];
  if (!scope.strict) {
    forms.push(
      () => `(function (a) { arguments[0] = ${x}; return () => [a, ${y}]; })(1)`,
      () => `(function () { return () => eval(${JSON.stringify(x)}); })()`,
      () => `(function () { with ({ inWith: ${x} }) return () => [inWith, ${y}]; })()`,
    );
  }
  return c.pick(forms)();
}

/** Puts a value into an object that \`make\` made. */
export function holder(c: Choices): { readonly make: string; readonly put: (object: string, value: string) => string } {
  const key = c.name('k');
  return c.pick([
    { make: '{}', put: (object, value) => `${object}.${key} = ${value}` },
    { make: '[]', put: (object, value) => `${object}.push(${value})` },
    { make: 'new Map()', put: (object, value) => `${object}.set(${value}, ${object})` },
    { make: 'new Set()', put: (object, value) => `${object}.add(${value}).self = ${object}` },
    {
      make: 'new (class { #v = []; add(v) { this.#v.push(v); this.#v.push(this); } })()',
      put: (o, v) => `${o}.add(${v})`,
    },
    { make: '(() => { const f = (v) => { f.all = [f.all, v, f]; }; return f; })()', put: (o, v) => `${o}(${v})` },
    { make: 'Object.create({ get me() { return this; } })', put: (o, v) => `${o}[Symbol('v')] = [${v}, ${o}.me]` },
    { make: 'new Proxy({}, {})', put: (object, value) => `${object}.${key} = [${value}, ${object}]` },
    { make: '(function () { return this; }).bind({})', put: (o, v) => `${o}.v = [${v}, ${o}, ${o}()]` },
    { make: 'new WeakMap()', put: (o, v) => `${o}.set(Object(${v}), [${v}, ${o}])` },
    { make: 'new Promise(() => {})', put: (o, v) => `(${o}.v = [${v}, ${o}.then(() => ${o})])` },
    { make: 'new WeakSet()', put: (o, v) => `(${o}.add(Object(${v})), ${o}.v = [${o}, ${v}])` },
    { make: 'new Uint8Array(4)', put: (o, v) => `${o}.v = [${o}, ${v}]` },
    { make: '/a/g', put: (o, v) => `${o}.v = [${o}, ${v}]` },
  ]);
}
