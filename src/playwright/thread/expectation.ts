import { stripVTControlCharacters } from 'node:util';
import { ANY_OF, ASYMMETRIC, LOCATOR_MATCHERS, PAGE_MATCHERS } from '../../agent-js/playwright-api/matchers.js';
import { stretched } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';
import type { Chain, Wire } from '../wire.js';
import { boundedWork } from './guarded-reg-exp.js';
import { expectOfPlaywright } from './playwright-library.js';
import { decode } from './values.js';

/** How long a matcher waits, as in Playwright, in milliseconds. */
const EXPECT_MS = stretched(5_000);
const expect = expectOfPlaywright();
const CLASSES = { Array, BigInt, Boolean, Date, Number, Object, RegExp, String };

interface Expectation {
  readonly subject: unknown;
  readonly matcher: string;
  readonly args: readonly Wire[];
  readonly not: boolean;
  readonly message: string | null;
  readonly timeoutMs: number;
  readonly locate: (chain: Chain) => unknown;
}

/** @throws MATCH_FAILED with Playwright's text */
export async function checkExpectation(expectation: Expectation): Promise<void> {
  const { subject, matcher, args, not, message, timeoutMs, locate } = expectation;
  const waits = Object.hasOwn(LOCATOR_MATCHERS, matcher) || Object.hasOwn(PAGE_MATCHERS, matcher);
  const given = args.map((arg) => decode(arg, locate, asymmetric));
  const options = given.at(-1);
  if (waits && typeof options === 'object' && options !== null && Object.hasOwn(options, 'timeout')) {
    const wanted: unknown = Reflect.get(options, 'timeout');
    if (typeof wanted === 'number')
      Reflect.set(options, 'timeout', Math.max(1, Math.min(stretched(wanted), timeoutMs)));
  }
  try {
    const timed = expect.configure({ timeout: Math.max(1, Math.min(EXPECT_MS, timeoutMs)) });
    const matchers: object = message === null ? timed(subject) : timed(subject, message);
    const chosen: object = not ? Reflect.get(matchers, 'not') : matchers;
    const check: unknown = Reflect.get(chosen, matcher);
    if (typeof check !== 'function') throw new TroupeError('INTERNAL', `Playwright has no ${matcher}`);
    const run = (): unknown => Reflect.apply(check, chosen, given);
    // Values are compared in one go; what waits compares in the page.
    await (waits ? run() : boundedWork(run));
  } catch (error) {
    if (error instanceof TroupeError) throw error;
    const text = stripVTControlCharacters(error instanceof Error ? error.message : String(error));
    throw new TroupeError('MATCH_FAILED', text, { matcher });
  }
}

function asymmetric(name: string, args: readonly unknown[], not: boolean): unknown {
  if (!ASYMMETRIC.some((known) => known === name)) throw new TroupeError('SCRIPT_ERROR', `There is no expect.${name}`);
  if (name === 'any') {
    const of = ANY_OF.find((known) => known === args[0]);
    if (of === undefined) throw new TroupeError('SCRIPT_ERROR', `expect.any takes ${ANY_OF.join(', ')}`);
    return expect.any(CLASSES[of]);
  }
  const from: object = not ? expect.not : expect;
  return Reflect.apply(Reflect.get(from, name), from, [...args]);
}
