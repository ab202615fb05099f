import {
  arrayPrototype,
  builtInPrototypes,
  datesAreChanged,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  hasOwn,
  heldToJson,
  invoke,
  isArray,
  isFiniteNumber,
  isNative,
  isObject,
  keysOf,
  objectPrototype,
  ownValue,
  RangeErrorClass,
  read,
  Seen,
  slice,
  stringify,
  TextOf,
  unboxed,
  words,
} from './primordials.js';

/** Deeper values are rejected. */
const MAX_DEPTH = 500;

/**
 * A value as JSON text; undefined for what JSON omits (undefined, functions, symbols). Cycles become the text
 * "[Circular]", BigInt and Date strings, NaN and the infinities null. The `toJSON` of an object or of its class is used, as
 * are those of the platform, whatever a script put in their place; one that a script added to a built-in prototype is for
 * that script's values only. A getter or trap that throws gives "[Throws ...]" in its place.
 *
 * @param textFor the text for an object that is not to be written member by member; null for all others
 * @throws RangeError for text over `maxLength` units or values nested deeper than 500 levels.
 */
export function jsonText(
  value: unknown,
  maxLength: number,
  textFor?: (value: object) => string | null,
): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return writePlain(value);
  if (isLongArray(value, maxLength)) throw tooLong(maxLength);
  const progress = { ancestors: new Seen(), depth: 0, maxLength, textFor };
  let text: string | undefined;
  if (textFor !== undefined || builtInsAreChanged() || arraysAreWatched()) text = write(value, '', progress);
  else {
    try {
      text = stringify(value);
    } catch {
      // A cycle, a BigInt or a getter that throws: the code below handles them all, at a fifth of the speed.
      text = write(value, '', progress);
    }
  }
  if (text !== undefined && text.length > maxLength) throw tooLong(maxLength);
  return text;
}

/** The built-in cannot be interrupted while it writes, for example, `new Array(1e9)`. */
function isLongArray(value: unknown, maxLength: number): boolean {
  try {
    return isArray(value) && value.length * 2 > maxLength;
  } catch {
    return false;
  }
}

function builtInsAreChanged(): boolean {
  for (let i = 0; i < builtInPrototypes.length; i += 1) {
    const prototype = builtInPrototypes[i];
    if (prototype !== undefined && hasOwn(prototype, 'toJSON')) return true;
  }
  return datesAreChanged();
}

/** The built-in appends to an array, where a script's setter or another prototype would see internal values. */
function arraysAreWatched(): boolean {
  return (
    hasOwn(arrayPrototype, '0') || hasOwn(objectPrototype, '0') || getPrototypeOf(arrayPrototype) !== objectPrototype
  );
}

interface Progress {
  readonly ancestors: Seen;
  readonly maxLength: number;
  readonly textFor: ((value: object) => string | null) | undefined;
  depth: number;
}

function write(value: unknown, key: string | number, progress: Progress): string | undefined {
  if (!isObject(value)) return writePlain(value);
  return typeof value === 'function' ? undefined : writeObject(value, key, progress);
}

function writePlain(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return stringify(value);
    case 'number':
      return isFiniteNumber(value) ? TextOf(value) : 'null';
    case 'boolean':
      return value ? 'true' : 'false';
    case 'bigint':
      return words`"${TextOf(value)}"`;
    case 'object':
      return 'null';
    default:
      return undefined;
  }
}

function writeObject(value: object, key: string | number, progress: Progress): string | undefined {
  if (progress.ancestors.has(value)) return '"[Circular]"';
  if (progress.depth >= MAX_DEPTH)
    throw new RangeErrorClass(words`The value is nested more than ${MAX_DEPTH} levels deep`);
  progress.ancestors.add(value);
  progress.depth += 1;
  try {
    let written: { readonly value: unknown } | null;
    let asArray = false;
    try {
      written = standInFor(value, key, progress);
      if (written === null) asArray = isArray(value);
    } catch (error) {
      return throws(error);
    }
    if (written !== null) return write(written.value, key, progress);
    return asArray ? writeArray(value, progress) : writeMembers(value, progress);
  } finally {
    progress.depth -= 1;
    progress.ancestors.delete(value);
  }
}

