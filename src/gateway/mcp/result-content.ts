import type { CallToolResult } from '@modelcontextprotocol/server';
import { isElements, isLook, renderElements, renderLook } from '../../agent-js/look/render.js';
import { encodeError } from '../../protocol/errors.js';

/** Longer texts are truncated, with a note: clients reject them, or pay for them. */
const MAX_TEXT = 40_000;
const MAX_DETAILS = 2_000;

/** The details of an error that help a model; the others are for people and programs. */
const MODEL_DETAILS = [
  'flow',
  'flows',
  'candidates',
  'matches',
  'failures',
  'scopeLost',
  'pageLost',
  'retryAfterSeconds',
];

/** A screenshot as a script gets it. */
export interface Picture {
  readonly file: string;
  readonly width: number;
  readonly height: number;
}

/** The picture that a script returned; null if its result is something else. */
export function pictureOf(value: unknown): Picture | null {
  if (typeof value !== 'object' || value === null || !('file' in value)) return null;
  if (!('width' in value && 'height' in value)) return null;
  const { file, width, height } = value;
  const isPicture = typeof file === 'string' && typeof width === 'number' && typeof height === 'number';
  return isPicture && file.endsWith('.png') ? { file, width, height } : null;
}

/** The page that the client's last result named. */
export interface KnownPage {
  readonly url: string;
  readonly title: string;
}

/**
 * A script's result as text: a look in its compact form, a string as it is, anything else as JSON.
 * @param known a look with the same page does not repeat it
 */
export function resultText(value: unknown, known: KnownPage | undefined): string {
  if (typeof value === 'string') return cut(value, MAX_TEXT);
  if (isLook(value)) return cut(renderLook(value, { known }), MAX_TEXT);
  if (isElements(value) && value.length > 0) return cut(renderElements(value), MAX_TEXT);
  return cut(JSON.stringify(withoutKnownPage(value, known)), MAX_TEXT);
}

/** What act and go answer, without the page that the reader knows already. */
function withoutKnownPage(value: unknown, known: KnownPage | undefined): unknown {
  const page = pageOf(value);
  if (page === undefined || known === undefined || page.url !== known.url || page.title !== known.title) return value;
  const { url: _url, title: _title, ...rest } = value as object & KnownPage;
  return Object.keys(rest).length === 0 ? value : rest;
}

/** The page that a result names: that of a look, go or act. */
export function pageOf(value: unknown): KnownPage | undefined {
  if (typeof value !== 'object' || value === null || !('url' in value) || !('title' in value)) return undefined;
  const { url, title } = value;
  return typeof url === 'string' && typeof title === 'string' ? { url, title } : undefined;
}

/**
 * A failure for a model: `CODE at line 3: sentence`, `after` if only the line before is known, the details that help to repair it, and the page where it
 * happened. `structuredContent` has the same for programs.
 */
export function failureResult(thrown: unknown, advice?: string): CallToolResult {
  const { code, error, details = {} } = encodeError(thrown);
  const { line, column, url, title } = details;
  const where = typeof line === 'number' ? ` ${typeof column === 'number' ? 'at' : 'after'} line ${line}` : '';
  const modelDetails = Object.fromEntries(
    MODEL_DETAILS.flatMap((name) => (name in details && !isSaid(details[name], error) ? [[name, details[name]]] : [])),
  );
  const lines = [
    `${code}${where}: ${error}`,
    ...(Object.keys(modelDetails).length === 0 ? [] : [cut(JSON.stringify(modelDetails), MAX_DETAILS)]),
    ...(typeof url === 'string'
      ? [`page: ${typeof title === 'string' && title !== '' ? `${title} · ` : ''}${url}`]
      : []),
    ...(advice === undefined ? [] : [advice]),
  ];
  return {
    isError: true,
    content: [{ type: 'text', text: cut(lines.join('\n'), MAX_TEXT) }],
    structuredContent: { code, error: cut(error, MAX_TEXT), ...numbersOnly({ line, column }) },
  };
}

/** A result, followed by what the script wrote to its console. */
export function withConsole(result: CallToolResult, written: string): CallToolResult {
  if (written === '') return result;
  return { ...result, content: [...result.content, { type: 'text', text: `console:\n${written}` }] };
}

/** Whether a sentence names every one of a list already, as it does the locators that are near a wrong one. */
function isSaid(detail: unknown, sentence: string): boolean {
  return Array.isArray(detail) && detail.every((one) => typeof one === 'string' && sentence.includes(one));
}

function numbersOnly(place: { readonly line: unknown; readonly column: unknown }): { [name: string]: number } {
  return Object.fromEntries(
    Object.entries(place).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );
}

function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  return `${text.slice(0, longest)}… (cut: ${text.length} characters; ask for a part)`;
}
