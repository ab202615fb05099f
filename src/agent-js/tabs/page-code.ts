import { TroupeError } from '../../protocol/errors.js';
import { type Bounds, toAnswer } from '../browser/bounds.js';
import type { Tab } from './tab.js';

/** A longer result is refused: it would fill the connection that the session lives on. */
const MAX_RESULT_CHARS = 8 * 1024 * 1024;

/**
 * Evaluates JavaScript in the page itself and answers its value, as JSON has it; promises are awaited. What the page has made
 * of `JSON`, `eval`, and prototypes changes nothing (page/page-value.ts).
 *
 * @throws SCRIPT_ERROR with the page's error, ACTION_FAILED when a dialog is open, WAIT_TIMEOUT when it does not end
 */
export async function evaluateInPage(tab: Tab, js: string, bounds: Bounds): Promise<unknown> {
  tab.throwIfGone();
  if (tab.dialog !== null) throw tab.dialogError();
  const evaluated = tab.frames.main.evaluate(js, MAX_RESULT_CHARS, bounds);
  const first = await tab.unlessDialog(evaluated, toAnswer(bounds));
  // What it was to answer comes only after somebody has closed the dialog.
  if (first === 'dialog') return null;
  const { result, exceptionDetails } = first.value;
  if (exceptionDetails === undefined) return JSON.parse(String(result.value));
  const { exception, text: what } = exceptionDetails;
  // What is thrown may be no error.
  const text = exception?.description?.split('\n')[0] ?? String(exception?.value ?? what);
  throw new TroupeError('SCRIPT_ERROR', `In the page: ${text.slice(0, 2_000)}`);
}
