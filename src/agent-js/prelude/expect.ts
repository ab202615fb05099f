import type { Engine, Host } from '../../script/prelude/engine.js';
import { plainText } from '../../script/prelude/json-text.js';
import {
  append,
  exec,
  getPrototypeOf,
  invoke,
  isObject,
  read,
  regExpSource,
  regExpText,
  slice,
  stringify,
  TextOf,
  words,
} from '../../script/prelude/primordials.js';
import { MATCHER_NAMES, type Matcher } from '../checks/matcher-names.js';
import { withKnownMembers } from './members.js';

// As the language made them: a script may replace them later.
const { set } = Reflect;
const { freeze } = Object;
const referenceErrors: object = ReferenceError.prototype;
const syntaxErrors: object = SyntaxError.prototype;
const TypeErrorClass = TypeError;

/** The longest text of a function or a value that is sent for reports. */
const MAX_TEXT = 4_000;
/** What the page may still come to: `agent.until` calls its function again after these errors. */
const PASSING = [
  'LOCATOR_NOT_FOUND',
  'LOCATOR_AMBIGUOUS',
  'LOCATOR_STALE',
  'ACTION_FAILED',
  'WAIT_TIMEOUT',
  'MATCH_FAILED',
];

/**
 * `agent.expect` as scripts see it. The service waits and compares; a regular expression is tested here, where it can be
 * interrupted.
 *
 * @param isAgent whether a value is `agent` itself, which stands for the page
 */
export function expectOf(
  host: Host,
  engine: Engine,
  isAgent: (value: unknown) => boolean,
): (target: unknown) => object {
  const run = (locator: unknown, matcher: Matcher, not: boolean, values: unknown[]): void => {
    const at = matcher === 'toHaveAttribute' ? 1 : 0;
    const pattern = values[at];
    if (!isRegExp(pattern)) {
      host('expect', locator, matcher, { not, values });
      return;
    }
    const sent: unknown[] = [];
    for (let i = 0; i < values.length; i += 1) append(sent, i === at ? regExpText(pattern) : values[i]);
    const given = { not, values: sent, pattern: true };
    let order = host('expect', locator, matcher, given);
    for (;;) {
      const text = memberOf(order, 'text');
      if (typeof text !== 'string') return;
      // A pattern with the flag g or y would begin where it ended last.
      set(pattern, 'lastIndex', 0);
      const ok = (exec(pattern, text) !== null) !== not;
      order = host('expect', locator, matcher, given, { token: memberOf(order, 'token'), ok });
    }
  };
  const matchersOf = (locator: unknown, not: boolean, made: () => void): { [name: string]: unknown } => {
    const matchers: { [name: string]: unknown } = {};
    for (let i = 0; i < MATCHER_NAMES.length; i += 1) {
      const matcher = MATCHER_NAMES[i];
      if (matcher === undefined) continue;
      matchers[matcher] = freeze((...values: unknown[]): void => {
        made();
        run(locator, matcher, not, values);
      });
    }
    return matchers;
  };
  return (target) => {
    const locator = target === undefined || isAgent(target) ? null : target;
    if (locator === null && target === null)
      throw new TypeErrorClass('agent.expect takes a locator, or agent for the page');
    const subject = typeof locator === 'string' ? stringify(locator) : 'agent';
    const made = engine.owe(
      words`agent.expect(${subject}) alone checks nothing: add a matcher, as in agent.expect(${subject}).toHaveText('...')`,
    );
    const matchers = matchersOf(locator, false, made);
    matchers.not = withKnownMembers('agent.expect(...).not', freeze(matchersOf(locator, true, made)));
    return withKnownMembers('agent.expect(...)', freeze(matchers));
  };
}

/** `agent.until`: calls a function until it returns something true, and returns that. */
export function untilOf(host: Host, engine: Engine): (body: unknown, options: unknown) => unknown {
  return (body, options) => {
    if (typeof body !== 'function') throw new TypeErrorClass('agent.until takes a function: agent.until(() => ...)');
    const source = slice(TextOf(body), 0, MAX_TEXT);
    let order = host('until', source, options);
    for (;;) {
      let value: unknown;
      let shown = '';
      try {
        value = engine.settle(invoke(body, undefined));
        if (!value) shown = value === undefined ? 'undefined' : plainText(value);
      } catch (error) {
        if (!mayPass(error)) throw error;
        value = undefined;
        shown = plainText(error);
      }
      const ok = Boolean(value);
      order = host('until', source, options, { token: memberOf(order, 'token'), ok, value: slice(shown, 0, MAX_TEXT) });
      if (ok) return value;
    }
  };
}

/** An error of the page passes, or of a value that is not there yet; a mistake in the script does not. */
function mayPass(error: unknown): boolean {
  if (!isObject(error)) return true;
  const code = memberOf(error, 'code');
  if (typeof code === 'string') {
    for (let i = 0; i < PASSING.length; i += 1) if (PASSING[i] === code) return true;
    return false;
  }
  const prototype = getPrototypeOf(error);
  return prototype !== referenceErrors && prototype !== syntaxErrors;
}

function isRegExp(value: unknown): value is object {
  if (!isObject(value)) return false;
  try {
    return typeof regExpSource(value) === 'string';
  } catch {
    return false;
  }
}

function memberOf(value: unknown, key: string): unknown {
  return isObject(value) ? read(value, key) : undefined;
}
