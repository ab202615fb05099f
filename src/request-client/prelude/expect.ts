/** The error of a failed assertion. Postman's collections compare `name`. */
class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

type Check = (subject: unknown, args: readonly unknown[], flags: Flags) => readonly [ok: boolean, says: string];

interface Flags {
  negated: boolean;
  deep: boolean;
  any: boolean;
  own: boolean;
  /** `length` came before: numbers are compared with the length. */
  length: boolean;
}

const LINKS = 'to be been is that which and has have with at of same but does still also'.split(' ');

/** JSON for messages; functions and cycles as text. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (value === undefined || typeof value === 'function' || typeof value === 'symbol') return String(value);
  try {
    const text = JSON.stringify(value) ?? String(value);
    return text.length > 200 ? `${text.slice(0, 199)}…` : text;
  } catch {
    return '[object]';
  }
}

export function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const tag = Object.prototype.toString.call(value).slice(8, -1).toLowerCase();
  return typeof value === 'object' ? tag : typeof value;
}

export function deepEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && deepEqual(Reflect.get(a, key), Reflect.get(b, key)));
}

function includes(subject: unknown, wanted: unknown, deep: boolean): boolean {
  if (typeof subject === 'string') return subject.includes(String(wanted));
  const same = (value: unknown): boolean => (deep ? deepEqual(value, wanted) : value === wanted);
  if (Array.isArray(subject)) return subject.some(same);
  if (typeof subject !== 'object' || subject === null || typeof wanted !== 'object' || wanted === null) return false;
  return Object.entries(wanted).every(([key, value]) => {
    const own: unknown = Reflect.get(subject, key);
    return deep ? deepEqual(own, value) : own === value;
  });
}

function lengthOf(value: unknown): number {
  const length: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'length') : undefined;
  if (typeof value === 'string') return value.length;
  if (typeof length === 'number') return length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : Number.NaN;
}

/** `a.b[0].c`, for nested properties. */
function atPath(subject: unknown, path: string): unknown {
  return path
    .split(/[.[\]]+/)
    .filter((key) => key !== '')
    .reduce<unknown>(
      (value, key) => (value === null || value === undefined ? undefined : Reflect.get(Object(value), key)),
      subject,
    );
}

const compare =
  (word: string, holds: (value: number, bound: number) => boolean): Check =>
  (subject, [bound], flags) => {
    const value = flags.length ? lengthOf(subject) : Number(subject);
    return [holds(value, Number(bound)), `${word} ${shown(bound)}`];
  };

const equal: Check = (subject, [wanted], flags) => [
  flags.deep ? deepEqual(subject, wanted) : subject === wanted,
  `equal ${shown(wanted)}`,
];
const include: Check = (subject, [wanted], { deep }) => [includes(subject, wanted, deep), `include ${shown(wanted)}`];
const type: Check = (subject, [wanted]) => [
  typeName(subject) === String(wanted).toLowerCase(),
  `be a ${String(wanted)}`,
];
const above = compare('be above', (a, b) => a > b);
const below = compare('be below', (a, b) => a < b);
const least = compare('be at least', (a, b) => a >= b);
const most = compare('be at most', (a, b) => a <= b);
const hasLength: Check = (subject, [wanted]) => [lengthOf(subject) === wanted, `have length ${shown(wanted)}`];
const keys: Check = (subject, args, { any }) => {
  const wanted = args.flat().map(String);
  const own = typeof subject === 'object' && subject !== null ? Object.keys(subject) : [];
  const found = wanted.filter((key) => own.includes(key)).length;
  return [any ? found > 0 : found === wanted.length && own.length === wanted.length, `have keys ${shown(wanted)}`];
};
const throws: Check = (subject, [wanted]) => {
  try {
    if (typeof subject === 'function') subject();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (wanted instanceof RegExp) return [wanted.test(message), `throw ${String(wanted)}`];
    return [typeof wanted !== 'string' || message.includes(wanted), `throw ${shown(wanted)}`];
  }
  return [false, 'throw'];
};

