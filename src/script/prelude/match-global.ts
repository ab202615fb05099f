import type { ErrorCode, ErrorDetails } from '../../protocol/errors.js';
import { plainText } from './json-text.js';
import { containsFailures, eachFailures, equalFailures, type MatchFailure, matchFailures } from './match.js';
import { append, defineProperty, slice, words } from './primordials.js';

type Compare = (actual: unknown, expected: unknown) => MatchFailure[];
type Checked = (data: object) => void;
type Fail = (code: ErrorCode, message: string, details: ErrorDetails) => never;

/** Differences in the message; the details contain all. */
const SHOWN = 10;
/** Characters of a compared value in reports. */
const MAX_TEXT = 2_000;

/**
 * The `match` of scripts: `match(actual, expected, message?)`, and `match.equals`, `match.contains`, `match.each` with
 * the same parameters. Each returns true or throws MATCH_FAILED, and each emits an AssertionChecked event.
 */
export function installMatch(checked: Checked, fail: Fail): object {
  const asserting =
    (compare: Compare) =>
    (actual: unknown, expected: unknown, message?: unknown): true => {
      const failures = compare(actual, expected);
      const said = message === undefined ? undefined : slice(plainText(message), 0, 1000);
      if (failures.length === 0) {
        checked(said === undefined ? { ok: true } : { ok: true, message: said });
        return true;
      }
      const brief: { path: string; message: string }[] = [];
      for (let i = 0; i < failures.length; i += 1) {
        const failure = failures[i];
        if (failure !== undefined) append(brief, { path: failure.path, message: failure.message });
      }
      // One difference is shown by itself; several by the whole values.
      const only = failures.length === 1 ? failures[0] : undefined;
      const expectedText = textOf(only === undefined ? expected : only.expected);
      const received = textOf(only === undefined ? actual : only.actual);
      const error = sentence(said, brief);
      checked({ ok: false, message: said, failures: brief, error, expected: expectedText, received });
      return fail('MATCH_FAILED', error, {
        failures,
        expected: expectedText,
        received,
        ...(said === undefined ? {} : { message: said }),
      });
    };
  const match = asserting(matchFailures);
  for (const [name, compare] of [
    ['equals', equalFailures],
    ['contains', containsFailures],
    ['each', eachFailures],
  ] as const) {
    defineProperty(match, name, { value: asserting(compare), enumerable: true });
  }
  return match;
}

function textOf(value: unknown): string {
  return value === undefined ? 'undefined' : slice(plainText(value), 0, MAX_TEXT);
}

function sentence(message: string | undefined, failures: readonly { readonly message: string }[]): string {
  let text = message === undefined ? 'match failed' : words`match failed (${message})`;
  for (let i = 0; i < failures.length && i < SHOWN; i += 1)
    text += words`${i === 0 ? ': ' : '; '}${failures[i]?.message}`;
  return failures.length > SHOWN ? words`${text}; and ${failures.length - SHOWN} more` : text;
}
