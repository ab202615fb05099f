import type { Engine } from '../../script/prelude/engine.js';
import {
  append,
  dateText,
  dateValue,
  getOwnPropertyDescriptor,
  isArray,
  isFiniteNumber,
  isObject,
  makeNotes,
  ownKeys,
  read,
  regExpSource,
  TextOf,
  words,
} from '../../script/prelude/primordials.js';
import type { Link, Wire } from '../wire.js';

/** What an object of Playwright's stands for in the sandbox. */
export interface Standing {
  readonly root: string;
  readonly links: readonly Link[];
  /** Its class. */
  readonly of: string;
}

export interface Matching {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly not: boolean;
}

export const standings = makeNotes((value): value is Standing => isObject(value));
export const matchings = makeNotes((value): value is Matching => isObject(value));

const MAX_DEPTH = 50;

/** A value of a script as data. @throws SCRIPT_ERROR if it contains itself */
export function encode(value: unknown, engine: Engine, depth = 0): Wire {
  if (depth > MAX_DEPTH) return engine.fail('SCRIPT_ERROR', 'An argument is nested too deeply, or contains itself');
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (value === undefined || typeof value === 'symbol') return ['u'];
  if (typeof value === 'number') return isFiniteNumber(value) ? value : ['n', TextOf(value)];
  if (typeof value === 'bigint') return ['b', TextOf(value)];
  if (!isObject(value)) return ['u'];
  const standing = standings.get(value);
  if (standing !== undefined) return ['c', standing.root, standing.links];
  const matching = matchings.get(value);
  if (matching !== undefined) return ['x', matching.name, encodeAll(matching.args, engine, depth + 1), matching.not];
  if (typeof value === 'function') return ['f', TextOf(value)];
  if (isArray(value)) return ['a', encodeAll(value, engine, depth + 1)];
  const pattern = patternOf(value);
  if (pattern !== null) return pattern;
  const date = dateOf(value);
  if (date !== null) return ['d', date];
  const members: (readonly [string, Wire])[] = [];
  const keys = ownKeys(value);
  for (let i = 0; i < keys.length; i += 1) {
    const key = keys[i];
    if (typeof key !== 'string' || getOwnPropertyDescriptor(value, key)?.enumerable !== true) continue;
    append(members, [key, encode(read(value, key), engine, depth + 1)]);
  }
  return ['o', members];
}

export function encodeAll(values: readonly unknown[], engine: Engine, depth = 0): readonly Wire[] {
  const all: Wire[] = [];
  for (let i = 0; i < values.length; i += 1) append(all, encode(values[i], engine, depth));
  return all;
}

function patternOf(value: object): Wire | null {
  try {
    return ['r', regExpSource(value), words`${read(value, 'flags')}`];
  } catch {
    return null;
  }
}

function dateOf(value: object): string | null {
  try {
    dateValue(value);
  } catch {
    return null;
  }
  return dateText(value);
}
