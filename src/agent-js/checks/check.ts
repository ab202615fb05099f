import type { ObserveRequest } from '../../page/page-calls.js';
import { isPlain, membersOf, misuse, shown, textOf, timeoutOf } from '../call-arguments.js';
import { MATCHER_NAMES, type Matcher } from './matcher-names.js';

/** What a matcher compares: nothing but the state itself, a text, a text or number, a number, an attribute, an address. */
type Takes = 'nothing' | 'text' | 'value' | 'count' | 'attribute' | 'url';

interface MatcherSpec {
  readonly what: ObserveRequest['what'] | 'url';
  readonly takes: Takes;
  /** Completes "should ...". */
  readonly words: string;
  /** What it is about: an element, the page, or either. */
  readonly about: 'element' | 'page' | 'both';
}

/** What each matcher reads and compares. */
export const MATCHERS = {
  toHaveText: { what: 'text', takes: 'text', words: 'have the text', about: 'both' },
  toContainText: { what: 'text', takes: 'text', words: 'contain the text', about: 'both' },
  toBeVisible: { what: 'visible', takes: 'nothing', words: 'be visible', about: 'element' },
  toBeHidden: { what: 'visible', takes: 'nothing', words: 'be hidden', about: 'element' },
  toBeEnabled: { what: 'enabled', takes: 'nothing', words: 'be enabled', about: 'element' },
  toBeDisabled: { what: 'enabled', takes: 'nothing', words: 'be disabled', about: 'element' },
  toBeChecked: { what: 'checked', takes: 'nothing', words: 'be checked', about: 'element' },
  toHaveValue: { what: 'value', takes: 'value', words: 'have the value', about: 'element' },
  toHaveCount: { what: 'count', takes: 'count', words: 'have the count', about: 'element' },
  toHaveAttribute: { what: 'attribute', takes: 'attribute', words: 'have the attribute', about: 'element' },
  toHaveURL: { what: 'url', takes: 'url', words: 'have the URL', about: 'page' },
  toHaveTitle: { what: 'title', takes: 'text', words: 'have the title', about: 'page' },
} as const satisfies Record<Matcher, MatcherSpec>;

export type Expected =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'text'; readonly text: string }
  /** As the script wrote it. The sandbox tests it: a regular expression may run without end. */
  | { readonly kind: 'pattern'; readonly text: string }
  | { readonly kind: 'list'; readonly texts: readonly string[] }
  | { readonly kind: 'count'; readonly count: number };

/** One assertion, as a script wrote it. */
export interface Check {
  /** Null for the page. */
  readonly locator: string | null;
  readonly matcher: Matcher;
  readonly not: boolean;
  readonly expected: Expected;
  /** The attribute's name. */
  readonly name: string | null;
  readonly timeoutMs: number | undefined;
}

/**
 * The arguments of one assertion, as the sandbox sends them.
 *
 * @param given `{not, values, pattern}`: a regular expression among the values is its text, and `pattern` is true then
 * @throws SCRIPT_ERROR that says how it is written
 */
export function checkOf(locator: unknown, matcher: unknown, given: unknown): Check {
  const { not, values, pattern } = membersOf(given, 'agent.expect', ['not', 'values', 'pattern']);
  if (typeof matcher !== 'string' || !isMatcher(matcher)) throw misuse(`agent.expect has no matcher ${shown(matcher)}`);
  const spec: MatcherSpec = MATCHERS[matcher];
  const target = locator === null ? null : textOf(locator, 'agent.expect takes a locator');
  if (spec.about === 'page' && target !== null) {
    throw misuse(`${matcher} is about the page: write agent.expect(agent).${matcher}(...)`);
  }
  if (spec.about === 'element' && target === null) {
    throw misuse(`${matcher} is about an element: write agent.expect(locator).${matcher}(...)`);
  }
  const list: readonly unknown[] = Array.isArray(values) ? values : [];
  const [first, ...others] = list;
  const name = spec.takes === 'attribute' ? textOf(first, 'toHaveAttribute takes the name of an attribute') : null;
  const [value, options] = valueAndOptions(spec.takes, name === null ? list : others);
  const { timeout } = membersOf(options, matcher, ['timeout']);
  const expected =
    pattern === true ? patternOf(matcher, spec.takes, value) : expectedOf(matcher, spec.takes, value, name);
  return { locator: target, matcher, not: not === true, expected, name, timeoutMs: timeoutOf(timeout) };
}

function valueAndOptions(takes: Takes, values: readonly unknown[]): readonly [value: unknown, options: unknown] {
  const [first, second] = values;
  if (takes === 'nothing') return [undefined, first];
  const early = takes === 'attribute' && isOptions(first);
  return early ? [undefined, first] : [first, second];
}

function isOptions(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function patternOf(matcher: Matcher, takes: Takes, value: unknown): Expected {
  if (takes === 'nothing' || takes === 'count') throw misuse(`${matcher} takes no regular expression`);
  return { kind: 'pattern', text: String(value) };
}

function expectedOf(matcher: Matcher, takes: Takes, value: unknown, name: string | null): Expected {
  if (takes === 'nothing') return { kind: 'nothing' };
  if (takes === 'attribute' && (value === undefined || value === null) && name !== null) return { kind: 'nothing' };
  if (takes === 'count') {
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return { kind: 'count', count: value };
    throw misuse(`${matcher} takes a whole number, not ${shown(value)}`);
  }
  if (takes === 'value' && Array.isArray(value) && value.every(isPlain)) {
    return { kind: 'list', texts: value.map(String) };
  }
  if (typeof value !== 'string' && typeof value !== 'number') {
    throw misuse(`${matcher} takes a text or a regular expression, not ${shown(value)}`);
  }
  if (matcher === 'toContainText' && String(value).trim() === '') {
    throw misuse('toContainText takes a text that is not empty: every text contains the empty one');
  }
  return { kind: 'text', text: String(value) };
}

function isMatcher(name: string): name is Matcher {
  return MATCHER_NAMES.some((known) => known === name);
}
