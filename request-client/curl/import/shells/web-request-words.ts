import type { Remark, Word } from '../shell-command.js';
import { stringsIn } from './powershell-strings.js';
import { type PowerShellToken, readPowerShellTokens } from './powershell-tokens.js';

/** What `$session` adds to a request. */
export interface WebSession {
  userAgent: string | null;
  readonly cookies: string[];
}

interface Scope {
  /** Variables that contain a hash table or an expression. */
  readonly values: ReadonlyMap<string, PowerShellToken>;
  readonly sessions: ReadonlyMap<string, WebSession>;
  readonly remarks: Remark[];
}

const SWITCHES = /^-(?:usebasicparsing|skipcertificatecheck|allowunencryptedauthentication|passthru|verbose)$/i;

/** The curl command that is equivalent to an `Invoke-WebRequest`. */
export function webRequestWords(tokens: readonly PowerShellToken[], scope: Scope): Word[] {
  const first = tokens[0]?.start ?? 0;
  const words: Word[] = [{ text: 'curl', start: first, bare: false }];
  const put = (start: number, ...texts: string[]): void => {
    for (const text of texts) words.push({ text, start, bare: false });
  };
  let method = 'GET';
  for (let i = 1; i < tokens.length; i += 1) {
    const token = tokens[i];
    if (token === undefined) break;
    const name = token.kind === 'word' ? token.text.toLowerCase() : '';
    if (!/^-[a-z]/.test(name)) {
      put(token.start, '--url', textOf(token));
      continue;
    }
    if (SWITCHES.test(name)) {
      if (name === '-skipcertificatecheck') put(token.start, '--insecure');
      continue;
    }
    i += 1;
    const value = resolve(tokens[i], scope);
    if (value === undefined) {
      scope.remarks.push(leftOut(token.start, name));
      break;
    }
    switch (name) {
      case '-uri':
        put(token.start, '--globoff', '--url', textOf(value));
        break;
      case '-method':
        method = textOf(value);
        put(token.start, '--request', method.toUpperCase());
        break;
      case '-headers':
        for (const header of headersOf(value)) put(value.start, '--header', header);
        break;
      case '-contenttype':
        put(token.start, '--header', `Content-Type: ${textOf(value)}`);
        break;
      case '-useragent':
        put(token.start, '--user-agent', textOf(value));
        break;
      case '-websession':
        putSession(token.start, value, scope, put);
        break;
      case '-body':
        if (/^(?:get|head)$/i.test(method)) put(token.start, '--get');
        put(value.start, '--data-raw', textOf(value));
        break;
      case '-maximumredirection':
        if (textOf(value) !== '0') put(token.start, '--location');
        break;
      default:
        scope.remarks.push(leftOut(token.start, `${name} ${textOf(value)}`));
    }
  }
  return words;
}

function putSession(
  start: number,
  value: PowerShellToken,
  scope: Scope,
  put: (at: number, ...t: string[]) => void,
): void {
  const name = value.kind === 'word' ? value.text.replaceAll('\0', '') : '';
  const session = scope.sessions.get(name);
  if (session === undefined) {
    scope.remarks.push(leftOut(start, `-WebSession $${name}`));
    return;
  }
  if (session.userAgent !== null) put(start, '--user-agent', session.userAgent);
  if (session.cookies.length > 0) put(start, '--cookie', session.cookies.join('; '));
}

function resolve(token: PowerShellToken | undefined, { values }: Scope): PowerShellToken | undefined {
  if (token?.kind !== 'word' || !token.bare) return token;
  return values.get(token.text.replaceAll('\0', '')) ?? token;
}

/** A word's text; for an expression the first string in it, for example the argument of `GetBytes(...)`. */
function textOf(token: PowerShellToken): string {
  return token.kind === 'word' ? token.text : (stringsIn(token.inner)[0] ?? '');
}

/** `@{ "name" = "value"; ... }` as header lines. */
function headersOf(token: PowerShellToken): string[] {
  if (token.kind === 'word') return [];
  return readPowerShellTokens(token.inner, 'expression').flatMap(({ tokens: [name, value] }) => {
    if (name?.kind !== 'word' || value === undefined) return [];
    const text = textOf(value);
    return [text === '' ? `${name.text};` : `${name.text}: ${text}`];
  });
}

function leftOut(at: number, about: string): Remark {
  return { level: 'warning', about, message: `${about} was left out: it has no counterpart here`, at };
}
