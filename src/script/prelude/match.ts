import { plainText } from './json-text.js';
import { type Marker, parseMarker, testMarker } from './match-marker.js';
import {
  append,
  dateText,
  dateValue,
  exec,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  hasOwn,
  includes,
  is,
  isArray,
  isFiniteNumber,
  isObject,
  objectPrototype,
  ownKeys,
  read,
  regExpSource,
  regExpText,
  slice,
  stringify,
  words,
} from './primordials.js';

/**
 * One difference between a value and its expectation. `expected` and `actual` are the values, or a text if they are
 * large.
 */
export interface MatchFailure {
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
  readonly message: string;
}

/** Further differences are not collected. */
const MAX_FAILURES = 100;
const MAX_DEPTH = 200;
/** Characters of two strings shown before and after their first difference. */
const SHOWN_BEFORE = 30;
const SHOWN_AFTER = 60;

/** A member or item that does not exist. */
const ABSENT: unique symbol = Symbol('absent');

interface Comparison {
  readonly failures: MatchFailure[];
  readonly strict: boolean;
  depth: number;
}

/**
 * Compares a value with its expectation and returns every difference; none if it matches.
 *
 * An expected object checks only the members that it lists. An array is checked by length and order. A RegExp is
 * searched for in a string. A string that begins with `#` is a marker, see {@link parseMarker}.
 */
export function matchFailures(actual: unknown, expected: unknown): MatchFailure[] {
  const comparison: Comparison = { failures: [], strict: false, depth: 0 };
  compare(actual, expected, '$', comparison);
  return comparison.failures;
}

/** Strict deep equality: all members on both sides, no markers. */
export function equalFailures(actual: unknown, expected: unknown): MatchFailure[] {
  const comparison: Comparison = { failures: [], strict: true, depth: 0 };
  compare(actual, expected, '$', comparison);
  return comparison.failures;
}

/**
 * A string must contain a text; an array must contain, in any order, an item that matches the expected one (or each of
 * several in an array); an object must have the listed members.
 */
export function containsFailures(actual: unknown, expected: unknown): MatchFailure[] {
  const comparison: Comparison = { failures: [], strict: false, depth: 0 };
  if (typeof actual === 'string' && typeof expected === 'string' && parseMarker(expected) === null) {
    if (!includes(actual, expected)) {
      fail(comparison, '$', expected, actual, words`does not contain ${show(expected)}, it is ${show(actual)}`);
    }
  } else if (isArray(actual)) {
    const wanted: unknown[] = isArray(expected) ? expected : [expected];
    for (let i = 0; i < wanted.length; i += 1) {
      if (!hasItem(actual, wanted[i])) {
        fail(comparison, '$', wanted[i], actual, words`has no item that matches ${show(wanted[i])}`);
      }
    }
  } else {
    compare(actual, expected, '$', comparison);
  }
  return comparison.failures;
}

/** Every item of an array must match. */
export function eachFailures(actual: unknown, expected: unknown): MatchFailure[] {
  const comparison: Comparison = { failures: [], strict: false, depth: 0 };
  if (!isArray(actual)) fail(comparison, '$', '#array', actual, 'is not an array');
  else for (let i = 0; i < actual.length; i += 1) compare(actual[i], expected, words`$[${i}]`, comparison);
  return comparison.failures;
}

function hasItem(list: readonly unknown[], expected: unknown): boolean {
  for (let i = 0; i < list.length; i += 1) {
    if (matchFailures(list[i], expected).length === 0) return true;
  }
  return false;
}

function compare(actual: unknown, expected: unknown, path: string, comparison: Comparison): void {
  if (comparison.failures.length >= MAX_FAILURES) return;
  const marker = !comparison.strict && typeof expected === 'string' ? parseMarker(expected) : null;
  if (marker !== null) {
    compareMarker(actual, expected, marker, path, comparison);
  } else if (actual === ABSENT) {
    if (expected !== undefined || comparison.strict) {
      fail(comparison, path, expected, actual, words`is missing, expected ${show(expected)}`);
    }
  } else if (!isObject(expected) || typeof expected === 'function') {
    if (!same(actual, expected)) {
      fail(comparison, path, expected, actual, difference(expected, actual));
    }
  } else if (comparison.depth >= MAX_DEPTH) {
    fail(comparison, path, '', '', words`is nested more than ${MAX_DEPTH} levels deep`);
  } else {
    comparison.depth += 1;
    compareObject(actual, expected, path, comparison);
    comparison.depth -= 1;
  }
}

function compareObject(actual: unknown, expected: object, path: string, comparison: Comparison): void {
  if (same(actual, expected)) return;
  const special = specialText(expected);
  if (special !== null) {
    const isRegExp = special.kind === 'regexp' && typeof actual === 'string' && !comparison.strict;
    const ok = isRegExp
      ? exec(special.value, actual) !== null
      : isObject(actual) && sameSpecial(specialText(actual), special);
    if (!ok) fail(comparison, path, special.text, actual, words`expected ${special.text}, got ${show(actual)}`);
  } else if (isArray(expected)) {
    compareArray(actual, expected, path, comparison);
  } else if (!isObject(actual) || isArray(actual) || specialText(actual) !== null) {
    fail(comparison, path, expected, actual, words`expected an object, got ${show(actual)}`);
  } else {
    compareMembers(actual, expected, path, comparison);
  }
}

