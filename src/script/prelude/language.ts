/*
 * Where the engine's language is not that of Node. The positions that it reports are in source/error-place.ts.
 */
import {
  ArrayOf,
  asyncIteratorSymbol,
  construct,
  defineProperty,
  ErrorClass,
  exec,
  floor,
  getPrototypeOf,
  indexOf,
  invoke,
  isInstance,
  isObject,
  iteratorSymbol,
  min,
  NumberOf,
  ObjectOf,
  ownValue,
  RangeErrorClass,
  read,
  SyntaxErrorClass,
  set,
  slice,
  startsWith,
  TypeErrorClass,
  words,
} from './primordials.js';

const MAX_LENGTH = 2 ** 53 - 1;
/** The prototype of the errors that say that a limit of the engine was met: its stack, or its memory. */
const limitErrors = prototypeOf('InternalError');

/** Runs before any script. */
export function completeLanguage(): void {
  if (isObject(limitErrors)) {
    // They are RangeErrors everywhere else, and InternalError is no class of the language.
    Reflect.setPrototypeOf(limitErrors, RangeErrorClass.prototype);
    define(limitErrors, 'constructor', RangeErrorClass);
    define(limitErrors, 'name', 'RangeError');
    Reflect.deleteProperty(globalThis, 'InternalError');
  }
  // The engine gives it to Set as well as to Map.
  Reflect.deleteProperty(Set, 'groupBy');
  define(Array, 'fromAsync', added.fromAsync);
  define(ErrorClass, 'captureStackTrace', added.captureStackTrace);
}

/** Whether the engine threw this because its memory was used up. */
export function isOutOfMemory(error: unknown): boolean {
  if (!isObject(error) || getPrototypeOf(error) !== limitErrors) return false;
  const message = ownValue(error, 'message');
  return typeof message === 'string' && startsWith(message, 'out of memory');
}

const JSON_FAULT = /^\s*at <input>:(\d+):(\d+)\n\s*at parse \(native\)/;

/** Where JSON.parse failed, as an addition to its message; empty for any other error. */
export function placeInJson(error: object, stack: string): string {
  const found = isInstance(SyntaxErrorClass, error) ? exec(JSON_FAULT, stack) : null;
  return found === null ? '' : words` at line ${found[1]}, column ${found[2]} of the JSON text`;
}

/** Methods, so that none of them is a constructor. */
const added = {
  async fromAsync(this: unknown, items: unknown, map: unknown = undefined, thisArg: unknown = undefined) {
    if (map !== undefined && typeof map !== 'function') throw new TypeErrorClass('not a function');
    if (items === undefined || items === null) throw new TypeErrorClass('value is not iterable');
    const isMapped = map !== undefined;
    if (isIterable(items)) {
      const list = listOf(this);
      let length = 0;
      for await (const item of items) {
        setItem(list, length, isMapped ? await invoke(map, thisArg, item, length) : item);
        length += 1;
      }
      return withLength(list, length);
    }
    const source: object = ObjectOf(items);
    const length = lengthOf(source);
    const list = listOf(this, length);
    for (let nth = 0; nth < length; nth += 1) {
      const item = await read(source, nth);
      setItem(list, nth, isMapped ? await invoke(map, thisArg, item, nth) : item);
    }
    return withLength(list, length);
  },

  /** As in V8: the `stack` is data, and the frames down to that of `below` are left out. */
  captureStackTrace(target: unknown, below: unknown = undefined) {
    if (!isObject(target)) throw new TypeErrorClass('not an object');
    const stack = read(new ErrorClass(), 'stack');
    const frames = typeof stack === 'string' ? afterLine(stack, 0) : '';
    const name = typeof below === 'function' ? read(below, 'name') : '';
    const last = typeof name === 'string' && name !== '' ? indexOf(frames, words`    at ${name} (`) : -1;
    define(target, 'stack', last === -1 ? frames : afterLine(frames, last));
  },
};

function define(target: object, key: string, value: unknown): void {
  const member = { __proto__: null, value, writable: true, enumerable: false, configurable: true };
  if (!defineProperty(target, key, member)) throw new TypeErrorClass(words`cannot define property '${key}'`);
}

function prototypeOf(name: string): object | undefined {
  const type = ownValue(globalThis, name);
  const prototype = isObject(type) ? ownValue(type, 'prototype') : undefined;
  return isObject(prototype) ? prototype : undefined;
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  const object: object = ObjectOf(value);
  const iterate = read(object, asyncIteratorSymbol) ?? read(object, iteratorSymbol);
  return iterate !== undefined && iterate !== null;
}

/** An instance of the class that fromAsync was called on; an array if that is no class. */
function listOf(type: unknown, length?: number): object {
  const args = length === undefined ? [] : [length];
  if (typeof type !== 'function') return construct(ArrayOf, args);
  let isClass = true;
  try {
    construct(ObjectOf, [], type);
  } catch {
    isClass = false;
  }
  return construct(isClass ? type : ArrayOf, args);
}

function setItem(list: object, nth: number, value: unknown): void {
  const item = { __proto__: null, value, writable: true, enumerable: true, configurable: true };
  if (!defineProperty(list, nth, item)) throw new TypeErrorClass(words`cannot define item ${nth}`);
}

function withLength(list: object, length: number): object {
  if (!set(list, 'length', length)) throw new TypeErrorClass("cannot set 'length'");
  return list;
}

function lengthOf(value: object): number {
  const length = NumberOf(read(value, 'length'));
  // What is no number has no items.
  return length > 0 ? min(floor(length), MAX_LENGTH) : 0;
}

/** What follows the line in which an offset is. */
function afterLine(text: string, at: number): string {
  const end = indexOf(slice(text, at), '\n');
  return end === -1 ? '' : slice(text, at + end + 1);
}
