import type { ExampleLine, ExampleView } from '../../../protocol/requests/answers.js';
import { asObject, type JsonObject, listOf, member, textOf } from '../../collection/json-access.js';
import { composedUrl } from '../../collection/read-request.js';
import { readRows } from './rows.js';

/** The saved answers of a stored request. */
export function exampleLines(item: unknown): ExampleLine[] {
  return listOf(member(item, 'response')).map(lineOf);
}

/** One of them with its content. */
export function exampleView(example: unknown): ExampleView {
  const request = member(example, 'originalRequest');
  const url = typeof request === 'string' ? request : member(request, 'url');
  const headers = readRows(member(example, 'header'));
  const named = headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value;
  const language = textOf(member(example, '_postman_previewlanguage')) ?? '';
  return {
    ...lineOf(example),
    status: textOf(member(example, 'status')) ?? '',
    method: textOf(member(request, 'method')) ?? '',
    url: textOf(url) ?? textOf(member(url, 'raw')) ?? (url === undefined ? '' : composedUrl(url)),
    headers: headers.map(({ name, value }) => ({ name, value })),
    contentType: named ?? (language === '' ? '' : `text/${language}`),
    body: textOf(member(example, 'body')) ?? '',
  };
}

function lineOf(example: unknown): ExampleLine {
  const code = member(example, 'code');
  return { name: textOf(member(example, 'name')) ?? '', code: typeof code === 'number' ? code : null };
}

/** An answer to be saved. */
export interface SavedAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly contentType: string;
  readonly body: string;
}

/** An answer in Postman's form. The request is saved as it is written, without its authorization. */
export function exampleOf(name: string, item: unknown, answer: SavedAnswer): JsonObject {
  const { status, statusText, headers, contentType, body } = answer;
  const request = member(item, 'request');
  const { auth: _, description: _description, ...original } = asObject(request) ?? { method: 'GET', url: request };
  return {
    name,
    originalRequest: original,
    status: statusText,
    code: status,
    _postman_previewlanguage: languageOf(contentType),
    header: headers.map((header) => ({ key: header.name, value: header.value })),
    cookie: [],
    body,
  };
}

function languageOf(contentType: string): string {
  const [, found] = /(json|html|xml|javascript)/i.exec(contentType) ?? [];
  return found?.toLowerCase() ?? 'text';
}