function compareArray(actual: unknown, expected: readonly unknown[], path: string, comparison: Comparison): void {
  if (!isArray(actual)) {
    fail(comparison, path, expected, actual, words`expected an array, got ${show(actual)}`);
    return;
  }
  if (actual.length !== expected.length) {
    const message = words`expected ${items(expected.length)}, got ${items(actual.length)}`;
    fail(comparison, path, expected, actual, message);
  }
  for (let i = 0; i < expected.length && i < actual.length; i += 1) {
    compare(actual[i], expected[i], words`${path}[${i}]`, comparison);
  }
}

function compareMembers(actual: object, expected: object, path: string, comparison: Comparison): void {
  const keys = members(expected);
  for (let i = 0; i < keys.length; i += 1) {
    const key = keys[i];
    if (key !== undefined) compare(member(actual, key), read(expected, key), memberPath(path, key), comparison);
  }
  if (!comparison.strict) return;
  const others = members(actual);
  for (let i = 0; i < others.length; i += 1) {
    const key = others[i];
    if (key === undefined || hasOwn(expected, key)) continue;
    fail(comparison, memberPath(path, key), '(absent)', read(actual, key), 'is present, but not expected');
  }
}

function compareMarker(actual: unknown, expected: unknown, marker: Marker, path: string, comparison: Comparison): void {
  const value = actual === ABSENT ? undefined : actual;
  const verdict = testMarker(marker, value, actual !== ABSENT && actual !== undefined);
  if (verdict !== null) {
    fail(
      comparison,
      path,
      expected,
      actual,
      verdict === '' ? words`expected ${marker.expects ?? marker.text}, got ${show(actual)}` : verdict,
    );
  } else if (marker.each !== null && isArray(value)) {
    for (let i = 0; i < value.length; i += 1) {
      compareMarker(value[i], marker.each.text, marker.each, words`${path}[${i}]`, comparison);
    }
  }
}

function same(a: unknown, b: unknown): boolean {
  return a === b || is(a, b);
}

interface Special {
  readonly kind: 'date' | 'regexp';
  readonly text: string;
  readonly value: object;
}

const NEVER = /(?!)/;

/**
 * A Date or RegExp. `instanceof` would use what a script may have replaced; these functions throw for any other object.
 */
function specialText(value: object): Special | null {
  if (typeof value === 'function' || isArray(value) || getPrototypeOf(value) === objectPrototype) return null;
  try {
    const time = dateValue(value);
    return { kind: 'date', text: isFiniteNumber(time) ? dateText(value) : 'Invalid Date', value: NEVER };
  } catch {
    // Not a Date.
  }
  try {
    regExpSource(value);
    return { kind: 'regexp', text: regExpText(value), value };
  } catch {
    return null;
  }
}

function sameSpecial(a: Special | null, b: Special): boolean {
  return a !== null && a.kind === b.kind && a.text === b.text;
}

function members(value: object): string[] {
  const keys = ownKeys(value);
  const found: string[] = [];
  for (let i = 0; i < keys.length; i += 1) {
    const key = keys[i];
    if (typeof key === 'string' && getOwnPropertyDescriptor(value, key)?.enumerable === true) append(found, key);
  }
  return found;
}

/** Includes members from a class, but not those that every object inherits or that a script added to the prototypes. */
function member(value: object, key: string): unknown {
  if (hasOwn(value, key)) return read(value, key);
  const inherited = hasOwn(objectPrototype, key) ? undefined : read(value, key);
  return inherited === undefined ? ABSENT : inherited;
}

const PLAIN_NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

function memberPath(path: string, key: string): string {
  return exec(PLAIN_NAME, key) === null ? words`${path}[${stringify(key)}]` : words`${path}.${key}`;
}

function fail(comparison: Comparison, path: string, expected: unknown, actual: unknown, message: string): void {
  const failure = { path, expected: recorded(expected), actual: recorded(actual), message: words`${path} ${message}` };
  if (comparison.failures.length < MAX_FAILURES) append(comparison.failures, failure);
}

/** A value for the details of an error: itself if it is small, else the beginning of its text. */
function recorded(value: unknown): unknown {
  if (value === ABSENT || value === undefined) return '(absent)';
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number') return isFiniteNumber(value) ? value : words`${value}`;
  const text = plainText(value);
  return text.length > 500 ? words`${slice(text, 0, 500)}...` : text;
}

function show(value: unknown): string {
  if (value === ABSENT || value === undefined) return 'nothing';
  const text = typeof value === 'string' ? stringify(value) : plainText(value);
  return text.length > 120 ? words`${slice(text, 0, 120)}...` : text;
}

/** For long texts with a common beginning, the first difference. */
function difference(expected: unknown, actual: unknown): string {
  if (typeof expected === 'string' && typeof actual === 'string') {
    let at = 0;
    while (at < expected.length && expected[at] === actual[at]) at += 1;
    if (at > SHOWN_BEFORE) {
      return words`differs at character ${at + 1}: expected ${from(expected, at)}, got ${from(actual, at)}`;
    }
  }
  return words`expected ${show(expected)}, got ${show(actual)}`;
}

function from(text: string, at: number): string {
  const end = at + SHOWN_AFTER;
  return words`...${stringify(slice(text, at - SHOWN_BEFORE, end))}${end < text.length ? '...' : ''}`;
}

function items(count: number): string {
  return count === 1 ? '1 item' : words`${count} items`;
}
