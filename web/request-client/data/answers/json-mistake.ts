import { jsonLanguage } from '@codemirror/lang-json';
import { withoutVariables } from '../variables.js';

/** Where a text stops being JSON. Lines and columns start at 1. */
export interface JsonMistake {
  readonly at: number;
  readonly line: number;
  readonly column: number;
  readonly why: string;
}

/** Larger texts are not checked while somebody types. */
const MAX_CHARS = 512 * 1024;

/** The first mistake of a text that should be JSON, apart from its variables; null if there is none. */
export function jsonMistake(text: string): JsonMistake | null {
  if (text.trim() === '' || text.length > MAX_CHARS) return null;
  const plain = withoutVariables(text);
  try {
    JSON.parse(plain);
    return null;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const at = placeOf(plain, message);
    const before = plain.slice(0, at).split('\n');
    const column = (before.at(-1)?.length ?? 0) + 1;
    return {
      at,
      line: before.length,
      column,
      why: message.replace(/ in JSON at position.*| \(line .*|, [.]*".*/s, ''),
    };
  }
}

/** The whole text is a JSON object or list. */
export function isJson(text: string): boolean {
  return /^\s*[{[]/.test(text) && text.length <= MAX_CHARS && jsonMistake(text) === null;
}

/** Browsers name the position of some mistakes only; the parser of the editor knows the others. */
function placeOf(text: string, message: string): number {
  const [, named] = /at position (\d+)/.exec(message) ?? [];
  if (named !== undefined) return Number(named);
  let first: number | null = null;
  jsonLanguage.parser.parse(text).iterate({
    enter: ({ type, from }) => {
      if (type.isError) first ??= from;
    },
  });
  return first ?? text.length;
}
