import type { RequestBody, RequestDraft, SendSettings, UserAuth } from '../../engine/request.js';
import { hostFault } from './address-check.js';
import { bodyOfData, joinText } from './data-pieces.js';
import { readForms } from './form-pieces.js';
import { headersOf } from './header-lines.js';
import type { Given, Operation } from './operation.js';
import type { Fault, Remark } from './shell-command.js';
import { mapAroundVariables, variablesInBraces } from './source-text.js';
import { expandGlob } from './url-glob.js';
import { encodeNonAscii, joinUrl, splitUrl, type UrlParts, withoutDotSegments, withQuery } from './url-parts.js';

export interface BuiltRequests {
  readonly requests: readonly RequestDraft[];
  readonly faults: readonly Fault[];
}

/** The requests of an operation: one for each URL. `at` is the start of its command. */
export function buildRequests(operation: Operation, at: number, remarks: Remark[]): BuiltRequests {
  const words = urlWords(operation, remarks);
  if (words.length === 0) return { requests: [], faults: [{ message: 'The command has no URL', at }] };
  if (operation.method?.text === '') remarks.push(leftOut('--request', operation.method.at, 'it is empty'));
  const { body, method, contentType } = content(operation, remarks);
  const { headers, removed } = headersOf(operation, contentType, remarks);
  const requests: RequestDraft[] = [];
  const faults: Fault[] = [];
  /** Words in the place of an address that can be none. */
  const noAddresses: (Fault & { readonly about: string })[] = [];
  for (const word of words) {
    for (const url of addresses(word, operation.globOff, remarks)) {
      const about = url === '' ? "''" : variablesInBraces(url);
      const parts = splitUrl(url);
      if (parts === null) {
        faults.push({ message: `${about} is not an http or https address`, at: word.at });
        continue;
      }
      const why = hostFault(parts);
      if (why !== null) {
        noAddresses.push({ about, message: `${about} is not an address: ${why}`, at: word.at });
        continue;
      }
      const composed = composeUrl(parts, operation, word.at, remarks);
      if (hasControl(composed)) {
        const message = 'curl refuses the address: it contains a line break or another control character';
        faults.push({ message, at: word.at });
        continue;
      }
      const finished = withoutBlanks(composed, word.at, remarks);
      const text = variablesInBraces(joinUrl(finished));
      requests.push({
        name: nameOf(method, finished),
        method,
        url: text,
        headers,
        withoutHeaders: removed,
        body,
        auth: headers.some(({ name }) => /^authorization$/i.test(name)) ? null : authOf(operation, parts, remarks),
        settings: {
          followRedirects: operation.location,
          ...(operation.location && keepsMethod(operation) ? { keepMethod: true } : {}),
          ...(operation.trusted ? { keepAuthorization: true } : {}),
          verifyTls: !operation.insecure,
          encodeUrl: !/[^\x21-\x7e]|["<>`{}|\\^]/.test(text.replace(/\{\{[^{}]*\}\}/g, '')),
          ...httpVersionOf(operation, finished, remarks),
        },
      });
    }
  }
  if (requests.length === 0) faults.push(...noAddresses);
  else
    remarks.push(
      ...noAddresses.map(({ about, at: place, message }) => ({
        level: 'warning' as const,
        about,
        message: `${message}; it was left out`,
        at: place,
      })),
    );
  return { requests, faults };
}

/** A method of --request is that of all redirects, and an upload stays one. */
function keepsMethod({ method, upload }: Operation): boolean {
  return upload !== null || !/^(?:GET|HEAD)?$/i.test(method?.text ?? '');
}

/** What a command asks for and this client does: without TLS it is always HTTP/1.1. */
function httpVersionOf(
  { httpVersion }: Operation,
  { scheme }: UrlParts,
  remarks: Remark[],
): Pick<SendSettings, 'httpVersion'> {
  if (httpVersion === null) return {};
  const { version, at } = httpVersion;
  if (version === 'http1' || scheme.startsWith('https')) return { httpVersion: version };
  remarks.push(leftOut('--http2-prior-knowledge', at, 'the request client uses HTTP/2 over https only'));
  return {};
}

/** A word that may be the value of an unknown option, or several words, counts as a URL only if there is no other. */
function urlWords(operation: Operation, remarks: Remark[]): Given[] {
  const all = operation.urls.map(({ word, unsure }) => ({ word, unsure: unsure || word.bare }));
  const sure = all.filter(({ unsure }) => !unsure);
  const last = all.at(-1);
  const taken = sure.length > 0 || last === undefined ? sure : [last];
  for (const entry of all) {
    if (taken.includes(entry)) continue;
    const about = variablesInBraces(entry.word.text);
    remarks.push(leftOut(about, entry.word.start, 'it does not look like the address'));
  }
  return taken.map(({ word }) => ({ text: word.text, at: word.start }));
}

interface Content {
  readonly body: RequestBody;
  readonly method: string;
  readonly contentType: string | null;
}

function content(operation: Operation, remarks: Remark[]): Content {
  const { data, forms, upload, head, get } = operation;
  const custom = operation.method === null ? '' : variablesInBraces(operation.method.text);
  const named = (own: string): string => (custom === '' ? own : custom);
  const kinds = [data.length > 0 && !get, forms.length > 0, upload !== null, head].filter(Boolean).length;
  if (kinds > 1) {
    const at = (upload ?? forms[0] ?? data[0])?.at ?? 0;
    remarks.push({
      level: 'warning',
      about: 'method',
      message: 'curl refuses this command: it takes one of data, form, upload and --head',
      at,
    });
  }
  if (upload !== null) {
    const path = variablesInBraces(upload.text);
    const message = `--upload-file ${path}: the file is not read now; the request refers to it and reads it when it runs`;
    remarks.push({ level: 'warning', about: `--upload-file ${path}`, message, at: upload.at });
    return { body: { kind: 'file', path, withoutNewlines: false }, method: named('PUT'), contentType: null };
  }
  if (forms.length > 0) {
    return { body: { kind: 'form', parts: readForms(forms, remarks) }, method: named('POST'), contentType: null };
  }
  const none: RequestBody = { kind: 'none' };
  if (data.length === 0 || get) return { body: none, method: named(head ? 'HEAD' : 'GET'), contentType: null };
  const contentType = 'application/x-www-form-urlencoded';
  return { body: bodyOfData(data, remarks), method: named('POST'), contentType };
}

function addresses(word: Given, globOff: boolean, remarks: Remark[]): readonly string[] {
  if (globOff) return [word.text];
  const globbed = expandGlob(word.text);
  if (globbed.kind === 'urls') return globbed.urls;
  const about = variablesInBraces(word.text);
  remarks.push({ level: 'warning', about, message: `The URL is used literally: ${globbed.why}`, at: word.at });
  return [globbed.url];
}

function composeUrl(parts: UrlParts, operation: Operation, at: number, remarks: Remark[]): UrlParts {
  const path = encodeNonAscii(operation.pathAsIs ? parts.path : withoutDotSegments(parts.path));
  let made: UrlParts = { ...parts, path };
  if (operation.get && operation.data.length > 0) made = withData(made, joinText(operation.data) ?? '');
  for (const piece of operation.get ? operation.data : []) {
    if (piece.kind === 'file') remarks.push(fileInAddress(`${piece.option} @${piece.path}`, piece.at));
  }
  for (const { piece, text } of operation.queries) {
    if (piece.kind === 'text') made = withQuery(made, piece.text);
    else remarks.push(fileInAddress(`--url-query ${variablesInBraces(text)}`, piece.at));
  }
  const { upload } = operation;
  if (upload !== null && (made.path === '' || made.path.endsWith('/'))) {
    const file = upload.text.split('/').at(-1) ?? '';
    made = { ...made, path: `${made.path === '' ? '/' : made.path}${file === '-' ? '' : file}` };
  }
  if (parts.fragment !== '') {
    const about = variablesInBraces(parts.fragment);
    const message = `${about} was left out: what follows # is never sent`;
    remarks.push({ level: 'note', about, message, at });
  }
  return made;
}

/** Without its variables, which NUL marks. */
function literalText(parts: UrlParts): string {
  return joinUrl(parts).replace(/\0[^\0]*\0/g, '');
}

function hasControl(parts: UrlParts): boolean {
  return [...literalText(parts)].some((char) => char < ' ' || char === '\x7f');
}

function withoutBlanks(made: UrlParts, at: number, remarks: Remark[]): UrlParts {
  if (!literalText(made).includes(' ')) return made;
  const message = 'Blanks in the address became %20; curl refuses them';
  remarks.push({ level: 'warning', about: 'URL', message, at });
  const clean = (text: string): string => mapAroundVariables(text, (part) => part.replaceAll(' ', '%20'));
  return { ...made, path: clean(made.path), query: clean(made.query), host: clean(made.host) };
}

/** `-G`: like `withQuery`, but empty data is joined too, as curl does. */
function withData(parts: UrlParts, data: string): UrlParts {
  const { query } = parts;
  const joins = data === '' && query.length > 1 && !query.endsWith('&');
  return joins ? { ...parts, query: `${query}&` } : withQuery(parts, data);
}

function fileInAddress(about: string, at: number): Remark {
  return leftOut(about, at, 'a file cannot be part of the address');
}

function authOf(operation: Operation, { user, password }: UrlParts, remarks: Remark[]): UserAuth | null {
  const kind = operation.authScheme;
  if (kind === 'other') return null;
  if (operation.headers.some(({ text }) => /^authorization\s*[:;]/i.test(text))) return null;
  const given = operation.user;
  if (given === null && user === null) return null;
  const [, name = '', separator = null, secret = ''] = /^([^:]*)(:)?([\s\S]*)$/.exec(given?.text ?? '') ?? [];
  if (given !== null && separator === null) {
    const message = '--user has no password: curl would ask for it; it is empty now';
    remarks.push({ level: 'warning', about: '--user', message, at: given.at });
  }
  if (given !== null) return { kind, username: variablesInBraces(name), password: variablesInBraces(secret) };
  return { kind, username: variablesInBraces(user ?? ''), password: variablesInBraces(password ?? '') };
}

function nameOf(method: string, { host, path }: UrlParts): string {
  const shown = variablesInBraces(path === '' || path === '/' ? host + path : path);
  return `${method} ${shown.length > 80 ? `${shown.slice(0, 79)}…` : shown}`;
}

function leftOut(about: string, at: number, why: string): Remark {
  return { level: 'warning', about, message: `${about} was left out: ${why}`, at };
}
