import { jsonText } from '../script/prelude/json-text.js';
import { read, toLowerCase, words } from '../script/prelude/primordials.js';
import { nodeName, windowOf } from './dom-primordials.js';

// biome-ignore lint/security/noGlobalEval: to evaluate is what it is for.
const evaluate = eval;

/**
 * Runs in the page's own world: evaluates JavaScript in the global scope and makes JSON of its value, as agent.page has it.
 * Promises are awaited, a node is the text "<div>", a window "[window]".
 *
 * @throws what the JavaScript throws, and RangeError for more than `maxLength` characters of JSON
 */
export async function pageValue(js: string, maxLength: number): Promise<string> {
  return jsonText(await evaluate(js), maxLength, textFor) ?? 'null';
}

function textFor(value: object): string | null {
  if (isWindow(value)) return '[window]';
  try {
    return mayBeNode(value) ? words`<${toLowerCase(nodeName(value))}>` : null;
  } catch {
    // It only looks like a node.
    return null;
  }
}

/** To ask what is no node for its name costs an exception. */
function mayBeNode(value: object): boolean {
  try {
    return read(value, 'nodeType') !== undefined;
  } catch {
    return true;
  }
}

/** Also one of another origin, of which nothing else can be read. */
function isWindow(value: object): boolean {
  try {
    return read(value, 'window') === value && windowOf(value) === value;
  } catch {
    return false;
  }
}