/** Assertions that are called. */
const METHODS: Readonly<Record<string, Check>> = {
  equal,
  equals: equal,
  eq: equal,
  eql: (subject, [wanted]) => [deepEqual(subject, wanted), `deeply equal ${shown(wanted)}`],
  above,
  gt: above,
  greaterThan: above,
  below,
  lt: below,
  lessThan: below,
  least,
  gte: least,
  most,
  lte: most,
  within: (subject, [low, high], { length }) => {
    const value = length ? lengthOf(subject) : Number(subject);
    return [value >= Number(low) && value <= Number(high), `be within ${shown(low)}..${shown(high)}`];
  },
  closeTo: (subject, [near, delta]) => [
    Math.abs(Number(subject) - Number(near)) <= Number(delta),
    `be close to ${shown(near)} +/- ${shown(delta)}`,
  ],
  match: (subject, [pattern]) => [
    new RegExp(pattern instanceof RegExp ? pattern : String(pattern)).test(String(subject)),
    `match ${String(pattern)}`,
  ],
  string: (subject, [part]) => [String(subject).includes(String(part)), `contain ${shown(part)}`],
  lengthOf: hasLength,
  keys,
  key: keys,
  members: (subject, [wanted], { deep }) => {
    const list = Array.isArray(wanted) ? wanted : [];
    const own = Array.isArray(subject) ? subject : [];
    return [
      own.length === list.length && list.every((value) => includes(own, value, deep)),
      `have members ${shown(list)}`,
    ];
  },
  oneOf: (subject, [list]) => [Array.isArray(list) && list.includes(subject), `be one of ${shown(list)}`],
  instanceof: (subject, [wanted]) => [
    typeof wanted === 'function' && subject instanceof wanted,
    `be an instance of ${typeof wanted === 'function' ? wanted.name : shown(wanted)}`,
  ],
  satisfy: (subject, [holds]) => [typeof holds === 'function' && Boolean(holds(subject)), 'satisfy the given function'],
  throw: throws,
  throws,
};

/** Assertions that are properties. */
const WORDS: Readonly<Record<string, (subject: unknown) => boolean>> = {
  ok: Boolean,
  true: (value) => value === true,
  false: (value) => value === false,
  null: (value) => value === null,
  undefined: (value) => value === undefined,
  NaN: (value) => Number.isNaN(value),
  exist: (value) => value !== null && value !== undefined,
  empty: (value) => lengthOf(value) === 0,
};

/** Assertions that are both properties and calls: `to.include(x)`, `to.be.an('array').that.includes(x)`. */
const BOTH: Readonly<Record<string, Check>> = {
  a: type,
  an: type,
  include,
  includes: include,
  contain: include,
  contains: include,
};

/** Adds further assertions, as `pm.response` does. */
export type Extension = (
  check: (ok: boolean, says: string) => void,
  subject: unknown,
  chain: object,
) => PropertyDescriptorMap;

/** The chain of `pm.expect(subject)`: the part of chai's language that collections use. */
export function expectation(subject: unknown, message: string | undefined, extension?: Extension): object {
  const flags: Flags = { negated: false, deep: false, any: false, own: false, length: false };
  const chain = {};
  const assert = (ok: boolean, says: string, what = shown(subject)): object => {
    if (ok !== flags.negated) return chain;
    const prefix = message === undefined ? '' : `${message}: `;
    throw new AssertionError(`${prefix}expected ${what} ${flags.negated ? 'not ' : ''}to ${says}`);
  };
  const getter = (name: string, get: () => unknown): void => {
    Object.defineProperty(chain, name, { get, configurable: true });
  };
  const call =
    (check: Check) =>
    (...args: unknown[]): object =>
      assert(...check(subject, args, flags));
  for (const name of LINKS) getter(name, () => chain);
  for (const name of ['deep', 'any', 'own'] as const) {
    getter(name, () => {
      flags[name] = true;
      return chain;
    });
  }
  getter('all', () => chain);
  getter('nested', () => chain);
  getter('not', () => {
    flags.negated = !flags.negated;
    return chain;
  });
  for (const [name, holds] of Object.entries(WORDS)) getter(name, () => assert(holds(subject), `be ${name}`));
  for (const [name, check] of Object.entries(METHODS)) getter(name, () => call(check));
  for (const [name, check] of Object.entries(BOTH)) getter(name, () => linked(call(check), chain));
  getter('length', () => {
    flags.length = true;
    return linked(call(hasLength), chain);
  });
  getter('property', () => (path: unknown, ...wanted: unknown[]): object => {
    const text = String(path);
    const holder = Object(subject);
    const value: unknown =
      Object.hasOwn(holder, text) || !/[.[]/.test(text) ? Reflect.get(holder, text) : atPath(subject, text);
    const there = value !== undefined || (subject !== null && subject !== undefined && text in holder);
    const same = wanted.length === 0 || (flags.deep ? deepEqual(value, wanted[0]) : value === wanted[0]);
    assert(there && same, `have property ${shown(text)}${wanted.length === 0 ? '' : ` of ${shown(wanted[0])}`}`);
    // Further assertions apply to the property, as in chai.
    return flags.negated ? chain : expectation(value, message);
  });
  if (extension !== undefined) {
    Object.defineProperties(
      chain,
      extension((ok, says) => assert(ok, says, 'response'), subject, chain),
    );
  }
  return chain;
}

/** A function that is a link of the chain too. */
function linked(call: (...args: unknown[]) => object, chain: object): object {
  Object.setPrototypeOf(call, chain);
  for (const name of ['length', 'name']) Reflect.deleteProperty(call, name);
  return call;
}
