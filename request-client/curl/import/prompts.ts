import type { Edit, MappedText } from './mapped-text.js';
import { OpenQuotes } from './open-quotes.js';
import type { Remark } from './shell-command.js';

const CURL =
  /(?:(?:sudo|time|command|env|exec)[ \t]+)*(?:(?:export[ \t]+)?[A-Za-z_]\w*=|(?:(?:echo|printf|cat)\b[^\n]*\|[ \t]*)?(?:[\w./~-]*\/)?curl(?:\.exe)?(?:[ \t\r\n\\^`]|$))/
    .source;
/** Prompts that are nothing else: with a user, a host, a folder, or an arrow. */
const NAMED = new RegExp(
  `^[ \\t]*(?:` +
    `(?:\\([\\w./ -]+\\)[ \\t]*)?(?:\\[[^\\]\\n"']{1,80}\\]|[\\w.-]+@[^\\n"'$#%>]{1,80}?|[\\w.-]+:[^\\n"'$#%>]{0,80}?|[~/][\\w./~-]*|(?:ba|z|k)?sh(?:-[\\d.]+)?)[ \\t]?[$#%>]` +
    `|\\([\\w./ -]+\\)[ \\t]*[$#%>]` +
    // Arrows, a lambda, a guillemet, in UTF-8.
    `|(?:\\xe2\\x9e[\\x9c\\xa4]|\\xe2\\x9d\\xaf|\\xe2\\x86\\x92|\\xce\\xbb|\\xc2\\xbb)(?:[ \\t]+[^\\n"'\`]{1,60}?)?` +
    `)[ \\t]+(?=${CURL})`,
  'y',
);
/** A sign before a command, or the mark of a list. */
const SIGN = new RegExp(`^[ \\t]*(?:[$%>]|[-*+]|\\xe2\\x80\\xa2|\\d{1,3}[.)])[ \\t]+(?=${CURL})`, 'y');
const ROOT = new RegExp(`^[ \\t]*#[ \\t]+(?=${CURL})`, 'y');
const WINDOWS = /^[ \t]*(?:\([\w.-]+\)[ \t]*)?(?:PS(?:[ \t][^>\n]*)?>[ \t]?|[A-Za-z]:\\[^>\n]*>[ \t]?)/y;
const COMMAND = new RegExp(`^[ \\t]*(?=${CURL})`, 'y');
const CONTINUED = /^(?:>{1,2}|(?:quote|dquote|bquote|pipe|cmdand|cmdor|heredoc|cursh|subsh)>|More\?)(?:[ \t]|(?=\r?$))/;
const UNFINISHED = /[\\^`][ \t]*\r?$/;

/** The text without the prompts that were copied with its commands, also those of lines that continue a command. */
export function withoutPrompts(text: MappedText, remarks: Remark[]): MappedText {
  const { bytes } = text;
  const starts = lineStarts(bytes);
  if (!/^[ \t]*(?:[$%>#*+([~/\d\x80-\xff-]|[\w.-]+[@:$#%]|PS|\w{4,7}>|More\?|k?z?b?a?sh)/m.test(bytes)) return text;
  const edits: Edit[] = [];
  const root = !starts.some((at) =>
    [NAMED, SIGN, WINDOWS, COMMAND].some((pattern) => matches(pattern, bytes, at) >= 0),
  );
  let command: Command | null = null;
  for (const at of starts) {
    const line = bytes.slice(at, lineEnd(bytes, at));
    const unfinished: boolean = command?.isUnfinished === true;
    const length: number = unfinished ? 0 : promptLength(line, root);
    if (command !== null && unfinished) {
      const named = Math.max(0, matches(NAMED, line, 0));
      const mark = named > 0 ? named : (CONTINUED.exec(line)?.[0].length ?? 0);
      if (named > 0) command = new Command(true);
      else if (mark > 0 && !isContinuation(line.slice(mark), command)) {
        command.add(line);
        continue;
      } else if (mark > 0 && !command.prompted && !command.goesOn) {
        remarks.push(removed(text.offsetOf(at), line.slice(0, mark)));
      }
      if (mark > 0) edits.push({ from: at, to: at + mark, text: '' });
      command.add(line.slice(mark));
    } else if (length > 0 || matches(COMMAND, line, 0) > -1) {
      if (length > 0) edits.push({ from: at, to: at + length, text: '' });
      command = new Command(length > 0);
      command.add(line.slice(length));
    }
  }
  return edits.length === 0 ? text : text.edited(edits);
}

/** The lines of a command so far, without prompts. */
class Command {
  readonly #quotes = new OpenQuotes();
  #last = '';

  constructor(readonly prompted: boolean) {}

  add(line: string): void {
    this.#quotes.readLine(line);
    this.#last = line;
  }

  /** The last line ends with the character that continues it. */
  get goesOn(): boolean {
    return UNFINISHED.test(this.#last);
  }

  get isUnfinished(): boolean {
    return this.goesOn || this.#quotes.isOpen;
  }
}

/** A redirection looks the same as a prompt, except behind a prompt of the first line. */
function isContinuation(rest: string, { prompted, goesOn }: Command): boolean {
  return prompted || !goesOn || /^[ \t]*(?:-[-A-Za-z#:]|["']|https?:)/.test(rest);
}

function removed(at: number, mark: string): Remark {
  const about = mark.trim();
  const message = `${about} at the beginning of lines was taken for a prompt and left out`;
  return { level: 'warning', about, message, at };
}

/** `# ` is a prompt only where no other command is: else it begins a comment. */
function promptLength(line: string, root: boolean): number {
  const patterns = root ? [NAMED, SIGN, WINDOWS, ROOT] : [NAMED, SIGN, WINDOWS];
  return Math.max(0, ...patterns.map((pattern) => matches(pattern, line, 0)));
}

/** The length of a match at the beginning of a line, or -1. */
function matches(pattern: RegExp, bytes: string, at: number): number {
  pattern.lastIndex = 0;
  return pattern.exec(at === 0 ? bytes : bytes.slice(at, lineEnd(bytes, at) + 1))?.[0].length ?? -1;
}

function lineStarts(bytes: string): number[] {
  const starts = [0];
  for (let at = bytes.indexOf('\n'); at !== -1; at = bytes.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function lineEnd(bytes: string, at: number): number {
  const end = bytes.indexOf('\n', at);
  return end === -1 ? bytes.length : end;
}
