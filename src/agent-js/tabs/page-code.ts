import { TroupeError } from '../../protocol/errors.js';
import { type Bounds, remainingMs, toAnswer } from '../browser/bounds.js';
import type { Tab } from './tab.js';

/** A longer result is refused: it would fill the connection that the session lives on. */
const MAX_RESULT_CHARS = 8 * 1024 * 1024;

/**
 * Runs in the page: evaluates the text and makes JSON of its value, as the spec wants it for what JSON lacks. It stands
 * here as text because it runs beside the page's own scripts, in their world.
 */
const SERIALIZE = `(async (evaluate) => {
  const path = [];
  const convert = function (key, value) {
    const raw = this[key];
    if (typeof raw === 'bigint') return String(raw);
    if (typeof value === 'number' && !Number.isFinite(value)) return null;
    if (typeof value !== 'object' || value === null) return value;
    if (value.nodeType > 0 && typeof value.nodeName === 'string') return '<' + value.nodeName.toLowerCase() + '>';
    if (value === globalThis) return '[window]';
    while (path.length > 0 && path[path.length - 1] !== this) path.pop();
    if (path.includes(value)) return '[Circular]';
    path.push(value);
    return value;
  };
  const text = JSON.stringify(await evaluate(), convert);
  if (text === undefined) return 'null';
  if (text.length > ${MAX_RESULT_CHARS}) throw new RangeError('The result is too long: ' + text.length + ' characters of JSON');
  return text;
})`;

/**
 * Evaluates JavaScript in the page itself and answers its value, as JSON has it; promises are awaited.
 *
 * @throws SCRIPT_ERROR with the page's error, ACTION_FAILED when a dialog is open, WAIT_TIMEOUT when it does not end
 */
export async function evaluateInPage(tab: Tab, js: string, bounds: Bounds): Promise<unknown> {
  tab.throwIfGone();
  if (tab.dialog !== null) throw tab.dialogError();
  const expression = `${SERIALIZE}(() => (0, eval)(${JSON.stringify(js)}))`;
  const params = { expression, awaitPromise: true, returnByValue: true, userGesture: true };
  const evaluated = tab.send('Runtime.evaluate', params, Math.max(1, remainingMs(bounds)));
  const first = await tab.unlessDialog(evaluated, toAnswer(bounds));
  // What it was to answer comes only after somebody has closed the dialog.
  if (first === 'dialog') return null;
  const { result, exceptionDetails } = first.value;
  if (exceptionDetails === undefined) return JSON.parse(String(result.value));
  const text = exceptionDetails.exception?.description?.split('\n')[0] ?? exceptionDetails.text;
  throw new TroupeError('SCRIPT_ERROR', `In the page: ${text.slice(0, 2_000)}`);
}
