/*
 * The language's own functions as they were before any script ran. Code of preludes, and code that runs among a page's
 * scripts, uses these, literals and operators, and nothing that looks a method up on a prototype or a name up in the global
 * object: a script may have replaced it.
 * That forbids method calls, `for of`, spread of arrays, array destructuring, writing to an array's index (a setter on
 * Array.prototype would see it), `new Set()` in a function, and templates without {@link words}.
 */
const { apply, get } = Reflect;

/** A method as a function of its `this`. */
export function uncurry<T, A extends unknown[], R>(method: (this: T, ...args: A) => R): (self: T, ...args: A) => R {
  return (self, ...args) => apply(method, self, args);
}

/** The same for a built-in that checks its `this` by itself. */
export function method<A extends unknown[], R>(builtIn: unknown): (self: object, ...args: A) => R {
  if (typeof builtIn !== 'function') throw new TypeError('a built-in is missing');
  return (self, ...args) => apply(builtIn, self, args);
}

export const { ownKeys, getPrototypeOf, getOwnPropertyDescriptor, defineProperty, construct, set } = Reflect;
export const { freeze, is } = Object;
/** Own, enumerable, texts. */
export const keysOf: (value: object) => readonly string[] = Object.keys;
export const { isArray } = Array;
export const { max, min, floor } = Math;
export const isFiniteNumber: (value: unknown) => boolean = Number.isFinite;
export const { parse, stringify } = JSON;
export const TextOf = String;
export const NumberOf = Number;
export const ObjectOf = Object;
export const ArrayOf = Array;
export const ErrorClass = Error;
export const TypeErrorClass = TypeError;
export const SyntaxErrorClass = SyntaxError;
export const RangeErrorClass = RangeError;
export const FunctionClass = Function;
export const PromiseClass = Promise;
export const RegExpClass = RegExp;
export const asyncIteratorSymbol: typeof Symbol.asyncIterator = Symbol.asyncIterator;
export const iteratorSymbol: typeof Symbol.iterator = Symbol.iterator;
export const objectPrototype: object = Object.prototype;
export const arrayPrototype: object = Array.prototype;
export const functionPrototype: object = Function.prototype;
/** Those that have no `toJSON`. */
export const builtInPrototypes: readonly object[] = [
  Object.prototype,
  Array.prototype,
  String.prototype,
  Number.prototype,
  Boolean.prototype,
  BigInt.prototype,
  Symbol.prototype,
  Function.prototype,
  RegExp.prototype,
  Error.prototype,
  Promise.prototype,
  Map.prototype,
  Set.prototype,
  WeakMap.prototype,
  WeakSet.prototype,
  ArrayBuffer.prototype,
  DataView.prototype,
  Reflect.getPrototypeOf(Int8Array.prototype) ?? {},
];

export const hasOwn: (value: object, key: PropertyKey) => boolean = Object.hasOwn;
/** An own property's value; undefined where there is none, or an accessor. */
export function ownValue(value: object, key: PropertyKey): unknown {
  const descriptor = getOwnPropertyDescriptor(value, key);
  return descriptor !== undefined && hasOwn(descriptor, 'value') ? descriptor.value : undefined;
}
/** `value instanceof type`, whatever the type says about it. */
export const isInstance: (type: object, value: unknown) => boolean = method(Function.prototype[Symbol.hasInstance]);
export const slice = uncurry(String.prototype.slice);
export const indexOf: (text: string, part: string) => number = uncurry(String.prototype.indexOf);
export const toLowerCase: (text: string) => string = uncurry(String.prototype.toLowerCase);
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
const datePrototype = Date.prototype;
const dateJson = Date.prototype.toJSON;
/** The primitive value of a boxed one; throws for anything else. */
export const unboxed: readonly (readonly [prototype: object, valueOf: (value: object) => unknown])[] = [
  [Number.prototype, method(Number.prototype.valueOf)],
  [String.prototype, method(String.prototype.valueOf)],
  [Boolean.prototype, method(Boolean.prototype.valueOf)],
  [BigInt.prototype, method(BigInt.prototype.valueOf)],
];
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

