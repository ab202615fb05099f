import { CommandBuilder } from '../command-builder.js';
import type { Fault, Remark, ShellScript } from '../shell-command.js';
import { markVariable } from '../source-text.js';
import { isOldFirefox } from './old-firefox.js';
import { readPlaceholder } from './placeholders.js';

/** A part of a command line as in the pasted text; if `escaped`, its carets were removed in the command line. */
interface Piece {
  readonly written: string;
  readonly escaped: boolean;
  /** In the command line, and in the pasted text. */
  readonly start: number;
  readonly offset: number;
}

/** A command line after cmd.exe has removed its carets. */
interface CommandLine {
  readonly text: string;
  readonly pieces: readonly Piece[];
  /** Its output goes to the next command. */
  readonly piped: boolean;
  readonly remarks: readonly Remark[];
}

/**
 * Reads a pasted text as cmd.exe and the C runtime of curl.exe do, one after the other: cmd handles carets, `%NAME%`,
 * operators and line continuations; the C runtime splits the rest by its rules for backslashes and double quotes.
 */
export function readCmd(bytes: string): ShellScript {
  const builder = new CommandBuilder();
  const fromBrowser = bytes.includes('^"') || isOldFirefox(bytes);
  for (const line of commandLines(bytes)) {
    for (const remark of line.remarks) builder.remark(remark);
    builder.endCommand(splitArguments(line, builder, fromBrowser), { piped: line.piped });
  }
  return { commands: builder.commands, assigned: new Map() };
}

