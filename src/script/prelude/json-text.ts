import {
  arrayPrototype,
  builtInPrototypes,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  hasOwn,
  invoke,
  isArray,
  isFiniteNumber,
  isObject,
  objectPrototype,
  ownKeys,
  RangeErrorClass,
  read,
  Seen,
  slice,
  stringify,
  TextOf,
  words,
} from './primordials.js';

/** Deeper values are rejected. */
const MAX_DEPTH = 500;

/**
 * A value as JSON text; undefined for what JSON omits (undefined, functions, symbols). Cycles become the text
 * "[Circular]", BigInt and Date strings, NaN and the infinities null. `toJSON` is used, and a getter or trap that
 * throws gives "[Throws ...]" in its place.
 *
 * @throws RangeError for text over `maxLength` units or values nested deeper than 500 levels.
 */
export function jsonText(value: unknown, maxLength: number): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return writePlain(value);
  if (isLongArray(value, maxLength)) throw tooLong(maxLength);
  if (!builtInsHaveToJson() && !arraysAreWatched()) {
    let text: string | undefined;
    try {
      text = stringify(value);
    } catch {
      // A cycle, a BigInt or a getter that throws: the code below handles them all, at a fifth of the speed.
      return write(value, { ancestors: new Seen(), depth: 0, length: 0, maxLength });
    }
    if (text !== undefined && text.length > maxLength) throw tooLong(maxLength);
    return text;
  }
  return write(value, { ancestors: new Seen(), depth: 0, length: 0, maxLength });
}

/** The built-in cannot be interrupted while it writes, for example, `new Array(1e9)`. */
function isLongArray(value: unknown, maxLength: number): boolean {
  try {
    return isArray(value) && value.length * 2 > maxLength;
  } catch {
    return false;
  }
}

/** A toJSON that a script put on a built-in prototype is for the script's values only. */
function builtInsHaveToJson(): boolean {
  for (let i = 0; i < builtInPrototypes.length; i += 1) {
    const prototype = builtInPrototypes[i];
    if (prototype !== undefined && hasOwn(prototype, 'toJSON')) return true;
  }
  return false;
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
  depth: number;
  length: number;
}

function write(value: unknown, progress: Progress): string | undefined {
  const text = isObject(value) && typeof value !== 'function' ? writeObject(value, progress) : writePlain(value);
  progress.length += text === undefined ? 0 : text.length;
  // Nested text is counted once per level, so deep data is rejected a little early and never late.
  if (progress.length > progress.maxLength * 4) throw tooLong(progress.maxLength);
  if (progress.depth === 0 && text !== undefined && text.length > progress.maxLength) throw tooLong(progress.maxLength);
  return text;
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

function writeObject(value: object, progress: Progress): string | undefined {
  if (progress.ancestors.has(value)) return '"[Circular]"';
  if (progress.depth >= MAX_DEPTH)
    throw new RangeErrorClass(words`The value is nested more than ${MAX_DEPTH} levels deep`);
  progress.ancestors.add(value);
  progress.depth += 1;
  try {
    let replaced: { value: unknown } | null;
    let asArray: boolean;
    try {
      replaced = ownToJson(value);
      asArray = isArray(value);
    } catch (error) {
      return throws(error);
    }
    if (replaced !== null) return write(replaced.value, progress);
    return asArray ? writeArray(value, progress) : writeMembers(value, progress);
  } finally {
    progress.depth -= 1;
    progress.ancestors.delete(value);
  }
}

/** The result of the value's own toJSON; one that a script put on a built-in prototype does not count. */
function ownToJson(value: object): { value: unknown } | null {
  const toJson = read(value, 'toJSON');
  if (typeof toJson !== 'function') return null;
  for (let i = 0; i < builtInPrototypes.length; i += 1) {
    const prototype = builtInPrototypes[i];
    if (prototype !== undefined && getOwnPropertyDescriptor(prototype, 'toJSON')?.value === toJson) return null;
  }
  return { value: invoke(toJson, value) };
}

function writeArray(value: object, progress: Progress): string {
  const length = attempt(() => read(value, 'length'));
  let text = '[';
  const count = typeof length.value === 'number' ? length.value : 0;
  for (let i = 0; i < count; i += 1) {
    const item = attempt(() => read(value, i));
    const itemText = item.failed ? throws(item.value) : (write(item.value, progress) ?? 'null');
    text += i === 0 ? itemText : words`,${itemText}`;
    if (text.length > progress.maxLength) throw tooLong(progress.maxLength);
  }
  return words`${text}]`;
}

function writeMembers(value: object, progress: Progress): string {
  const keys = attempt(() => ownKeys(value));
  if (keys.failed || !isArray(keys.value)) return throws(keys.value);
  let text = '{';
  for (let i = 0; i < keys.value.length; i += 1) {
    const key: unknown = keys.value[i];
    if (typeof key !== 'string') continue;
    const member = attempt(() => (getOwnPropertyDescriptor(value, key)?.enumerable ? read(value, key) : undefined));
    const memberText = member.failed ? throws(member.value) : write(member.value, progress);
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