/** What is written in place of an object: the result of its toJSON, a text for it, or the primitive value that it boxes. */
function standInFor(value: object, key: string | number, { textFor }: Progress): { readonly value: unknown } | null {
  const toJson = attempt(() => toJsonOf(value));
  if (!toJson.failed && typeof toJson.value === 'function') return { value: invoke(toJson.value, value, TextOf(key)) };
  const text = textFor?.(value) ?? null;
  if (text !== null) return { value: text };
  if (toJson.failed) throw toJson.value;
  const prototype = getPrototypeOf(value);
  for (let i = 0; i < unboxed.length; i += 1) {
    const boxes = unboxed[i];
    if (boxes === undefined || boxes[0] !== prototype) continue;
    const plain = attempt(() => boxes[1](value));
    if (!plain.failed) return { value: plain.value };
  }
  return null;
}

/** The toJSON that counts for an object: its own, that of its class, or the platform's. */
function toJsonOf(value: object): unknown {
  let isChanged = false;
  for (let at: object | null = value; at !== null; at = getPrototypeOf(at)) {
    const held = at === value ? undefined : heldToJson(at);
    if (held !== undefined) return held;
    const own = getOwnPropertyDescriptor(at, 'toJSON');
    if (own === undefined) continue;
    const isData = hasOwn(own, 'value');
    if (!isPlatforms(at)) return isData ? own.value : invoke(own.get, value);
    if (isData && isNative(own.value)) return own.value;
    isChanged = true;
  }
  // A proxy may have one without showing it.
  return isChanged ? undefined : read(value, 'toJSON');
}

/** Whether an object is a prototype that no script has made. */
function isPlatforms(prototype: object): boolean {
  for (let i = 0; i < builtInPrototypes.length; i += 1) if (builtInPrototypes[i] === prototype) return true;
  const type = ownValue(prototype, 'constructor');
  return isObject(type) && isNative(type) && ownValue(type, 'prototype') === prototype;
}

function writeArray(value: object, progress: Progress): string {
  const length = attempt(() => read(value, 'length'));
  let text = '[';
  const count = typeof length.value === 'number' ? length.value : 0;
  for (let i = 0; i < count; i += 1) {
    const item = attempt(() => read(value, i));
    const itemText = item.failed ? throws(item.value) : (write(item.value, i, progress) ?? 'null');
    text += i === 0 ? itemText : words`,${itemText}`;
    if (text.length > progress.maxLength) throw tooLong(progress.maxLength);
  }
  return words`${text}]`;
}

function writeMembers(value: object, progress: Progress): string {
  const keys = attempt(() => keysOf(value));
  if (keys.failed || !isArray(keys.value)) return throws(keys.value);
  let text = '{';
  for (let i = 0; i < keys.value.length; i += 1) {
    const key: unknown = keys.value[i];
    if (typeof key !== 'string') continue;
    const member = attempt(() => read(value, key));
    const memberText = member.failed ? throws(member.value) : write(member.value, key, progress);
    if (memberText === undefined) continue;
    text += words`${text === '{' ? '' : ','}${stringify(key)}:${memberText}`;
    if (text.length > progress.maxLength) throw tooLong(progress.maxLength);
  }
  return words`${text}}`;
}

/** Runs code of the script that may throw. Its own RangeErrors (stack overflow) are treated like any other. */
function attempt(code: () => unknown): { failed: boolean; value: unknown } {
  try {
    return { failed: false, value: code() };
  } catch (error) {
    return { failed: true, value: error };
  }
}

function throws(error: unknown): string {
  return stringify(words`[Throws ${slice(plainText(error), 0, 200)}]`);
}

/** A short text of any value, for messages. Never throws, and always returns by itself. */
export function plainText(value: unknown): string {
  try {
    if (typeof value === 'string') return value;
    if (typeof value === 'symbol') return TextOf(value);
    if (typeof value === 'function') return '[Function]';
    if (!isObject(value)) return words`${value}`;
    const message = read(value, 'message');
    if (typeof message === 'string') {
      const name = read(value, 'name');
      if (typeof name !== 'string' || name === '') return message;
      return message === '' ? name : words`${name}: ${message}`;
    }
    return jsonText(value, 100_000) ?? 'undefined';
  } catch {
    return '[unreadable]';
  }
}

function tooLong(maxLength: number): Error {
  return new RangeErrorClass(words`The JSON text of the value is longer than ${maxLength} characters`);
}
