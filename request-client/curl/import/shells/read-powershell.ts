import type { Remark, ShellCommand, ShellScript, Word } from '../shell-command.js';
import { isJson } from './is-json.js';
import { stringsIn } from './powershell-strings.js';
import { type PowerShellStatement, type PowerShellToken, readPowerShellTokens } from './powershell-tokens.js';
import { type WebSession, webRequestWords } from './web-request-words.js';

/** PowerShell's own commands for requests, with their aliases. `curl` is one of them in PowerShell 5. */
const WEB_REQUEST = /^(?:invoke-webrequest|invoke-restmethod|iwr|irm)$/i;
const CURL = /^curl$/i;
const WEB_REQUEST_OPTION = /^-(?:uri|headers|method|body|usebasicparsing|contenttype|websession)$/i;

/**
 * Reads a pasted text as PowerShell does. `Invoke-WebRequest` and its relatives, which browsers copy, become the
 * equivalent curl command.
 */
export function readPowerShell(bytes: string): ShellScript {
  const commands: ShellCommand[] = [];
  const assigned = new Map<string, string>();
  const values = new Map<string, PowerShellToken>();
  const sessions = new Map<string, WebSession>();
  for (const statement of readPowerShellTokens(bytes)) {
    if (rememberAssignment(statement, values, assigned, sessions)) continue;
    const { tokens, fault, piped } = statement;
    const remarks: Remark[] = statement.unresolved.map(({ text, at }) => unresolved(text, at));
    const name = textOf(tokens[0]);
    const isWebRequest =
      WEB_REQUEST.test(name) ||
      (CURL.test(name) && tokens.some((token) => token.kind === 'word' && WEB_REQUEST_OPTION.test(token.text)));
    const words = isWebRequest ? webRequestWords(tokens, { values, sessions, remarks }) : nativeWords(tokens, remarks);
    commands.push({ words, stdin: { kind: 'none' }, remarks, fault, piped });
  }
  return { commands, assigned };
}

/**
 * Arguments as a program gets them: Windows PowerShell passes `\\"` on to the program, which reads it by the rules of
 * the C runtime.
 */
function nativeWords(tokens: readonly PowerShellToken[], remarks: Remark[]): Word[] {
  return tokens.map((token) => {
    if (token.kind === 'word') {
      const text = asProgramReads(token.text);
      if (!isDoubledJson(text)) return { ...token, text };
      const message =
        '"" in the JSON is read as one quote, as Windows PowerShell passes it on; newer versions pass on both';
      remarks.push({ level: 'warning', about: '""', message, at: token.start });
      return { ...token, text: text.replaceAll('""', '"') };
    }
    const text = `${token.open}${token.inner}${token.open.endsWith('(') ? ')' : '}'}`;
    if (token.open !== '{') remarks.push(unresolved(text, token.start));
    return { text, start: token.start, bare: false };
  });
}

/** 2n backslashes before a quote are n, 2n + 1 are n as well: the quote is data. */
function asProgramReads(text: string): string {
  // By far the most frequent, and a megabyte of it takes a tenth of the time.
  if (!/\\{2,}"/.test(text)) return text.replaceAll('\\"', '"');
  return text.replace(/(\\+)"/g, (_all, slashes: string) => `${'\\'.repeat(slashes.length >> 1)}"`);
}

/** JSON only if every `""` is one quote. */
function isDoubledJson(text: string): boolean {
  return /^\s*[{[]/.test(text) && text.includes('""') && !isJson(text) && isJson(text.replaceAll('""', '"'));
}

function unresolved(text: string, at: number): Remark {
  const message = `${text} is evaluated by PowerShell, which does not run here; it is kept as written`;
  return { level: 'warning', about: text, message, at };
}

const VARIABLE = /^\0([^\0]*)\0$/;
const USER_AGENT = /^\0([^\0]*)\0\.UserAgent$/i;
const ADD_COOKIE = /^\0([^\0]*)\0\.Cookies\.Add$/i;

/** `$name = value`, `$session.UserAgent = value`, `$session.Cookies.Add(...)`. */
function rememberAssignment(
  { tokens }: PowerShellStatement,
  values: Map<string, PowerShellToken>,
  assigned: Map<string, string>,
  sessions: Map<string, WebSession>,
): boolean {
  const [target, equals, value] = tokens;
  const cookieOf = ADD_COOKIE.exec(textOf(target))?.[1];
  if (cookieOf !== undefined && equals?.kind === 'group') {
    const [name, content] = stringsIn(equals.inner);
    if (name !== undefined) sessionOf(sessions, cookieOf).cookies.push(`${name}=${content ?? ''}`);
    return true;
  }
  if (textOf(equals) !== '=' || value === undefined) return false;
  const agentOf = USER_AGENT.exec(textOf(target))?.[1];
  if (agentOf !== undefined) {
    sessionOf(sessions, agentOf).userAgent = textOf(value);
    return true;
  }
  const name = VARIABLE.exec(textOf(target))?.[1];
  if (name === undefined) return false;
  if (/^new-object$/i.test(textOf(value))) sessionOf(sessions, name);
  else if (value.kind === 'group') values.set(name, value);
  else assigned.set(name, value.text);
  return true;
}

function sessionOf(sessions: Map<string, WebSession>, name: string): WebSession {
  const known = sessions.get(name);
  if (known !== undefined) return known;
  const fresh: WebSession = { userAgent: null, cookies: [] };
  sessions.set(name, fresh);
  return fresh;
}

function textOf(token: PowerShellToken | undefined): string {
  return token?.kind === 'word' ? token.text : '';
}