const PLAIN = /[^^"%&|<>\r\n]+/y;
/**
 * Outside of quotes; a caret before a space may be a continuation. Bounded, since each repetition costs the matcher
 * stack.
 */
const ESCAPED = /(?:\^[^ \t\r\n]|[^^"%&|<>\r\n]){1,10000}/y;
const VARIABLE = /%([A-Za-z_][A-Za-z0-9_]*)%/y;
const NEW_LINE = /\r?\n|\r/y;
const CONTINUATION = /\^[ \t]*(?:\r?\n|\r)/y;
const UNQUOTED = /(\\*)"|\\+|[^\s\\"]+|\s+/y;
const QUOTED = /(\\*)"|\\+/y;
/**
 * An argument as Chrome copied it for cmd before it escaped the outer quotes: inside of them, a caret is before each
 * character that is not in its list, and before a letter or digit that follows a percent sign.
 */
const OLD_CHROME = /"(?:[\w\s\-:=+~'/.,?;()*`]|\^%\^?|\^[^\w\s]){0,10000}"(?=[ \t\r\n]|$)/y;
/** Present in each such command with a quoted value. Typed text has a caret there only by accident. */
const OLD_CHROME_MARK = /(?<![\^\\])"[^"\r\n]*\^\\\^"/;
/** Inside of quotes, up to the closing quote: an odd number of backslashes makes a quote data. */
const DATA = /(?:[^\\"]|\\(?:\\\\)*"|\\+(?![\\"])){1,10000}/y;
const [CARET, BACKSLASH, QUOTE] = [0x5e, 0x5c, 0x22];
const REDIRECT = /\d?(?:>>?|<)(?:&\d|[ \t]*(?:"[^"\r\n]*"|[^\s&|<>]*))/y;

/** cmd's own layer. Line breaks inside double quotes are kept, unlike in cmd: the text was pasted, not typed. */
function* commandLines(bytes: string): Generator<CommandLine> {
  let text: string[] = [];
  let length = 0;
  let pieces: Piece[] = [];
  let remarks: Remark[] = [];
  let quoted = false;
  let at = 0;
  const oldChrome = OLD_CHROME_MARK.test(bytes);
  const put = (part: string, offset: number, written = part): void => {
    text.push(part);
    pieces.push({ written, escaped: part.length !== written.length, start: length, offset });
    length += part.length;
  };
  const match = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    return pattern.exec(bytes)?.[0] ?? null;
  };
  const end = (pipes: boolean): CommandLine => {
    const line = { text: text.join(''), pieces, piped: pipes, remarks };
    text = [];
    remarks = [];
    length = 0;
    pieces = [];
    quoted = false;
    return line;
  };
  while (at < bytes.length) {
    const char = bytes[at] ?? '';
    const written = match(quoted ? PLAIN : ESCAPED);
    if (written !== null) {
      put(quoted ? written : withoutCarets(written), at, written);
      at += written.length;
      continue;
    }
    const old = oldChrome && char === '"' && !quoted ? match(OLD_CHROME) : null;
    if (old !== null) {
      put(withoutCarets(old), at, old);
      at += old.length;
      continue;
    }
    const continuation = quoted || char !== '^' ? null : match(CONTINUATION);
    const placeholder = quoted || char !== '<' ? null : readPlaceholder(bytes, at);
    const variable = char === '%' ? variableAt(bytes, at) : null;
    if (continuation !== null) {
      at += continuation.length;
      // The character after a continuation is literal, including a second line break: that is how browsers write line
      // breaks.
      const newLine = match(NEW_LINE);
      if (newLine !== null) {
        put('\n', at);
        at += newLine.length;
      }
    } else if (char === '^' && !quoted) {
      put(bytes[at + 1] ?? '', at + 1);
      at += 2;
    } else if (char === '"') {
      quoted = !quoted;
      put(char, at);
      at += 1;
    } else if (variable !== null) {
      put(markVariable(variable), at);
      at += variable.length + 2;
    } else if (quoted) {
      put(char, at);
      at += 1;
    } else if (char === '\r' || char === '\n') {
      at += match(NEW_LINE)?.length ?? 1;
      const goesOn = /^[ \t]*-[-A-Za-z#:]/.test(bytes.slice(at, at + 80));
      if (goesOn && text.length > 0) put(' ', at);
      else yield end(false);
    } else if (placeholder !== null) {
      const { text: shown, length: size, about, message } = placeholder;
      remarks.push({ level: 'warning', about, message, at });
      put(shown, at, bytes.slice(at, at + size));
      at += size;
    } else if (char === '<' || char === '>') {
      at += match(REDIRECT)?.length ?? 1;
    } else if (isSeparator(bytes, at)) {
      const double = bytes[at + 1] === char;
      at += double ? 2 : 1;
      yield end(char === '|' && !double);
    } else {
      put(char, at);
      at += 1;
    }
  }
  yield end(false);
}

/**
 * Removes each caret and keeps the character after it. Works on bytes in place: joining half a million strings is slow.
 */
function withoutCarets(written: string): string {
  const bytes = Buffer.from(written, 'latin1');
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === CARET) at += 1;
    bytes[length] = bytes[at] ?? 0;
    length += 1;
  }
  return bytes.toString('latin1', 0, length);
}

/** Maps positions of the command line to the pasted text. Positions are requested in ascending order. */
function offsetsOf(pieces: readonly Piece[]): (index: number) => number {
  let number = 0;
  let index = 0;
  let at = 0;
  return (wanted) => {
    for (let next = pieces[number + 1]; next !== undefined && next.start <= wanted; next = pieces[number + 1]) {
      number += 1;
      index = next.start;
      at = 0;
    }
    const { written, escaped, start, offset } = pieces[number] ?? { written: '', escaped: false, start: 0, offset: 0 };
    if (!escaped) return offset + wanted - start;
    for (; index < wanted; index += 1) at += written[at] === '^' ? 2 : 1;
    return offset + (written[at] === '^' ? at + 1 : at);
  };
}

/**
 * `%NAME%`, unless the percent signs look like percent-encoding: cmd keeps a name without a variable as written, too.
 */
function variableAt(bytes: string, at: number): string | null {
  VARIABLE.lastIndex = at;
  const name = VARIABLE.exec(bytes)?.[1];
  if (name === undefined) return null;
  const encoded = /^[0-9a-f]{2}/i.test(name) && /^[0-9a-f]{2}/i.test(bytes.slice(at + name.length + 2));
  return encoded || /^[0-9a-f]{2}$/i.test(name) ? null : name;
}

/** `&` and `|` between commands; inside a word they belong to a URL. */
function isSeparator(bytes: string, at: number): boolean {
  if (bytes[at] !== '&' && bytes[at] !== '|') return false;
  const around = `${bytes[at - 1] ?? ' '}${bytes[at + 1] ?? ' '}`;
  return /[\s&|"]/.test(around);
}

/** Quoted text without the backslashes that the C runtime removes, or that a browser added. */
function withoutSlashes(data: string, fromBrowser: boolean): string {
  if (!data.includes('\\')) return data;
  const bytes = Buffer.from(data, 'latin1');
  let length = 0;
  for (let at = 0; at < bytes.length; ) {
    let after = at;
    while (bytes[after] === BACKSLASH) after += 1;
    const slashes = after - at;
    const halved = bytes[after] === QUOTE || (fromBrowser && slashes % 2 === 0);
    const kept = halved ? slashes >> 1 : slashes;
    bytes.fill(BACKSLASH, length, length + kept);
    length += kept;
    if (after < bytes.length) bytes[length++] = bytes[after] ?? 0;
    at = after + 1;
  }
  return bytes.toString('latin1', 0, length);
}

/**
 * The C runtime's rules: 2n backslashes before a quote are n backslashes and a real quote, 2n + 1 are n and a literal
 * quote; two quotes inside a quoted part are one literal quote. Browsers double every backslash, not only those before
 * quotes, which the C runtime would keep doubled: in their text (`^"`), each pair is one backslash everywhere.
 */
function splitArguments({ text, pieces }: CommandLine, builder: CommandBuilder, fromBrowser: boolean): Fault | null {
  const offsetOf = offsetsOf(pieces);
  let quoteAt = -1;
  let at = 0;
  while (at < text.length) {
    const inside = quoteAt !== -1;
    DATA.lastIndex = at;
    const data = inside ? DATA.exec(text)?.[0] : undefined;
    if (data !== undefined) {
      builder.add(withoutSlashes(data, fromBrowser), 0, true);
      at += data.length;
      continue;
    }
    const pattern = inside ? QUOTED : UNQUOTED;
    pattern.lastIndex = at;
    const [piece = '', slashes] = pattern.exec(text) ?? [];
    const offset = builder.inWord && slashes === undefined ? 0 : offsetOf(at);
    at += piece.length;
    if (slashes !== undefined) {
      builder.add('\\'.repeat(slashes.length >> 1), offset, true);
      if (slashes.length % 2 === 1) builder.add('"', offset, true);
      else if (inside && text[at] === '"') {
        builder.add('"', offset, true);
        at += 1;
      } else quoteAt = inside ? -1 : offset;
    } else if (!inside && /^\s/.test(piece)) builder.endWord();
    else if (fromBrowser && piece.startsWith('\\') && piece.length % 2 === 0) {
      builder.add(piece.slice(piece.length / 2), offset, inside);
    } else builder.add(piece, offset, inside);
  }
  return quoteAt === -1 ? null : { message: 'A double quote is never closed', at: quoteAt };
}
