export type ShellKind = 'posix' | 'cmd' | 'powershell';

const WEB_REQUEST =
  /^[ \t]*(?:PS [^>\n]*>[ \t]*)?(?:\$\w+[ \t]*=[ \t]*)?(?:invoke-(?:webrequest|restmethod)|iwr|irm)[ \t]/im;
const POWERSHELL_START = /^[ \t]*(?:PS [A-Za-z]:[^>\n]*>|\$\w+[ \t]*=[ \t]*(?:@|new-object|["']))/im;
const CMD_PROMPT = /^[A-Za-z]:\\[^>\n]*>/m;
/** Skips quoted text, so that a body does not matter. */
const QUOTED_OR_SIGN =
  /\$'(?:[^'\\]|\\[\s\S])*'|'[^']*'|\\[\s\S]|(\^"|\^[ \t]*\r?$)|"(?:[^"\\]|\\[\s\S])*"|(`[ \t]*\r?$)/gm;

/**
 * Detects the shell of a pasted text. Only unambiguous signs decide for Windows: carets before quotes or line ends,
 * backticks at line ends, PowerShell's own commands, prompts. `curl.exe` means Windows, and PowerShell if arguments are
 * in single quotes.
 */
export function detectShell(bytes: string): ShellKind {
  if (WEB_REQUEST.test(bytes) || POWERSHELL_START.test(bytes)) return 'powershell';
  if (CMD_PROMPT.test(bytes)) return 'cmd';
  for (const [, caret, backtick] of bytes.matchAll(QUOTED_OR_SIGN)) {
    if (caret !== undefined) return 'cmd';
    if (backtick !== undefined) return 'powershell';
  }
  if (/\$env:\w/i.test(bytes)) return 'powershell';
  if (/^[ \t]*curl\.exe[ \t]/m.test(bytes) && !/\\[ \t]*\r?$/m.test(bytes)) {
    return /(?:^|\s)@?'/.test(bytes.replace(/"(?:[^"\\]|\\[\s\S])*"/g, '')) ? 'powershell' : 'cmd';
  }
  return 'posix';
}
