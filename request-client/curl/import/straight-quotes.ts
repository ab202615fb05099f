import type { Edit, MappedText } from './mapped-text.js';
import { optionOfName } from './options.js';
import type { Remark } from './shell-command.js';
import type { ShellKind } from './shells/detect-shell.js';
import { toBytes, toText } from './source-text.js';

/** One of several characters, as UTF-8. */
function oneOf(chars: string): string {
  return `(?:${[...chars].map((char) => toBytes(char).replace(/["']/g, '\\$&')).join('|')})`;
}

const DOUBLE = oneOf('“”„‟«»″＂');
const SINGLE = oneOf('‘’‚‛‹›′´＇');
const DASH = oneOf('‐‑‒–—―−﹣－');
const BLANK = oneOf('\u00a0\u2002\u2003\u2007\u2009\u202f\u3000');
const NEW_LINE = oneOf('\u2028\u2029');
/** Characters that nobody sees; the joiners of emoji and of some scripts only next to ASCII. */
const INVISIBLE = oneOf('\u00ad\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\ufeff');
const JOINER = `(?<![\\x80-\\xff])${oneOf('\u200c\u200d')}|${oneOf('\u200c\u200d')}(?![\\x80-\\xff])`;
const ANY = new RegExp([DOUBLE, SINGLE, DASH, BLANK, NEW_LINE, INVISIBLE, JOINER].join('|'));

