import { createContext, Script } from 'node:vm';
import { stretched } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';

/** How long an expression may take on one text, in milliseconds. One that took longer is not run again. */
const MATCH_MS = stretched(1_000);
const context = createContext({ pattern: null, text: '', from: 0 });
const run = new Script('pattern.lastIndex = from; [pattern.exec(text), pattern.lastIndex]');

/**
 * An expression whose matching ends after {@link MATCH_MS} with SCRIPT_ERROR, since the pattern is a script's and the
 * text often a page's. Most expressions run in the page; this is for those that Playwright matches here.
 *
 * @throws SCRIPT_ERROR for a pattern that this engine does not know
 */
export function guardedRegExp(source: string, flags: string): RegExp {
  const guarded = parsed(source, flags);
  const plain = parsed(source, flags);
  let tooSlow = false;
  // `test`, `match` and the like call an expression's own `exec`.
  Object.defineProperty(guarded, 'exec', {
    value(text: string): RegExpExecArray | null {
      if (tooSlow) throw tooLong();
      Object.assign(context, { pattern: plain, text: String(text), from: guarded.lastIndex });
      tooSlow = true;
      const [found, lastIndex]: [RegExpExecArray | null, number] = inTime(() =>
        run.runInContext(context, { timeout: MATCH_MS }),
      );
      tooSlow = false;
      guarded.lastIndex = lastIndex;
      return found;
    },
  });
  return guarded;
}

/** Runs synchronous work of a script for at most a second: comparing values matches expressions too. */
export function boundedWork<T>(work: () => T): T {
  pending = work;
  return inTime(() => runPending.runInThisContext({ timeout: MATCH_MS }));
}

let pending: (() => unknown) | null = null;
const PENDING = '$troupePlaywrightWork';
Object.defineProperty(globalThis, PENDING, { value: () => pending?.() });
const runPending = new Script(`${PENDING}()`);

function inTime<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    // Of the context's own class of errors.
    if (Reflect.get(Object(error), 'code') !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw tooLong();
  }
}

function tooLong(): TroupeError {
  return new TroupeError('SCRIPT_ERROR', 'A regular expression took too long; make it simpler');
}

function parsed(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw new TroupeError('SCRIPT_ERROR', error instanceof Error ? error.message : String(error));
  }
}
