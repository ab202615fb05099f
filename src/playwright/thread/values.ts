import { TroupeError } from '../../protocol/errors.js';
import { withoutSteps } from '../../script/source/source-step.js';
import type { Chain, Wire } from '../wire.js';
import { guardedRegExp } from './guarded-reg-exp.js';

/** Turns what crossed from the sandbox into values for Playwright. */
export function decode(value: Wire, locator: (chain: Chain) => unknown, asymmetric?: Asymmetric): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const inner = (item: Wire): unknown => decode(item, locator, asymmetric);
  switch (value[0]) {
    case 'u':
      return undefined;
    case 'n':
      return Number(value[1]);
    case 'b':
      return BigInt(value[1]);
    case 'd':
      return new Date(value[1]);
    case 'r':
      return guardedRegExp(value[1], value[2]);
    case 'f':
      return pageFunction(value[1]);
    case 'a':
      return value[1].map(inner);
    case 'o':
      return Object.fromEntries(value[1].map(([name, member]) => [name, inner(member)]));
    case 'c':
      return locator({ root: value[1], links: value[2] });
    case 'x':
      if (asymmetric === undefined) throw new TroupeError('SCRIPT_ERROR', `expect.${value[1]} belongs in a matcher`);
      return asymmetric(value[1], value[2].map(inner), value[3]);
    default:
      throw new TroupeError('INTERNAL', 'An argument of an unknown kind');
  }
}

/** Playwright sends a function's text to the page, and calls it there: this one never runs here. */
function pageFunction(source: string): () => void {
  const text = withoutSteps(source);
  return Object.assign(() => undefined, { toString: () => text });
}

export type Asymmetric = (name: string, args: readonly unknown[], not: boolean) => unknown;
