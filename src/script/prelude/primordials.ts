/*
 * The language's own functions as they were before any script ran. Code of preludes uses these, literals and operators,
 * and nothing that looks a method up on a prototype or a name up in the global object: a script may have replaced it.
 * That forbids method calls, `for of`, spread of arrays, array destructuring, writing to an array's index (a setter on
 * Array.prototype would see it), `new Set()` in a function, and templates without {@link words}.
 */
const { apply, get } = Reflect;

/** A method as a function of its `this`. */
function uncurry<T, A extends unknown[], R>(method: (this: T, ...args: A) => R): (self: T, ...args: A) => R {
  return (self, ...args) => apply(method, self, args);
}

/** The same for a built-in that checks its `this` by itself. */
function method<A extends unknown[], R>(builtIn: unknown): (self: object, ...args: A) => R {
  if (typeof builtIn !== 'function') throw new TypeError('a built-in is missing');
  return (self, ...args) => apply(builtIn, self, args);
}

export const { ownKeys, getPrototypeOf, getOwnPropertyDescriptor, defineProperty } = Reflect;
export const { freeze, is } = Object;
export const { isArray } = Array;
export const isFiniteNumber: (value: unknown) => boolean = Number.isFinite;
export const { parse, stringify } = JSON;
export const TextOf = String;
export const NumberOf = Number;
export const ErrorClass = Error;
export const TypeErrorClass = TypeError;
export const RangeErrorClass = RangeError;
export const FunctionClass = Function;
export const PromiseClass = Promise;
export const RegExpClass = RegExp;
export const asyncIteratorSymbol: typeof Symbol.asyncIterator = Symbol.asyncIterator;
export const iteratorSymbol: typeof Symbol.iterator = Symbol.iterator;
export const objectPrototype: object = Object.prototype;
export const arrayPrototype: object = Array.prototype;
export const functionPrototype: object = Function.prototype;
export const builtInPrototypes: readonly object[] = [
  Object.prototype,
  Array.prototype,
  String.prototype,
  Number.prototype,
  Boolean.prototype,
];

export const hasOwn: (value: object, key: PropertyKey) => boolean = Object.hasOwn;
export const slice = uncurry(String.prototype.slice);
export const trim = uncurry(String.prototype.trim);
export const startsWith = uncurry(String.prototype.startsWith);
export const includes = uncurry(String.prototype.includes);
export const exec: (pattern: object, text: string) => readonly (string | undefined)[] | null = method(
  RegExp.prototype.exec,
);
/** Throws for anything but a promise. */
export const promiseThen: (value: object, settled: undefined, rejected: (reason: unknown) => void) => unknown = method(
  Promise.prototype.then,
);
/** Throws for anything but a Date. */
export const dateValue: (value: object) => number = method(Date.prototype.getTime);
export const dateText: (value: object) => string = method(Date.prototype.toISOString);
export const regExpText: (value: object) => string = method(RegExp.prototype.toString);
/** Throws for anything but a RegExp. */
export const regExpSource: (value: object) => string = method(
  Reflect.getOwnPropertyDescriptor(RegExp.prototype, 'source')?.get,
);

/** The tag of every template in a prelude: the engine would evaluate a plain one with String.prototype.concat. */
export function words(parts: TemplateStringsArray, ...values: readonly unknown[]): string {
  let text = parts[0] ?? '';
  for (let i = 0; i < values.length; i += 1) text += TextOf(values[i]) + (parts[i + 1] ?? '');
  return text;
}

const WeakMapClass = WeakMap;
const weakMapGet = uncurry<WeakMap<object, unknown>, [object], unknown>(WeakMap.prototype.get);
const weakMapSet = uncurry<WeakMap<object, unknown>, [object, unknown], unknown>(WeakMap.prototype.set);

/** Values by object, like a WeakMap. */
export interface Notes<V> {
  get(key: object): V | undefined;
  set(key: object, value: V): void;
}

export function makeNotes<V>(isNote: (value: unknown) => value is V): Notes<V> {
  const map = new WeakMapClass<object, unknown>();
  return {
    get: (key) => {
      const note = weakMapGet(map, key);
      return isNote(note) ? note : undefined;
    },
    set: (key, value) => {
      weakMapSet(map, key, value);
    },
  };
}

const SetClass = Set;
const setHas = uncurry<Set<unknown>, [unknown], boolean>(Set.prototype.has);
const setAdd = uncurry<Set<unknown>, [unknown], unknown>(Set.prototype.add);
const setDelete = uncurry<Set<unknown>, [unknown], boolean>(Set.prototype.delete);

/** Like a Set. */
export class Seen {
  readonly #set = new SetClass<unknown>();

  has(value: unknown): boolean {
    return setHas(this.#set, value);
  }
  add(value: unknown): void {
    setAdd(this.#set, value);
  }
  delete(value: unknown): void {
    setDelete(this.#set, value);
  }
}

/** `list.push(item)` without using a prototype. */
export function append<T>(list: T[], item: T): void {
  const descriptor = { __proto__: null, value: item, writable: true, enumerable: true, configurable: true };
  defineProperty(list, list.length, descriptor);
}

export function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** `value[key]` for any object. Getters and traps of the script run, and may throw. */
export function read(value: object, key: PropertyKey): unknown {
  return get(value, key);
}

/** `method.apply(self, args)`. */
export function invoke(method: unknown, self: unknown, ...args: unknown[]): unknown {
  if (typeof method !== 'function') throw new TypeErrorClass('not a function');
  return apply(method, self, args);
}
