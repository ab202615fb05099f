import { assertNever } from '#troupe/base/assert-never.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import { basic } from '../../engine/basic-auth.js';
import type { HeaderEntry, RequestBody, RequestDraft } from '../../engine/request.js';
import { encodeForUrl } from '../../engine/url-encoding.js';
import type { CodeLanguage } from '../../protocol/request-exports.js';
import type { CurlView } from '../../protocol/request-window.js';
import { skeletonOf } from './code-library.js';
import { type LiteralKind, literal } from './code-literal.js';

/** The library's name of each language and of the client in it, and how texts are written there. */
const LANGUAGES: Readonly<Record<CodeLanguage, readonly [language: string, client: string, kind: LiteralKind]>> = {
  javascript: ['javascript', 'fetch', 'javascript'],
  node: ['node', 'axios', 'javascript'],
  python: ['python', 'requests', 'python'],
  go: ['go', 'native', 'go'],
  java: ['java', 'okhttp', 'java'],
  kotlin: ['kotlin', 'okhttp', 'kotlin'],
  csharp: ['csharp', 'httpclient', 'csharp'],
  php: ['php', 'curl', 'php'],
  ruby: ['ruby', 'native', 'ruby'],
  rust: ['rust', 'reqwest', 'rust'],
  swift: ['swift', 'urlsession', 'swift'],
  c: ['c', 'libcurl', 'c'],
};

/**
 * The code that sends a request, in one language. The library writes the program around placeholders, and the values are
 * put in here: the library itself decodes addresses, reorders their parameters, and does not escape all characters.
 */
export function exportCode(request: RequestDraft, language: CodeLanguage): CurlView {
  const warnings: string[] = [];
  const [target, client, kind] = LANGUAGES[language];
  const values: string[] = [];
  const placeholder = (value: string): string => `troupe-value-${values.push(value)}-`;
  const headers = mergedHeaders(request, warnings).map(({ name, value }) => ({ name, value: placeholder(value) }));
  // Some languages set the type of the body apart from the headers.
  const mediaType = headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? 'text/plain';
  const body = bodyText(request.body, warnings);
  if (!request.settings.verifyTls) warnings.push('The code checks certificates, which this request does not');
  // An address, since the library parses it.
  const url = `https://${placeholder(encodeForUrl(request.url.replace(/'/g, '%27')))}.example/`;
  const skeleton = skeletonOf(
    { method: request.method, url, headers, mediaType, body: body === null ? null : placeholder(body) },
    target,
    client,
    // In C#, only Parse takes a media type with parameters.
  ).replace('new MediaTypeHeaderValue(', 'MediaTypeHeaderValue.Parse(');
  const used = new Set<number>();
  const command = skeleton.replace(
    /(["'])(?:https:\/\/|([\w-]+: ))?troupe-value-(\d+)-(?:\.example\/?)?\1/g,
    (_, quotes: string, header: string | undefined, index: string) => {
      used.add(Number(index));
      return literal(`${header ?? ''}${values[Number(index) - 1] ?? ''}`, quotes, kind);
    },
  );
  // Better no code than code that sends something else.
  if (used.size < values.length || command.includes('troupe-value-'))
    throw new TroupeError('INTERNAL', `The request cannot be written in ${language}; copy it as curl instead`);
  return { command, warnings };
}

/** Names that stand in code without quotes must be plain; equal names become one header, as HTTP allows. */
function mergedHeaders({ headers, auth }: RequestDraft, warnings: string[]): HeaderEntry[] {
  const made = new Map<string, HeaderEntry>();
  if (auth?.kind === 'basic') made.set('authorization', { name: 'Authorization', value: basic(auth) });
  else if (auth !== null) warnings.push(`${auth.kind} authorization needs two requests and is not part of the code`);
  for (const { name, value } of headers) {
    if (!/^[\w-]+$/.test(name)) {
      warnings.push(`The header '${name}' cannot be written and is left out`);
      continue;
    }
    const key = name.toLowerCase();
    const before = made.get(key);
    const separator = key === 'cookie' ? '; ' : ', ';
    made.set(key, before === undefined ? { name, value } : { ...before, value: `${before.value}${separator}${value}` });
  }
  return [...made.values()];
}

function bodyText(body: RequestBody, warnings: string[]): string | null {
  switch (body.kind) {
    case 'none':
      return null;
    case 'text':
      return body.text;
    case 'bytes':
      warnings.push('The body is binary and cannot be part of the code: read it from a file');
      return 'BODY';
    case 'file':
      warnings.push(`The body is the file ${body.path}: read it where the code has BODY`);
      return 'BODY';
    case 'form':
      warnings.push('Multipart forms are not part of the code: build the form where the code has BODY');
      return 'BODY';
    default:
      return assertNever(body);
  }
}
