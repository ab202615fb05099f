import { assertNever } from '../../base/assert-never.js';
import type { ShellKind } from '../curl-import/shells/detect-shell.js';

/** A variable of a collection, as a shell's own where its name allows. */
const VARIABLE = /\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}/g;

/** One argument as the shell wants it written. `{{NAME}}` becomes the shell's variable. */
export function quote(text: string, shell: ShellKind): string {
  const parts = text.split(VARIABLE);
  switch (shell) {
    case 'posix':
      return joined(parts, posixQuoted, (name) => `"\${${name}}"`);
    case 'cmd':
      return `^"${parts.map((part, index) => (index % 2 === 0 ? cmdEscaped(part) : `%${part}%`)).join('')}^"`;
    case 'powershell': {
      if (parts.length === 1) return `'${powerShellEscaped(text).replaceAll("'", "''")}'`;
      const doubled = (part: string): string => powerShellEscaped(part).replace(/[`$"]/g, '`$&');
      return `"${parts.map((part, index) => (index % 2 === 0 ? doubled(part) : `\${${part}}`)).join('')}"`;
    }
    default:
      return assertNever(shell);
  }
}

function joined(
  parts: readonly string[],
  literal: (text: string) => string,
  variable: (name: string) => string,
): string {
  const made = parts
    .map((part, index) => (index % 2 === 1 ? variable(part) : part === '' ? '' : literal(part)))
    .join('');
  return made === '' ? "''" : made;
}

function posixQuoted(text: string): string {
  if (/^[A-Za-z0-9_./:@%+=,-]+$/.test(text)) return text;
  if (!/[^\n\t\x20-\x7e\u00a0-\uffff]/.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  return ansiC(Buffer.from(text, 'utf8'));
}

/** `$'...'`, for bytes that a text cannot hold. Octal, since a hexadecimal escape has no end in some shells. */
export function ansiC(bytes: Buffer): string {
  const written = bytes.toString('latin1').replace(/[^\x20-\x7e]|['\\]/g, (char) => {
    if (char === "'" || char === '\\') return `\\${char}`;
    return `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`;
  });
  return `$'${written}'`;
}

/** For the C runtime first, then for cmd. What browsers do: every backslash is doubled, new lines are `^` and two of them. */
function cmdEscaped(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replace(/[^A-Za-z0-9\s_\-:=+~'/.,?;*]/gu, '^$&')
    .replace(/%(?=[A-Za-z0-9_])/g, '%^')
    .replace(/\r?\n|\r/g, '^\n\n');
}

/** Windows PowerShell hands quotes on as they are, to be read by the C runtime's rules. */
function powerShellEscaped(text: string): string {
  return text.replace(/(\\*)"/g, '$1$1\\"');
}
