import { isElements, isLook, renderElements, renderLook } from '../agent-js/look/render.js';
import type { ErrorBody } from '../protocol/errors.js';
import { dataBlock } from './context.js';

/** A result is shown up to so many characters; the rest can be asked for in parts. */
const MAX_RESULT = 6_000;
const MAX_CONSOLE = 1_500;
const MAX_DETAILS = 1_500;
const PLACE: ReadonlySet<string> = new Set(['changed', 'url', 'title', 'status', 'waitedMs']);
/** Members of an error's details that a model can use; the rest is for people and programs. */
const TELLING = ['line', 'flow', 'flows', 'candidates', 'matches', 'failures', 'scopeLost'] as const;

/** How a script of the model ended. */
export interface ScriptOutcome {
  readonly end:
    | { readonly kind: 'result'; readonly json: string }
    | { readonly kind: 'error'; readonly error: ErrorBody };
  /** What the script wrote to its console. */
  readonly console: readonly string[];
}

/** What the model is told of a script. The page comes after it. */
export function outcomeText({ end, console: lines }: ScriptOutcome): string {
  const said = lines.length === 0 ? [] : [dataBlock('console', cut(lines.join('\n'), MAX_CONSOLE))];
  const parts = [...said, end.kind === 'result' ? resultText(end.json) : errorText(end.error)];
  return parts.filter((part) => part !== '').join('\n');
}

/** An answer to a call whose end nobody recorded. */
export const UNKNOWN_OUTCOME =
  'The service was stopped while this ran. How far it came is not known, and nothing of it is repeated by itself. ' +
  'Look at the page and find out what has happened before you do anything again.';

/** An error for a model: its code, its sentence, and the details that help. */
export function errorText({ code, error, details }: ErrorBody): string {
  const telling = Object.fromEntries(
    TELLING.flatMap((name) => (details?.[name] === undefined ? [] : [[name, details[name]]])),
  );
  const more = Object.keys(telling).length === 0 ? '' : `\n${cut(JSON.stringify(telling), MAX_DETAILS)}`;
  return dataBlock('error', `${code}: ${cut(error, MAX_DETAILS)}${more}`);
}

function resultText(json: string): string {
  // Nothing to say, or what the page after it says anyway.
  if (json === 'null') return '';
  const value: unknown = JSON.parse(json);
  const place = placeText(value);
  if (place !== null) return place;
  if (isLook(value)) return 'diff' in value ? '' : dataBlock('result', renderLook(value));
  if (isElements(value) && value.length > 0) return dataBlock('result', renderElements(value));
  return dataBlock('result', cut(json, MAX_RESULT));
}

/** What `go`, `act`, `back` and `wait` answer: the page after it says where it is, so only what is amiss remains. */
function placeText(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const names = Object.keys(value);
  if (names.length === 0 || !names.every((name) => PLACE.has(name))) return null;
  const status: unknown = Reflect.get(value, 'status');
  if (typeof status === 'number' && status >= 400) return `The server answered ${status}.`;
  return Reflect.get(value, 'changed') === false ? 'Nothing changed.' : '';
}

function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  return `${text.slice(0, longest)}… (cut: ${text.length} characters; ask for a part)`;
}
