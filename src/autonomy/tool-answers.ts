import { isElements, isLook, renderElements, renderLook } from '../agent-js/look/render.js';
import type { ErrorBody } from '../protocol/errors.js';
import { dataBlock } from './context.js';

/** The most characters of a result; the model can request the rest in parts. */
const MAX_RESULT = 6_000;
const MAX_CONSOLE = 1_500;
const MAX_DETAILS = 1_500;
const LOCATION_MEMBERS: ReadonlySet<string> = new Set(['changed', 'url', 'title', 'status', 'waitedMs']);
/** The members of an error's details that help a model. */
const HELPFUL_DETAILS = ['line', 'flow', 'flows', 'candidates', 'matches', 'failures', 'scopeLost'] as const;

/** How a script of the model ended. */
export interface ScriptOutcome {
  readonly end:
    | { readonly kind: 'result'; readonly json: string }
    | { readonly kind: 'error'; readonly error: ErrorBody };
  /** What the script wrote to its console. */
  readonly console: readonly string[];
}

/** A script's outcome as text for the model, which the page follows. */
export function outcomeText({ end, console: lines }: ScriptOutcome): string {
  const said = lines.length === 0 ? [] : [dataBlock('console', shorten(lines.join('\n'), MAX_CONSOLE))];
  const parts = [...said, end.kind === 'result' ? resultText(end.json) : errorText(end.error)];
  return parts.filter((part) => part !== '').join('\n');
}

/** The answer to a call whose end was not recorded. */
export const UNKNOWN_OUTCOME =
  'The service was stopped while this ran. How far it came is not known, and nothing of it is repeated by itself. ' +
  'Look at the page and find out what has happened before you do anything again.';

/** An error as text for a model: its code, its message, and the details that help. */
export function errorText({ code, error, details }: ErrorBody): string {
  const telling = Object.fromEntries(
    HELPFUL_DETAILS.flatMap((name) => (details?.[name] === undefined ? [] : [[name, details[name]]])),
  );
  const more = Object.keys(telling).length === 0 ? '' : `\n${shorten(JSON.stringify(telling), MAX_DETAILS)}`;
  return dataBlock('error', `${code}: ${shorten(error, MAX_DETAILS)}${more}`);
}

function resultText(json: string): string {
  // There is no result, or the page that follows shows it anyway.
  if (json === 'null') return '';
  const value: unknown = JSON.parse(json);
  const place = placeText(value);
  if (place !== null) return place;
  if (isLook(value)) return 'diff' in value ? '' : dataBlock('result', renderLook(value));
  if (isElements(value) && value.length > 0) return dataBlock('result', renderElements(value));
  return dataBlock('result', shorten(json, MAX_RESULT));
}

/** The result of `go`, `act`, `back`, or `wait`: the page that follows shows the location, so only problems remain. */
function placeText(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const names = Object.keys(value);
  if (names.length === 0 || !names.every((name) => LOCATION_MEMBERS.has(name))) return null;
  const status: unknown = Reflect.get(value, 'status');
  if (typeof status === 'number' && status >= 400) return `The server answered ${status}.`;
  return Reflect.get(value, 'changed') === false ? 'Nothing changed.' : '';
}

function shorten(text: string, longest: number): string {
  if (text.length <= longest) return text;
  return `${text.slice(0, longest)}… (cut: ${text.length} characters; ask for a part)`;
}
