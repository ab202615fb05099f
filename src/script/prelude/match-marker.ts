import { plainText } from './json-text.js';
import {
  exec,
  FunctionClass,
  hasOwn,
  invoke,
  is,
  isArray,
  NumberOf,
  RegExpClass,
  slice,
  startsWith,
  TypeErrorClass,
  trim,
  words,
} from './primordials.js';

/** A parsed marker string. */
export interface Marker {
  /** As written, for messages. */
  readonly text: string;
  /** What it asks for, for messages; its text if absent. */
  readonly expects?: string;
  /** `##`: absent and null are accepted too. */
  readonly optional: boolean;
  /** Returns null if the value passes; else the reason, `''` for the plain "expected marker, got value". */
  readonly test: (value: unknown, present: boolean) => string | null;
  /** The marker for each item of the array. */
  readonly each: Marker | null;
}

type Test = Marker['test'];

const when = (test: (value: unknown) => boolean): Test => {
  return (value, present) => (present && test(value) ? null : '');
};

const notANumber = Number.NaN;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const NAMED: { readonly [name: string]: Test } = {
  string: when((value) => typeof value === 'string'),
  number: when((value) => typeof value === 'number' && !is(value, notANumber)),
  boolean: when((value) => typeof value === 'boolean'),
  array: when((value) => isArray(value)),
  object: when((value) => typeof value === 'object' && value !== null && !isArray(value)),
  null: when((value) => value === null),
  notnull: when((value) => value !== null),
  present: when(() => true),
  notpresent: (_value, present) => (present ? '' : null),
  ignore: () => null,
  uuid: when((value) => typeof value === 'string' && exec(UUID, value) !== null),
};

const NAME = /^#([a-z]+)\s*(?:\?(.*))?$/s;
const KNOWN =
  '#string #number #boolean #array #object #null #notnull #present #notpresent #ignore #uuid #regex RE #? EXPR #[N]';

/**
 * The marker of a string, or null for a string that does not begin with `#`:
 *
 * - `#string #number #boolean #array #object #null #uuid`: of that kind; `#notnull`: anything but null; `#present
 *   #notpresent`: the member exists, or does not; `#ignore`: anything, or nothing
 * - `#regex RE`: a string that the whole expression matches
 * - `#? EXPR`: the expression is true, with `_` as the value; also after a name: `#number? _ > 3`
 * - `#[]` an array, `#[3]` of three items, `#[_ > 2]` by its length; then, for each item, a marker: `#[] #string`
 * - `##` instead of `#`: null and absence are accepted too
 * - `#= TEXT`: exactly TEXT, for a text that itself begins with `#`
 *
 * @throws TypeError for a string that begins with `#` and is not a marker: it would otherwise fail without a visible
 *   reason.
 */
export function parseMarker(text: string): Marker | null {
  if (!startsWith(text, '#')) return null;
  const optional = startsWith(text, '##');
  const body = optional ? slice(text, 1) : text;
  if (startsWith(body, '#= ')) {
    const literal = slice(body, 3);
    return { text, optional, each: null, test: when((value) => value === literal) };
  }
  if (startsWith(body, '#regex ')) {
    const pattern = wholePattern(slice(body, 7), text);
    const test = when((value) => typeof value === 'string' && exec(pattern, value) !== null);
    return { text, expects: words`the whole text to match ${text}`, optional, each: null, test };
  }
  if (startsWith(body, '#?')) {
    return { text, optional, each: null, test: expression(slice(body, 2), text) };
  }
  if (startsWith(body, '#[')) return arrayMarker(body, text, optional);
  const parts = exec(NAME, body);
  const name = parts?.[1];
  const named = name !== undefined && hasOwn(NAMED, name) ? NAMED[name] : undefined;
  if (named === undefined) throw new TypeErrorClass(unknown(text));
  const condition = parts?.[2] === undefined ? null : expression(parts[2], text);
  if (condition === null) return { text, optional, each: null, test: named };
  return { text, optional, each: null, test: (value, present) => named(value, present) ?? condition(value, present) };
}

/** Null if the value passes, else the reason (see {@link Marker.test}). */
export function testMarker(marker: Marker, value: unknown, present: boolean): string | null {
  if (marker.optional && (!present || value === null)) return null;
  return marker.test(value, present);
}

function arrayMarker(body: string, text: string, optional: boolean): Marker {
  let depth = 0;
  let end = -1;
  for (let i = 1; i < body.length && end === -1; i += 1) {
    if (body[i] === '[') depth += 1;
    if (body[i] === ']') depth -= 1;
    if (depth === 0) end = i;
  }
  if (end === -1) throw new TypeErrorClass(unknown(text));
  const count = trim(slice(body, 2, end));
  const rest = trim(slice(body, end + 1));
  const each = rest === '' ? null : parseMarker(startsWith(rest, '?') ? words`#${rest}` : rest);
  if (rest !== '' && each === null) throw new TypeErrorClass(unknown(text));
  const ofLength = lengthTest(count, text);
  return {
    text,
    optional,
    each,
    test: (value, present) => (present && isArray(value) ? ofLength(value.length, true) : ''),
  };
}

function lengthTest(count: string, text: string): Test {
  if (count === '') return () => null;
  if (exec(/^\d+$/, count) === null) return expression(count, text);
  const wanted = NumberOf(count);
  return (length) => (length === wanted ? null : words`should have ${wanted} items and has ${plainText(length)}`);
}

/** The last compiled expression: all items of a long array have the same marker. */
let compiled: { readonly source: string; readonly test: Test } | null = null;

function expression(source: string, text: string): Test {
  if (compiled?.source === source) return compiled.test;
  let condition: unknown;
  try {
    condition = new FunctionClass('_', words`return (${source}\n)`);
  } catch (error) {
    throw new TypeErrorClass(words`The marker ${text} has no valid expression: ${plainText(error)}`);
  }
  const test: Test = (value) => {
    try {
      return invoke(condition, undefined, value)
        ? null
        : words`is ${brief(value)}, for which (${trim(source)}) is not true`;
    } catch (error) {
      return words`is ${brief(value)}, for which (${trim(source)}) throws ${plainText(error)}`;
    }
  };
  compiled = { source, test };
  return test;
}

function brief(value: unknown): string {
  const text = value === undefined ? 'nothing' : plainText(value);
  return text.length > 120 ? words`${slice(text, 0, 120)}...` : text;
}

function wholePattern(source: string, text: string): RegExp {
  try {
    return new RegExpClass(words`^(?:${trim(source)})$`, 'u');
  } catch {
    try {
      // Without the u flag, for patterns with escapes that it does not allow.
      return new RegExpClass(words`^(?:${trim(source)})$`);
    } catch (error) {
      throw new TypeErrorClass(words`The marker ${text} has no valid regular expression: ${plainText(error)}`);
    }
  }
}

function unknown(text: string): string {
  return words`${text} is not a marker; use one of ${KNOWN}, each also with ## for optional. For the text itself write "#= ${text}"`;
}
