import { assertNever } from '#troupe/base/assert-never.js';
import type { ShellKind } from '../import/shells/detect-shell.js';

/** A variable of a collection whose name is also valid for a shell variable. */
const VARIABLE = /\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}/g;

/** Quotes one argument for the shell. `{{NAME}}` becomes the shell's variable. */
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

/**
 * `$'...'`, for bytes that text cannot represent. Octal, since a hexadecimal escape has no fixed end in some shells.
 */
export function ansiC(bytes: Buffer): string {
  const written = bytes.toString('latin1').replace(/[^\x20-\x7e]|['\\]/g, (char) => {
    if (char === "'" || char === '\\') return `\\${char}`;
    return `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`;
  });
  return `$'${written}'`;
}

/**
 * Escapes for the C runtime first, then for cmd, as browsers do: every backslash is doubled, and a line break is `^`
 * and two of them.
 */
function cmdEscaped(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replace(/[^A-Za-z0-9\s_\-:=+~'/.,?;*]/gu, '^$&')
    .replace(/%(?=[A-Za-z0-9_])/g, '%^')
    .replace(/\r?\n|\r/g, '^\n\n');
}

/** Windows PowerShell passes quotes on unchanged, and the program reads them by the rules of the C runtime. */
function powerShellEscaped(text: string): string {
  return text.replace(/(\\*)"/g, '$1$1\\"');
}
