import { CommandBuilder } from './command-builder.js';
import type { Fault, ShellScript } from './shell-command.js';
import { markVariable } from './source-text.js';

/** A command line after cmd.exe has taken its carets away; the piece at `starts[i]` of it stood at `offsets[i]`. */
interface CommandLine {
  readonly text: string;
  readonly starts: readonly number[];
  readonly offsets: readonly number[];
  /** Its output goes into the next one. */
  readonly piped: boolean;
}

/**
 * Reads a paste as cmd.exe and the C runtime of curl.exe do, one after the other: cmd takes carets, `%NAME%`, operators
 * and line continuations; what it hands on is split by the C runtime's rules for backslashes and double quotes.
 */
export function readCmd(bytes: string): ShellScript {
  const builder = new CommandBuilder();
  const fromBrowser = bytes.includes('^"');
  for (const line of commandLines(bytes)) {
    builder.endCommand(splitArguments(line, builder, fromBrowser), { piped: line.piped });
  }
  return { commands: builder.commands, assigned: new Map() };
}

const PLAIN = /[^^"%&|<>\r\n]+/y;
const SPECIAL = new Set('^"%&|<>\r\n');
const VARIABLE = /%([A-Za-z_][A-Za-z0-9_]*)%/y;
const NEW_LINE = /\r?\n|\r/y;
const CONTINUATION = /\^[ \t]*(?:\r?\n|\r)/y;
const REDIRECT = /\d?(?:>>?|<)(?:&\d|[ \t]*(?:"[^"\r\n]*"|[^\s&|<>]*))/y;

/** cmd's own layer. Newlines inside double quotes are kept, though cmd could not: texts were pasted, not typed. */
function* commandLines(bytes: string): Generator<CommandLine> {
  let text: string[] = [];
  let length = 0;
  let starts: number[] = [];
  let offsets: number[] = [];
  let quoted = false;
  let at = 0;
  const put = (part: string, from: number): void => {
    text.push(part);
    starts.push(length);
    offsets.push(from);
    length += part.length;
  };
  const match = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    return pattern.exec(bytes)?.[0] ?? null;
  };
  const end = (pipes: boolean): CommandLine => {
    const line = { text: text.join(''), starts, offsets, piped: pipes };
    text = [];
    length = 0;
    starts = [];
    offsets = [];
    quoted = false;
    return line;
  };
  while (at < bytes.length) {
    const char = bytes[at] ?? '';
    const plain = SPECIAL.has(char) ? null : match(PLAIN);
    if (plain !== null) {
      put(plain, at);
      at += plain.length;
      continue;
    }
    const continuation = quoted || char !== '^' ? null : match(CONTINUATION);
    const variable = char === '%' ? variableAt(bytes, at) : null;
    if (continuation !== null) {
      at += continuation.length;
      // What follows a continuation is taken as it is, a second new line too: so browsers write new lines.
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
 * `%NAME%`, unless the percent signs look like the percent-encoding of an address: a name that no variable of the machine
 * has stays as it stands in cmd too.
 */
function variableAt(bytes: string, at: number): string | null {
  VARIABLE.lastIndex = at;
  const name = VARIABLE.exec(bytes)?.[1];
  if (name === undefined) return null;
  const encoded = /^[0-9a-f]{2}/i.test(name) && /^[0-9a-f]{2}/i.test(bytes.slice(at + name.length + 2));
  return encoded || /^[0-9a-f]{2}$/i.test(name) ? null : name;
}

/** `&` and `|` between commands; inside a word they are what an address has. */
function isSeparator(bytes: string, at: number): boolean {
  if (bytes[at] !== '&' && bytes[at] !== '|') return false;
  const around = `${bytes[at - 1] ?? ' '}${bytes[at + 1] ?? ' '}`;
  return /[\s&|"]/.test(around);
}

/**
 * The C runtime's rules: 2n backslashes before a quote are n backslashes and the quote counts, 2n + 1 are n and the quote
 * is data; two quotes inside a quoted part are one that is data. Browsers double every backslash, not only those before
 * quotes, which the C runtime would leave doubled: in what they write (`^"`), pairs are one everywhere.
 */
function splitArguments(
  { text, starts, offsets }: CommandLine,
  builder: CommandBuilder,
  fromBrowser: boolean,
): Fault | null {
  const pieces = /(\\*)"|\\+|[^\s\\"]+|\s+/g;
  let quoteAt = -1;
  let part = 0;
  for (let found = pieces.exec(text); found !== null; found = pieces.exec(text)) {
    const [piece, slashes] = found;
    while ((starts[part + 1] ?? Number.POSITIVE_INFINITY) <= found.index) part += 1;
    const offset = (offsets[part] ?? 0) + found.index - (starts[part] ?? 0);
    const inside = quoteAt !== -1;
    if (slashes !== undefined) {
      builder.add('\\'.repeat(slashes.length >> 1), offset, true);
      if (slashes.length % 2 === 1) builder.add('"', offset, true);
      else if (inside && text[pieces.lastIndex] === '"') {
        builder.add('"', offset, true);
        pieces.lastIndex += 1;
      } else quoteAt = inside ? -1 : offset;
    } else if (/^\s/.test(piece) && !inside) builder.endWord();
    else if (fromBrowser && piece.startsWith('\\') && piece.length % 2 === 0) {
      builder.add(piece.slice(piece.length / 2), offset, inside);
    } else builder.add(piece, offset, inside);
  }
  return quoteAt === -1 ? null : { message: 'A double quote is never closed', at: quoteAt };
}