const toJsonOf = makeNotes((value): value is object => typeof value === 'function');

/** Remembers what a built-in prototype has as `toJSON` now. */
export function holdToJson(prototype: object): void {
  const toJson = ownValue(prototype, 'toJSON');
  if (typeof toJson === 'function') toJsonOf.set(prototype, toJson);
}

/** The `toJSON` that a built-in prototype had before any script ran; undefined for all others. */
export function heldToJson(prototype: object): unknown {
  return prototype === datePrototype ? dateToJson : toJsonOf.get(prototype);
}

/** A Date's `toJSON`, by the `toISOString` of its own class if that has one. */
function dateToJson(this: object): unknown {
  const toText = read(this, 'toISOString');
  if (toText !== ownValue(datePrototype, 'toISOString')) return apply(dateJson, this, ['']);
  const ms = dateValue(this);
  return isFiniteNumber(ms) ? dateText(this) : null;
}

/** Whether a script has changed what makes text of dates. */
export const datesAreChanged: () => boolean = () =>
  ownValue(datePrototype, 'toJSON') !== dateJson || ownValue(datePrototype, 'toISOString') !== isoText;
const isoText = Date.prototype.toISOString;

const functionText: (value: object) => string = method(Function.prototype.toString);
const NATIVE = /^function \w*\(\) \{\s*\[native code\]\s*\}$/;

/** Whether the platform made this function. */
export function isNative(value: unknown): boolean {
  return typeof value === 'function' && exec(NATIVE, functionText(value)) !== null;
}

const MapClass = Map;
const mapHas = uncurry<Map<unknown, unknown>, [unknown], boolean>(Map.prototype.has);
const mapGet: <K, V>(map: Map<K, V>, key: K) => V | undefined = method(Map.prototype.get);
const mapSet = uncurry<Map<unknown, unknown>, [unknown, unknown], unknown>(Map.prototype.set);
const mapDelete = uncurry<Map<unknown, unknown>, [unknown], boolean>(Map.prototype.delete);
const mapForEach: <K, V>(map: Map<K, V>, each: (value: V, key: K) => void) => void = method(Map.prototype.forEach);
const mapSize: (map: object) => number = method(Reflect.getOwnPropertyDescriptor(Map.prototype, 'size')?.get);

/** Like a Map. */
export class Table<K, V> {
  readonly #map = new MapClass<K, V>();

  get size(): number {
    return mapSize(this.#map);
  }
  has(key: K): boolean {
    return mapHas(this.#map, key);
  }
  get(key: K): V | undefined {
    return mapGet(this.#map, key);
  }
  set(key: K, value: V): void {
    mapSet(this.#map, key, value);
  }
  delete(key: K): void {
    mapDelete(this.#map, key);
  }
  /** What is deleted meanwhile is left out. */
  forEach(each: (value: V, key: K) => void): void {
    mapForEach(this.#map, each);
  }
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

/** `list[nth]`; a prototype may have something beyond the list's end. */
export function at<T>(list: readonly T[], nth: number): T | undefined {
  return nth < list.length ? list[nth] : undefined;
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

/** `value[key]` where it is data, also inherited; undefined for an accessor, which would run the script's code. */
export function dataOf(value: object, key: PropertyKey): unknown {
  for (let at: object | null = value; at !== null; at = getPrototypeOf(at)) {
    const descriptor = getOwnPropertyDescriptor(at, key);
    if (descriptor !== undefined) return hasOwn(descriptor, 'value') ? descriptor.value : undefined;
  }
  return undefined;
}

/** `method.apply(self, args)`. */
export function invoke(method: unknown, self: unknown, ...args: unknown[]): unknown {
  if (typeof method !== 'function') throw new TypeErrorClass('not a function');
  return apply(method, self, args);
}