/** What a shell quotes, escapes or ignores: nothing in there is changed. */
const LITERAL: Readonly<Record<ShellKind, RegExp>> = {
  posix:
    /\$'(?:[^'\\]|\\[\s\S])*'|'[^']*'|\\[\s -~]|(?<![^\s;])#[^\n]*|<<-?[ \t]*["']?(\w+)["']?[\s\S]*?(?:\n\t*\1(?=\r?\n|$)|$)/y,
  cmd: /\^?\\"|\^[\s -~]/y,
  powershell: /@'[\s\S]*?\n'@|@"[\s\S]*?\n"@|'(?:[^']|'')*'|`[\s -~]|(?<![^\s;])#[^\n]*/y,
};
const IN_DOUBLE: Readonly<Record<ShellKind, RegExp>> = {
  posix: /"(?:[^"\\]|\\[\s\S])*"/y,
  cmd: /\^?"(?:[^"\\]|\\[\s\S])*"/y,
  powershell: /"(?:[^"`]|`[\s\S]|"")*"/y,
};
const PLAIN = /[^\xc2\xe2\xe3\xef\\'"`^#$<@]+/y;
/** What may stand before the opening quote of an argument: nothing, an option's letter, or a sign. */
const BEFORE_QUOTE = new RegExp(`(?:^|[\\s=({:,[]|${BLANK}|[\\s]-[A-Za-z]|${DASH}[A-Za-z])$`);
/** What may follow the closing quote of an argument. */
const AFTER_QUOTE = `(?=(?:${BLANK}|${INVISIBLE})*(?:[\\s;&|)\\\\^\`]|${NEW_LINE}|$))`;
/** The end of an argument for certain: the next option, or the end of the line. */
const AFTER_ARGUMENT = `(?=(?:[ \\t]|${BLANK})*(?:(?:[ \\t]|${BLANK})(?:-|${DASH})+[A-Za-z]|(?:[ \\t]|${BLANK})["']?https?:|[\\\\^\`]?[ \\t]*\\r?(?:\\n|$)))`;

const OF_KIND = { '"': new RegExp(DOUBLE, 'y'), "'": new RegExp(SINGLE, 'y') } as const;
const CLOSES = {
  '"': new RegExp(`${DOUBLE}${AFTER_QUOTE}`, 'g'),
  "'": new RegExp(`${SINGLE}${AFTER_QUOTE}`, 'g'),
} as const;
const END_OF_ARGUMENT = new RegExp(AFTER_ARGUMENT, 'y');
const CLOSED_WRONG = new RegExp(`"[^"\\\\]*?(${DOUBLE})${AFTER_ARGUMENT}`, 'y');
const ESCAPED = new RegExp(`\\\\(?:${DOUBLE}|${SINGLE})`, 'y');
const ONE_DASH = new RegExp(DASH, 'y');
const OPTION_DASH = new RegExp(`(?:-|${DASH}){0,4}${DASH}(?:-|${DASH}){0,4}(?=[A-Za-z]|[:#]\\s)`, 'y');
const BEFORE_OPTION = new RegExp(`(?:^|\\s|${BLANK}|${INVISIBLE}|${NEW_LINE})$`);
const REPLACED = {
  line: new RegExp(NEW_LINE, 'y'),
  blank: new RegExp(BLANK, 'y'),
  invisible: new RegExp(`${INVISIBLE}|${JOINER}`, 'y'),
} as const;

/**
 * The text with the quotes, dashes and spaces that word processors and web pages put in the place of a shell's own. Quoted
 * text is data and stays as it is. Each kind of change is one warning.
 */
export function withStraightQuotes(text: MappedText, shell: ShellKind, remarks: Remark[]): MappedText {
  return new Straightener(text, shell, remarks).straightened();
}

/** Whether a text has any character that {@link withStraightQuotes} may change. */
export function isTypographic(bytes: string): boolean {
  return ANY.test(bytes);
}

/** Closing quotes that are looked at before an argument counts as never closed. */
const MAX_NESTED = 1000;

class Straightener {
  readonly #text: MappedText;
  readonly #bytes: string;
  readonly #shell: ShellKind;
  readonly #remarks: Remark[];
  readonly #edits: Edit[] = [];
  readonly #told = new Set<string>();
  /** Kinds of quotes of which one is never closed, so that no later one is. */
  readonly #open = new Set<string>();
  #at = 0;

  constructor(text: MappedText, shell: ShellKind, remarks: Remark[]) {
    this.#text = text;
    this.#bytes = text.bytes;
    this.#shell = shell;
    this.#remarks = remarks;
  }

  straightened(): MappedText {
    while (this.#at < this.#bytes.length) this.#step();
    return this.#text.edited(this.#edits);
  }

  #step(): void {
    if (this.#skip(PLAIN) || this.#skip(LITERAL[this.#shell]) || this.#straightDouble()) return;
    if (this.#argument('"') || this.#argument("'")) return;
    if (this.#dash()) return;
    if (this.#replace(REPLACED.line, '\n', 'line') || this.#replace(REPLACED.blank, ' ', 'blank')) return;
    if (this.#replace(REPLACED.invisible, '', 'invisible')) return;
    if (this.#escapedQuote()) return;
    this.#at += 1;
  }

  /** An ASCII quote. One that another character closes is mended, if what follows leaves no doubt. */
  #straightDouble(): boolean {
    if (!/["^]/.test(this.#bytes[this.#at] ?? '')) return false;
    const whole = this.#match(IN_DOUBLE[this.#shell]);
    const open = this.#at;
    const wrong = CLOSED_WRONG;
    wrong.lastIndex = open;
    const found = wrong.exec(this.#bytes);
    const close = found?.[1];
    if (found !== null && close !== undefined && isUnpaired(found[0].slice(1, -close.length))) {
      const end = open + found[0].length;
      this.#edit(end - close.length, end, '"', 'quotes', close);
      this.#at = end;
      return true;
    }
    if (whole === null) return false;
    this.#at += whole.length;
    return true;
  }

  #argument(quote: '"' | "'"): boolean {
    const opening = this.#match(OF_KIND[quote]);
    if (opening === null) return false;
    const start = this.#at;
    this.#at += opening.length;
    if (!BEFORE_QUOTE.test(this.#bytes.slice(Math.max(0, start - 5), start))) return true;
    if (this.#open.has(quote)) return true;
    const closing = this.#closing(quote, this.#at);
    if (closing === null) {
      this.#open.add(quote);
      const about = toText(opening);
      const message = `${about} looks like a quote that is never closed; it is kept as written`;
      this.#remarks.push({ level: 'warning', about, message, at: this.#text.offsetOf(start) });
      return true;
    }
    const content = this.#bytes.slice(this.#at, closing.at);
    this.#edit(start, closing.at + closing.length, quoted(content, quote, this.#shell), 'quotes', opening);
    this.#at = closing.at + closing.length;
    return true;
  }

  /** The quote that closes an argument: of the same kind, or an ASCII one if the argument has no other. */
  #closing(quote: '"' | "'", from: number): { at: number; length: number } | null {
    const same = CLOSES[quote];
    same.lastIndex = from;
    let found = same.exec(this.#bytes);
    for (let tries = 0; found !== null && nests(this.#bytes.slice(from, found.index)); tries += 1) {
      found = tries < MAX_NESTED ? same.exec(this.#bytes) : null;
    }
    const ascii = this.#bytes.indexOf(quote, from);
    if (ascii !== -1 && (found === null || ascii < found.index)) {
      const after = END_OF_ARGUMENT;
      after.lastIndex = ascii + 1;
      const lineEnd = this.#bytes.indexOf('\n', from);
      const inLine = lineEnd === -1 || lineEnd > ascii;
      if (inLine && after.test(this.#bytes)) return { at: ascii, length: 1 };
    }
    return found === null ? null : { at: found.index, length: found[0].length };
  }

  /** A backslash before a quote that was not typed. */
  #escapedQuote(): boolean {
    const found = this.#match(ESCAPED);
    if (found === null) return false;
    const char = found.slice(1);
    const quote = new RegExp(`^${DOUBLE}`).test(char) ? '"' : "'";
    this.#edit(this.#at, this.#at + found.length, `\\${quote}`, 'quotes', char);
    this.#at += found.length;
    return true;
  }

  #dash(): boolean {
    const found = this.#match(OPTION_DASH);
    if (found === null) return this.#skip(ONE_DASH);
    const before = this.#bytes.slice(Math.max(0, this.#at - 3), this.#at);
    const start = this.#at;
    this.#at += found.length;
    if (!BEFORE_OPTION.test(before)) return true;
    const name = /[\w.-]*/y;
    name.lastIndex = this.#at;
    const long = this.#isLong(found, name.exec(this.#bytes)?.[0] ?? '');
    this.#edit(start, this.#at, long ? '--' : '-', 'dash', found);
    return true;
  }

  /** Word processors make a dash of two hyphens as well; a long option's name decides. */
  #isLong(dashes: string, name: string): boolean {
    if ([...toText(dashes)].length > 1) return true;
    if (this.#shell === 'powershell' && /(?:invoke-|iwr|irm)/i.test(this.#bytes)) return false;
    const option = name.length > 2 ? optionOfName(name)?.option.name : undefined;
    return option === name || option === name.replace(/^no-/, '');
  }

  #replace(chars: RegExp, text: string, kind: 'line' | 'blank' | 'invisible'): boolean {
    const found = this.#match(chars);
    if (found === null) return false;
    this.#edit(this.#at, this.#at + found.length, text, kind, found);
    this.#at += found.length;
    return true;
  }

  #edit(from: number, to: number, text: string, kind: keyof typeof MESSAGES, char: string): void {
    this.#edits.push({ from, to, text });
    if (this.#told.has(kind)) return;
    this.#told.add(kind);
    const shown = kind === 'quotes' || kind === 'dash' ? toText(char) : codeOf(toText(char));
    const message = `${shown} ${MESSAGES[kind]}`;
    this.#remarks.push({ level: 'warning', about: shown, message, at: this.#text.offsetOf(from) });
  }

  #skip(pattern: RegExp): boolean {
    const found = this.#match(pattern);
    if (found === null || found === '') return false;
    this.#at += found.length;
    return true;
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#bytes)?.[0] ?? null;
  }
}

const MESSAGES = {
  quotes: 'and its like are read as straight quotes',
  dash: 'is read as the hyphens of an option',
  line: 'is read as a line break',
  blank: 'is read as a space',
  invisible: 'is an invisible character; it was left out',
} as const;

function codeOf(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Whether a quote was opened in the text and not closed. */
function nests(bytes: string): boolean {
  const text = toText(bytes);
  const opened = text.match(/(?<=[\s{[:,(]|^)[“«„‘‚‹]/gu)?.length ?? 0;
  const closed = text.match(/[”»’›](?=[\s}\]:,)]|$)/gu)?.length ?? 0;
  return opened > closed;
}

/** Whether quotes of the other kind in a text do not belong together, so that one more closes the argument. */
function isUnpaired(bytes: string): boolean {
  return (bytes.match(new RegExp(DOUBLE, 'g'))?.length ?? 0) % 2 === 0;
}

/** An argument in straight quotes. Quotes inside of it that were changed with it are straight as well. */
function quoted(content: string, quote: '"' | "'", shell: ShellKind): string {
  const straight = content.replace(new RegExp(DOUBLE, 'g'), '"');
  if (quote === "'" && shell !== 'cmd') return `'${straight.replaceAll("'", shell === 'powershell' ? "''" : "'\\''")}'`;
  if (shell === 'powershell')
    return `"${straight.replace(/(`?)"/g, (_all, tick: string) => (tick === '' ? '""' : '`"'))}"`;
  return `"${straight.replace(/(\\?)"/g, '\\"')}"`;
}
