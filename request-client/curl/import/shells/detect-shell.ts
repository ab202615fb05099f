export type ShellKind = 'posix' | 'cmd' | 'powershell';

const WEB_REQUEST =
  /^[ \t]*(?:PS [^>\n]*>[ \t]*)?(?:\$\w+[ \t]*=[ \t]*)?(?:invoke-(?:webrequest|restmethod)|iwr|irm)[ \t]/im;
const POWERSHELL_START = /^[ \t]*(?:PS [A-Za-z]:[^>\n]*>|\$\w+[ \t]*=[ \t]*(?:@|new-object|["']))/im;
const CMD_PROMPT = /^[A-Za-z]:\\[^>\n]*>/m;
/**
 * Skips quoted text, so that a body does not matter, and pairs of backticks on a line, which are no continuations. The
 * first branches are signs of POSIX shells.
 */
const QUOTED_OR_SIGN =
  /(\$'(?:[^'\\]|\\[\s\S])*'|\\[ \t]*\r?$|<<-?[ \t]*\\?["']?\w+)|((?<=\s)'[^']*')|'[^']*'|\\[\s\S]|`[^`\r\n]+`|(\^"|\^[ \t]*\r?$)|"(?:[^"\\]|\\[\s\S])*"|((?<!`)`[ \t]*\r?$)/gm;

/**
 * Detects the shell of a pasted text. Only unambiguous signs decide for Windows: carets before quotes or line ends,
 * backticks at line ends, PowerShell's own commands, prompts. `curl.exe` means Windows, and PowerShell if arguments are
 * in single quotes.
 */
export function detectShell(bytes: string): ShellKind {
  return windowsSign(bytes) ?? 'posix';
}

/** A sign of a shell. Single quotes are no sure one: they speak against cmd only. */
export interface ShellSign {
  readonly shell: ShellKind;
  readonly sure: boolean;
}

/** The sign that a text has; null if every shell may read it. */
export function shellSign(bytes: string): ShellSign | null {
  const windows = windowsSign(bytes);
  if (windows !== null) return { shell: windows, sure: true };
  let sign: ShellSign | null = null;
  for (const [, sure, single] of bytes.matchAll(QUOTED_OR_SIGN)) {
    if (sure !== undefined) return { shell: 'posix', sure: true };
    if (single !== undefined) sign = { shell: 'posix', sure: false };
  }
  return sign;
}

function windowsSign(bytes: string): 'cmd' | 'powershell' | null {
  if (WEB_REQUEST.test(bytes) || POWERSHELL_START.test(bytes)) return 'powershell';
  if (CMD_PROMPT.test(bytes)) return 'cmd';
  for (const [, posix, , caret, backtick] of bytes.matchAll(QUOTED_OR_SIGN)) {
    if (posix?.startsWith('<<') === true) return null;
    if (caret !== undefined) return 'cmd';
    if (backtick !== undefined) return 'powershell';
  }
  if (/\$env:\w/i.test(bytes)) return 'powershell';
  if (/^[ \t]*curl\.exe[ \t]/m.test(bytes) && !/\\[ \t]*\r?$/m.test(bytes)) {
    return /(?:^|\s)@?'/.test(bytes.replace(/"(?:[^"\\]|\\[\s\S])*"/g, '')) ? 'powershell' : 'cmd';
  }
  return null;
}
