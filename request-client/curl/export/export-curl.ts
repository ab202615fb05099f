import { assertNever } from '#troupe/base/assert-never.js';
import type { FormPart, RequestDraft } from '../../engine/request.js';
import { encodeForUrl } from '../../engine/url-encoding.js';
import type { CurlView } from '../../protocol/request-window.js';
import type { ShellKind } from '../import/shells/detect-shell.js';
import { ansiC, quote } from './quote.js';

const CONTINUATION: Readonly<Record<ShellKind, string>> = { posix: ' \\\n  ', cmd: ' ^\n  ', powershell: ' `\n  ' };

/**
 * The curl command for a request. Importing it gives the same request. Contains only tokens that the request itself
 * contains.
 */
export function exportCurl(request: RequestDraft, shell: ShellKind): CurlView {
  const warnings: string[] = [];
  const word = (text: string): string => quote(text, shell);
  const { method, url, headers, withoutHeaders, auth, settings, body } = request;
  const globs = /[[\]{}\\]/.test(url.replace(/\{\{[^{}]*\}\}/g, ''));
  const parts = [word(settings.encodeUrl ? encodedUrl(url) : url)];
  if (globs) parts.push('--globoff');
  const sends = body.kind !== 'none';
  if (method === 'HEAD' && !sends) parts.push('--head');
  else if (method !== (sends ? 'POST' : 'GET')) parts.push(`--request ${word(method)}`);
  for (const { name, value } of headers)
    parts.push(`--header ${word(value === '' ? `${name};` : `${name}: ${value}`)}`);
  const typed = headers.some(({ name }) => name.toLowerCase() === 'content-type');
  const untyped = sends && body.kind !== 'form' && !typed && !withoutHeaders.includes('content-type');
  for (const name of untyped ? [...withoutHeaders, 'Content-Type'] : withoutHeaders) {
    parts.push(`--header ${word(`${name}:`)}`);
  }
  if (auth?.kind === 'digest') parts.push('--digest');
  if (auth !== null) parts.push(`--user ${word(`${auth.username}:${auth.password}`)}`);
  if (settings.followRedirects) parts.push(settings.keepAuthorization === true ? '--location-trusted' : '--location');
  if (settings.followRedirects && settings.keepMethod === true && method === 'POST') {
    parts.push('--post301', '--post302', '--post303');
  }
  if (!settings.verifyTls) parts.push('--insecure');
  if (settings.httpVersion !== undefined) parts.push(settings.httpVersion === 'http1' ? '--http1.1' : '--http2');
  parts.push(...bodyOptions(request, shell, warnings));
  const program = shell === 'posix' ? 'curl' : 'curl.exe';
  return { command: `${program} ${parts.join(CONTINUATION[shell])}`, warnings };
}

function bodyOptions({ body }: RequestDraft, shell: ShellKind, warnings: string[]): string[] {
  const word = (text: string): string => quote(text, shell);
  switch (body.kind) {
    case 'none':
      return [];
    case 'text':
      if (shell === 'cmd' && /\r|[^\n\x20-\x7e\u00a0-\uffff]/.test(body.text)) {
        warnings.push('cmd does not support control characters: those of the body are changed');
      }
      return [`--data-raw ${word(body.text)}`];
    case 'bytes': {
      const bytes = Buffer.from(body.base64, 'base64');
      if (shell === 'posix' && !bytes.includes(0)) return [`--data-raw ${ansiC(bytes)}`];
      warnings.push('The body is binary and cannot be part of a command: write it to the file body.bin first');
      return [`--data-binary ${word('@body.bin')}`];
    }
    case 'file':
      return [`${body.withoutNewlines ? '--data' : '--data-binary'} ${word(`@${body.path}`)}`];
    case 'form':
      return body.parts.map((part) => formOption(part, word));
    default:
      return assertNever(body);
  }
}

function formOption(part: FormPart, word: (text: string) => string): string {
  const type = part.type === undefined ? '' : `;type=${part.type}`;
  if (part.kind === 'file') {
    const filename = part.filename === undefined ? '' : `;filename=${inQuotes(part.filename)}`;
    return `--form ${word(`${part.name}=@${inQuotes(part.path)}${type}${filename}`)}`;
  }
  if (type === '') return `--form-string ${word(`${part.name}=${part.value}`)}`;
  return `--form ${word(`${part.name}=${inQuotes(part.value)}${type}`)}`;
}

/** curl's own quotes inside `-F`. */
function inQuotes(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

/** As the client would send it, with variables kept. */
function encodedUrl(url: string): string {
  return url
    .split(/(\{\{[^{}]*\}\})/)
    .map((part, index) => (index % 2 === 1 ? part : encodeForUrl(part)))
    .join('');
}
