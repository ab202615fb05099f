import { bodyOf, type ListedOperation, type Parameter, successOf } from './api-document.js';
import { curlBody, curlLine, shellWord } from './shell.js';

/** What somebody has entered for a call. */
export interface CallInput {
  /** By {@link keyOf}. */
  readonly values: { readonly [key: string]: string };
  /** The text of the body. */
  readonly body: string;
  /** A file that is sent as the body. */
  readonly file: File | null;
}

/** A call that can be sent. */
export interface CallRequest {
  readonly method: string;
  /** Relative to the page. */
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string | File | null;
}

/** The key of a parameter among the values of a call. */
export function keyOf({ in: where, name }: Parameter): string {
  return `${where} ${name}`;
}

/** The key of the body among faults. */
export const BODY = 'body';

/** What is wrong with the input of a call, by {@link keyOf} or {@link BODY}; empty if it can be sent. */
export function faultsOf(operation: ListedOperation, { values, body }: CallInput): { readonly [key: string]: string } {
  const faults: { [key: string]: string } = {};
  for (const parameter of operation.parameters ?? []) {
    const fault = valueFault(parameter, values[keyOf(parameter)] ?? '');
    if (fault !== '') faults[keyOf(parameter)] = fault;
  }
  if (takesJson(operation) && body.trim() !== '') {
    try {
      JSON.parse(body);
    } catch (error) {
      faults[BODY] = `Not valid JSON: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return faults;
}

function valueFault(parameter: Parameter, value: string): string {
  if (value === '') return parameter.required ? `${parameter.name} is missing.` : '';
  // A browser would remove such a segment, and call another path.
  const segments = parameter['x-slashes'] ? value.split('/') : [value];
  if (parameter.in === 'path' && segments.some((segment) => /^\.{1,2}$/.test(segment))) {
    return 'No segment of a path can be . or ..';
  }
  if (parameter.in === 'header' && !/^[\x20-\x7e]*$/.test(value)) return 'A header can have ASCII characters only.';
  return '';
}

/** The request of an input without faults. */
export function requestOf(operation: ListedOperation, { values, body, file }: CallInput): CallRequest {
  const given = (operation.parameters ?? []).filter((parameter) => (values[keyOf(parameter)] ?? '') !== '');
  const text = body.trim() === '' && takesJson(operation) ? null : body;
  return {
    method: operation.method,
    url: addressOf(operation, values, () => '').slice(1),
    headers: {
      ...(takesJson(operation) && text !== null ? { 'Content-Type': 'application/json' } : {}),
      ...Object.fromEntries(
        given.filter(({ in: where }) => where === 'header').map((one) => [one.name, values[keyOf(one)] ?? '']),
      ),
    },
    body: bodyOf(operation) === undefined ? null : (file ?? text),
  };
}

/** The call as a curl command. What is not entered is as in the examples. */
export function curlOf(operation: ListedOperation, { values, body, file }: CallInput): string {
  const path = addressOf(operation, values, ({ name, example }) => example ?? name.toUpperCase());
  const { type } = successOf(operation);
  const content = bodyOf(operation);
  const headers = (operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'header' && (values[keyOf(parameter)] ?? '') !== '')
    .map((parameter) => `-H ${shellWord(`${parameter.name}: ${values[keyOf(parameter)]}`)}`);
  const data = !content
    ? []
    : takesJson(operation)
      ? body.trim() === ''
        ? []
        : [curlBody(parsed(body) ?? content.example ?? {})]
      : [`--data-binary @${shellWord(file?.name ?? 'FILE')}`];
  const isImplied = operation.method === (data.length > 0 ? 'POST' : 'GET');
  return curlLine(
    path,
    ...(type === 'text/event-stream' ? ['-N'] : []),
    ...(isFile(type) ? ['-OJ'] : []),
    ...(isImplied ? [] : [`-X ${operation.method}`]),
    ...headers,
    ...data,
  );
}

/** Whether the body of an operation's request is JSON. */
export function takesJson(operation: ListedOperation): boolean {
  return bodyOf(operation)?.type === 'application/json';
}

/** Whether a body of this type is for a file, and not to be read. */
export function isFile(type: string): boolean {
  return type !== '' && !isText(type) && type !== 'text/event-stream';
}

/** Whether a body of this type is text. */
export function isText(type: string): boolean {
  return /^text\/|[/+](?:json|xml|javascript|yaml)$/.test(type);
}

function addressOf(
  { path, parameters = [] }: ListedOperation,
  values: CallInput['values'],
  otherwise: (parameter: Parameter) => string,
): string {
  const query = new URLSearchParams();
  let address = path;
  for (const parameter of parameters) {
    const value = values[keyOf(parameter)] || (parameter.required ? otherwise(parameter) : '');
    if (parameter.in === 'query' && value !== '') query.append(parameter.name, value);
    if (parameter.in !== 'path') continue;
    const segments = parameter['x-slashes'] ? value.split('/') : [value];
    // A function, because a replacement text would give `$` a meaning.
    address = address.replace(`{${parameter.name}}`, () => segments.map(encodeURIComponent).join('/'));
  }
  return query.size === 0 ? address : `${address}?${query}`;
}

/** The value of a JSON text; undefined if it is not valid. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
