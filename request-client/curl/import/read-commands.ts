import type { MappedText } from './mapped-text.js';
import { withoutPrompts } from './prompts.js';
import type { Remark, ShellScript } from './shell-command.js';
import { detectShell, type ShellKind, shellSign } from './shells/detect-shell.js';
import { readDoubledQuotes } from './shells/doubled-quotes.js';
import { readCmd } from './shells/read-cmd.js';
import { readPosix } from './shells/read-posix.js';
import { readPowerShell } from './shells/read-powershell.js';
import type { Snippet } from './snippets.js';
import { isTypographic, withStraightQuotes } from './straight-quotes.js';

/** Commands of one shell; their offsets are those of `text`. */
export interface ReadCommands {
  readonly text: MappedText;
  readonly script: ShellScript;
}

const READERS: Readonly<Record<ShellKind, (bytes: string) => ShellScript>> = {
  posix: readPosix,
  cmd: readCmd,
  powershell: readPowerShell,
};
const START =
  /^[ \t]*(?:[^\n"'`]{0,80}[$#%>][ \t]*)?(?:curl(?:\.exe)?|invoke-(?:webrequest|restmethod)|iwr|irm)[ \t]/gim;

/** Reads a snippet as its shell does: the given one, or the one that its signs and its mark say. `remarks` have source offsets. */
export function readCommands(snippet: Snippet, given: ShellKind | undefined, remarks: Remark[]): ReadCommands[] {
  const { text: whole } = snippet;
  const straight = isTypographic(whole.bytes)
    ? withStraightQuotes(whole, given ?? detectShell(whole.bytes), remarks)
    : whole;
  const parts = given === undefined ? partsByShell(straight) : [straight];
  return parts.map((part) => {
    const shell = given ?? shellOf(part, snippet.marked, remarks);
    const text = withoutPrompts(part, remarks);
    return { text, script: READERS[shell](text.bytes) };
  });
}

function shellOf(text: MappedText, marked: ShellKind | null, remarks: Remark[]): ShellKind {
  const { bytes } = text;
  const sign = shellSign(bytes);
  if (sign !== null && sign.shell !== 'posix') return agreed(sign.shell, marked, remarks, text);
  if (marked === 'powershell' && sign?.sure !== true) return marked;
  if (marked === 'cmd' && sign === null) return marked;
  const doubled = readDoubledQuotes(bytes, marked);
  if (doubled !== null) {
    const { shell, at, message } = doubled;
    remarks.push({ level: 'warning', about: '""', message, at: text.offsetOf(at) });
    return shell;
  }
  return agreed('posix', marked, remarks, text);
}

const NAMES: Readonly<Record<ShellKind, string>> = { posix: 'bash', cmd: 'cmd', powershell: 'PowerShell' };

function agreed(shell: ShellKind, marked: ShellKind | null, remarks: Remark[], text: MappedText): ShellKind {
  if (marked === null || marked === shell) return shell;
  const message = `The code block is marked as ${NAMES[marked]}, but its commands are written for ${NAMES[shell]} and are read so`;
  remarks.push({ level: 'warning', about: NAMES[marked], message, at: text.offsetOf(0) });
  return shell;
}

/** Several commands may be for several shells; a part ends where the next sign is another one's. */
function partsByShell(text: MappedText): MappedText[] {
  const { bytes } = text;
  const starts = [...bytes.matchAll(START)].map(({ index }) => index);
  if (starts.length < 2 || starts.length > MAX_PARTS) return [text];
  const parts: { from: number; shell: ShellKind | null }[] = [];
  for (const [index, at] of starts.entries()) {
    const from = index === 0 ? 0 : at;
    const command = bytes.slice(from, starts[index + 1]);
    const shell = shellSign(command)?.shell ?? readDoubledQuotes(command, null)?.shell ?? null;
    const last = parts.at(-1);
    if (last === undefined) parts.push({ from, shell });
    else if (last.shell === null) last.shell = shell;
    else if (shell !== null && shell !== last.shell) parts.push({ from, shell });
  }
  const texts = parts.map(({ from }, index) => text.slice(from, parts[index + 1]?.from ?? bytes.length));
  const whole = texts.every((part, index) =>
    READERS[parts[index]?.shell ?? 'posix'](part.bytes).commands.every(({ fault }) => fault === null),
  );
  return parts.length > 1 && whole ? texts : [text];
}

/** In a longer text all commands are read alike. */
const MAX_PARTS = 200;
