import type { ShellScript } from '../shell-command.js';
import type { ShellKind } from './detect-shell.js';
import { isJson } from './is-json.js';
import { isOldFirefox } from './old-firefox.js';
import { readCmd } from './read-cmd.js';
import { readPosix } from './read-posix.js';
import { readPowerShell } from './read-powershell.js';

/** Which shell a text with `""` inside of quotes is for, and what the user is told. */
export interface DoubledQuotes {
  readonly shell: ShellKind;
  /** The offset of the first argument that another shell would read differently. */
  readonly at: number;
  readonly message: string;
}

/** Quoted text of a POSIX shell; the last branch has the pairs. */
const QUOTED = /\$?'(?:[^'\\]|\\[\s\S])*'|\\[\s\S]|"(?:[^"\\]|\\[\s\S]){0,100000}"(?=("?))/g;
/** What stands outside of quotes in a POSIX shell, and in no other. */
const POSIX_SIGN = /\\[ \t]*\r?\n|\$\(|<<|\$'/;
/** An expansion between two quoted parts: `"Bearer ""$TOKEN"`. */
const JOINT = /""\$[\w{(]|\$\w+""|\$\{[^}]*\}""|\$\([^)]*\)""/g;
const DATA = /^(?:-d|--data(?:-\w+)?|--json)$/;

/**
 * cmd and PowerShell read `""` inside of double quotes as one quote, POSIX shells as nothing. Decides what a text means
 * that has no other sign of its shell: JSON that only one of the readings makes, then what quotes are for. Null if all
 * read the same.
 */
export function readDoubledQuotes(bytes: string, marked: ShellKind | null): DoubledQuotes | null {
  if (!hasPairs(bytes)) return null;
  const signs = outsideQuotes(bytes);
  const single = signs.includes("'");
  // In the query of GraphQL, $name is no variable.
  const windows = !isOldFirefox(bytes) && (single || /\$(?:[A-Z_]{2,}\b|\{|env:)/.test(bytes)) ? 'powershell' : 'cmd';
  const posix = readPosix(bytes);
  const doubled = windows === 'cmd' ? readCmd(bytes) : readPowerShell(bytes);
  const at = firstDifference(posix, doubled);
  if (at === null) return null;
  const [kept, meant] = [brokenJson(posix), brokenJson(doubled)];
  if (POSIX_SIGN.test(signs)) {
    const loss = kept > 0 || !onlyJoints(bytes);
    return loss ? { shell: 'posix', at, message: LOST } : null;
  }
  if (meant > kept || onlyJoints(bytes)) return null;
  if ((single || marked === 'posix') && meant === kept) return { shell: 'posix', at, message: LOST };
  const name = windows === 'cmd' ? 'cmd' : 'PowerShell';
  return {
    shell: windows,
    at,
    message: `"" inside of quotes is read as one quote, as ${name} does; in bash it is nothing`,
  };
}

const LOST = '"" inside of quotes is nothing, as bash reads it; if the command is for Windows, quotes are missing here';

/** A quote that follows a closing quote, inside of an argument. */
function hasPairs(bytes: string): boolean {
  for (const [text, next] of bytes.matchAll(QUOTED)) if (text.startsWith('"') && next === '"') return true;
  return false;
}

/** The text without what is quoted; a single-quoted part leaves its quote. */
function outsideQuotes(bytes: string): string {
  return bytes.replace(QUOTED, (text) => (text.startsWith("'") ? "'" : text.startsWith('"') ? '' : text.slice(0, 2)));
}

function onlyJoints(bytes: string): boolean {
  return !hasPairs(bytes.replace(JOINT, (joint) => joint.replace('""', '')));
}

function firstDifference(one: ShellScript, other: ShellScript): number | null {
  const [left, right] = [one, other].map(({ commands }) => commands.flatMap(({ words }) => words));
  for (const [index, word] of (left ?? []).entries()) {
    if (right?.[index]?.text !== word.text) return word.start;
  }
  return null;
}

/** How many bodies begin like JSON and are none; variables count as values. */
function brokenJson({ commands }: ShellScript): number {
  const words = commands.flatMap((command) => command.words.map(({ text }) => text));
  return words.filter((text, index) => {
    return DATA.test(words[index - 1] ?? '') && /^\s*[{[]/.test(text) && !isJson(text);
  }).length;
}
