import { foldSpace } from '../../page/locator.js';
import type { Observed } from '../../page/page-calls.js';
import { type Check, MATCHERS } from './check.js';

/** Texts in errors are cut to this length. */
const MAX_SHOWN = 4_000;
/** The same for the sentence. */
const MAX_BRIEF = 160;
/** Characters of a long text shown before its first difference. */
const SHOWN_BEFORE = 40;

/** Whether a reading is what an assertion wants. `text`: its regular expression has to be tested on this text. */
export type Verdict =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed' }
  | { readonly kind: 'test'; readonly text: string };

const PASSED: Verdict = { kind: 'passed' };
const FAILED: Verdict = { kind: 'failed' };

/**
 * Compares a reading with what an assertion wants. An element that is not there, or that several are, satisfies nothing
 * but that it is hidden: neither an assertion nor its `.not`.
 *
 * @param url the page's, which relative addresses are resolved against
 */
export function judge(check: Check, observed: Observed, url: string): Verdict {
  const { matcher, not, expected } = check;
  if (observed.kind === 'problem') {
    const { problem } = observed;
    const gone = (problem.problem === 'missing' && problem.behind !== true) || problem.problem === 'stale';
    return wantsHidden(check) && gone ? PASSED : FAILED;
  }
  const { value } = observed;
  const verdict = (holds: boolean): Verdict => (holds === not ? FAILED : PASSED);
  switch (matcher) {
    case 'toBeVisible':
    case 'toBeEnabled':
      return verdict(value === true);
    case 'toBeHidden':
    case 'toBeDisabled':
      return verdict(value !== true);
    case 'toBeChecked':
      // Something else than a checkbox is neither checked nor not checked.
      return value === null ? FAILED : verdict(value === true);
    case 'toHaveCount':
      return verdict(expected.kind === 'count' && value === expected.count);
    default:
  }
  if (matcher === 'toHaveAttribute' && (expected.kind === 'nothing' || value === null)) {
    // One that is not there has no value, and so not this one.
    return verdict(value !== null);
  }
  if (expected.kind === 'list') return verdict(Array.isArray(value) && sameList(value, expected.texts));
  const text = textOf(check, value);
  if (expected.kind === 'pattern') return { kind: 'test', text };
  if (expected.kind !== 'text') return FAILED;
  if (matcher === 'toHaveURL') return verdict(text === resolved(expected.text, url));
  const folded = MATCHERS[matcher].takes === 'text';
  const wanted = folded ? foldSpace(expected.text) : expected.text;
  return verdict(matcher === 'toContainText' ? text.includes(wanted) : text === wanted);
}

/** Whether a page's text has in it what an assertion wants of an element's text. */
export function containsExpected({ expected }: Check, text: string): boolean {
  return expected.kind === 'text' && foldSpace(text).includes(foldSpace(expected.text));
}

/** Whether an element that is not there is what the assertion wants. */
export function wantsHidden({ matcher, not }: Check): boolean {
  return (matcher === 'toBeHidden' && !not) || (matcher === 'toBeVisible' && not);
}

/** What an assertion wanted, for people. */
export function expectedText({ matcher, not, expected, name }: Check): string {
  const text = ((): string => {
    switch (expected.kind) {
      case 'text':
      case 'pattern':
        return expected.text;
      case 'list':
        return JSON.stringify(expected.texts);
      case 'count':
        return String(expected.count);
      case 'nothing':
        return matcher === 'toHaveAttribute' ? `the attribute ${name ?? ''}` : MATCHERS[matcher].words.slice(3);
    }
  })();
  return `${not ? 'not ' : ''}${text}`.slice(0, MAX_SHOWN);
}

/** What the page had instead, for people. */
export function receivedText(check: Check, observed: Observed): string {
  if (observed.kind === 'problem') {
    const { problem } = observed;
    if (problem.problem === 'ambiguous') return `${problem.matches.length} elements`;
    return problem.problem === 'missing' ? 'no such element' : 'another element';
  }
  const { value } = observed;
  switch (check.matcher) {
    case 'toBeVisible':
    case 'toBeHidden':
      return value === true ? 'visible' : 'hidden';
    case 'toBeEnabled':
    case 'toBeDisabled':
      return value === true ? 'enabled' : 'disabled';
    case 'toBeChecked':
      if (value === null) return 'no checkbox, radio button, or switch';
      return value === 'mixed' ? 'partly checked' : value === true ? 'checked' : 'not checked';
    case 'toHaveAttribute':
      return value === null ? 'no such attribute' : String(value).slice(0, MAX_SHOWN);
    default:
      return textOf(check, value).slice(0, MAX_SHOWN);
  }
}

/** One sentence about an assertion that failed. */
export function failureSentence(check: Check, received: string, problem: string | null, waitedMs: number): string {
  const { locator, matcher, not, name, expected } = check;
  const subject = locator ?? 'The page';
  const wanted = expected.kind === 'nothing' ? (name === null ? '' : ` ${name}`) : expectedWords(check, received);
  const attribute = name !== null && expected.kind !== 'nothing' ? ` ${name} with` : '';
  const but = problem ?? (expected.kind === 'nothing' ? `it is ${received}` : `it has ${brief(received, wanted)}`);
  const should = `${subject} should ${not ? 'not ' : ''}${MATCHERS[matcher].words}${attribute}${wanted}`;
  return `${should}, but ${but} (waited ${waitedMs} ms)`;
}

function expectedWords({ expected }: Check, received: string): string {
  if (expected.kind === 'count') return ` ${expected.count}`;
  if (expected.kind === 'pattern') return ` ${expected.text.slice(0, MAX_BRIEF)}`;
  if (expected.kind === 'list') return ` ${JSON.stringify(expected.texts).slice(0, MAX_BRIEF)}`;
  return expected.kind === 'text' ? ` ${brief(expected.text, received)}` : '';
}

/** A text in quotes, around its first difference from another one if it is long. */
function brief(text: string, other: string): string {
  if (text.length <= MAX_BRIEF) return JSON.stringify(text);
  let at = 0;
  while (at < text.length && text[at] === other[at]) at += 1;
  const from = at > SHOWN_BEFORE * 2 && at < text.length ? at - SHOWN_BEFORE : 0;
  const end = from + MAX_BRIEF;
  return `${from > 0 ? '…' : ''}${JSON.stringify(text.slice(from, end))}${end < text.length ? '…' : ''}`;
}

function textOf({ matcher }: Check, value: unknown): string {
  const text = typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value);
  return MATCHERS[matcher].takes === 'text' ? foldSpace(text) : text;
}

function sameList(values: readonly unknown[], texts: readonly string[]): boolean {
  return values.length === texts.length && values.every((value, index) => value === texts[index]);
}

function resolved(address: string, url: string): string {
  return URL.canParse(address, url) ? new URL(address, url).href : address;
}
