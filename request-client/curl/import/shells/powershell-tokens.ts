import type { Fault } from '../shell-command.js';
import { markVariable, toBytes } from '../source-text.js';
import { closing } from './posix-expansion.js';

/** A word, or a bracketed part with its text: `(...)`, `@{...}`, `@(...)`, `{...}`. */
export type PowerShellToken =
  | { readonly kind: 'word'; readonly text: string; readonly start: number; readonly bare: boolean }
  | { readonly kind: 'group'; readonly open: string; readonly inner: string; readonly start: number };

export interface PowerShellStatement {
  readonly tokens: readonly PowerShellToken[];
  readonly fault: Fault | null;
  readonly piped: boolean;
  /** Parts that PowerShell would have to evaluate. */
  readonly unresolved: readonly { readonly text: string; readonly at: number }[];
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  e: '\x1b',
};
const PLAIN = /[^\s'"`$;|&(){}#@=,<>]+/y;
const VARIABLE = /\$(?:env:)?(?:\{([^}]+)\}|([A-Za-z_][A-Za-z0-9_]*))/iy;
const CHARACTER = /^\$\(\[char\](?:0x([0-9a-f]+)|(\d+))\)$/i;
const HERE_STRING = /@(['"])[ \t]*\r?\n/y;

/** Splits PowerShell into statements and tokens. In an expression `=` and `,` separate words. */
export function readPowerShellTokens(bytes: string, as: 'command' | 'expression' = 'command'): PowerShellStatement[] {
  return new TokenReader(bytes, as === 'expression').read();
}

class TokenReader {
  readonly #bytes: string;
  readonly #expression: boolean;
  readonly #statements: PowerShellStatement[] = [];
  #tokens: PowerShellToken[] = [];
  #unresolved: { text: string; at: number }[] = [];
  #word: { chunks: string[]; start: number; quoted: boolean } | null = null;
  #piped = false;
  #at = 0;

  constructor(bytes: string, expression: boolean) {
    this.#bytes = bytes;
    this.#expression = expression;
  }

  read(): PowerShellStatement[] {
    while (this.#at < this.#bytes.length) {
      const fault = this.#step(this.#bytes[this.#at] ?? '');
      if (fault !== null) this.#giveUp(fault);
    }
    this.#endStatement(null, false);
    return this.#statements;
  }

  #step(char: string): Fault | null {
    const at = this.#at;
    const here = this.#match(HERE_STRING);
    if (here !== null) return this.#hereString(at, here.includes("'") ? "'" : '"');
    switch (char) {
      case "'":
        return this.#single();
      case '"':
        return this.#double();
      case '`':
        this.#backtick();
        return null;
      case '$':
        this.#variable(false);
        return null;
      case '\n':
        this.#at += 1;
        if (this.#tokens.length === 0 || !/^[ \t]*-[-A-Za-z]/.test(this.#bytes.slice(this.#at, this.#at + 80))) {
          this.#endStatement(null, false);
        } else this.#endWord();
        return null;
      case ';':
        this.#at += 1;
        this.#endStatement(null, false);
        return null;
      case '|':
        this.#at += 1;
        this.#endStatement(null, true);
        return null;
      case '(':
      case '{':
        return this.#group(char);
      case '#':
        if (this.#word !== null) break;
        while (this.#at < this.#bytes.length && this.#bytes[this.#at] !== '\n') this.#at += 1;
        return null;
      case '=':
      case ',':
        if (!this.#expression) break;
        this.#endWord();
        this.#at += 1;
        return null;
      case '@':
        if (this.#word !== null || !/[({]/.test(this.#bytes[at + 1] ?? '')) break;
        this.#at += 1;
        return this.#group(`@${this.#bytes[at + 1] ?? ''}`);
      default:
        if (!/\s/.test(char)) break;
        this.#at += 1;
        this.#endWord();
        return null;
    }
    const plain = this.#match(PLAIN);
    if (plain !== null) this.#add(plain, at, false);
    else this.#take(false);
    return null;
  }

  #single(): Fault | null {
    const start = this.#at;
    for (let from = start + 1; ; ) {
      const end = this.#bytes.indexOf("'", from);
      if (end === -1) return { message: 'A single quote is never closed', at: start };
      this.#add(this.#bytes.slice(from, end), start, true);
      this.#at = end + 1;
      if (this.#bytes[end + 1] !== "'") return null;
      this.#add("'", start, true);
      from = end + 2;
    }
  }

  #double(): Fault | null {
    const start = this.#at;
    const plain = /[^"`$]+/y;
    this.#add('', start, true);
    this.#at += 1;
    while (this.#at < this.#bytes.length) {
      const at = this.#at;
      const text = this.#match(plain);
      if (text !== null) {
        this.#add(text, at, true);
        continue;
      }
      const char = this.#bytes[at];
      if (char === '`') this.#escape();
      else if (char === '$') this.#variable(true);
      else if (this.#bytes[at + 1] === '"') {
        this.#add('"', at, true);
        this.#at += 2;
      } else {
        this.#at += 1;
        return null;
      }
    }
    return { message: 'A double quote is never closed', at: start };
  }

  #escape(): void {
    const unicode = /`u\{([0-9a-fA-F]{1,6})\}/y;
    const at = this.#at;
    const found = this.#match(unicode);
    if (found !== null) {
      const point = parseInt(found.slice(3, -1), 16);
      this.#add(point > 0x10_ffff ? '' : toBytes(String.fromCodePoint(point)), at, true);
      return;
    }
    const next = this.#bytes[at + 1] ?? '';
    this.#add(ESCAPES[next] ?? next, at, true);
    this.#at += 2;
  }

  #backtick(): void {
    const continuation = /`[ \t]*\r?\n/y;
    if (this.#match(continuation) !== null) this.#endWord();
    else this.#escape();
  }

  #variable(quoted: boolean): void {
    const at = this.#at;
    VARIABLE.lastIndex = at;
    const [all, braced, plain] = VARIABLE.exec(this.#bytes) ?? [];
    const name = (braced ?? plain)?.replace(/^env:/i, '');
    if (all !== undefined && name !== undefined) {
      this.#add(markVariable(name), at, quoted);
      this.#at += all.length;
      return;
    }
    const end = this.#bytes[at + 1] === '(' ? closing(this.#bytes, at + 1, '(', ')') : -1;
    if (end === -1) {
      this.#take(quoted);
      return;
    }
    const text = this.#bytes.slice(at, end);
    const [, hex, decimal] = CHARACTER.exec(text) ?? [];
    const unit = hex !== undefined ? parseInt(hex, 16) : Number(decimal);
    this.#at = end;
    if (Number.isNaN(unit)) {
      this.#unresolved.push({ text, at });
      this.#add(text, at, quoted);
    } else this.#addUnit(unit, at);
  }

  /** UTF-16 units, as in `[char]`: the halves of a pair follow one another. */
  #addUnit(unit: number, at: number): void {
    const next = /\$\(\[char\](\d+)\)/iy;
    next.lastIndex = this.#at;
    const low = /^[\ud800-\udbff]/.test(String.fromCharCode(unit)) ? Number(next.exec(this.#bytes)?.[1]) : Number.NaN;
    if (Number.isNaN(low)) this.#add(toBytes(String.fromCharCode(unit)), at, true);
    else {
      this.#add(toBytes(String.fromCharCode(unit, low)), at, true);
      this.#at = next.lastIndex;
    }
  }

  #hereString(start: number, quote: "'" | '"'): Fault | null {
    const end = this.#bytes.indexOf(`\n${quote}@`, this.#at - 1);
    if (end === -1) return { message: 'A here-string is never closed', at: start };
    const text = this.#bytes.slice(this.#at, Math.max(this.#at, end)).replace(/\r$/, '');
    if (quote === "'") this.#add(text, start, true);
    else {
      const [statement] = readPowerShellTokens(`"${text.replaceAll('"', '""')}"`);
      const [token] = statement?.tokens ?? [];
      this.#add(token?.kind === 'word' ? token.text : text, start, true);
    }
    this.#at = end + 3;
    return null;
  }

  #group(open: string): Fault | null {
    const start = this.#at;
    const bracket = open.at(-1) ?? '(';
    const end = closingBracket(this.#bytes, start, bracket, bracket === '(' ? ')' : '}');
    if (end === -1) return { message: `The bracket ${open} is never closed`, at: start };
    this.#endWord();
    this.#tokens.push({ kind: 'group', open, inner: this.#bytes.slice(start + 1, end - 1), start });
    this.#at = end;
    return null;
  }

  #giveUp(fault: Fault): void {
    this.#endStatement(fault, false);
    const next = /\n[ \t]*(?=curl|invoke-|iwr|irm)/gi;
    next.lastIndex = fault.at;
    this.#at = next.test(this.#bytes) ? next.lastIndex : this.#bytes.length;
  }

  #endWord(): void {
    if (this.#word === null) return;
    const { chunks, start, quoted } = this.#word;
    const text = chunks.join('');
    this.#tokens.push({ kind: 'word', text, start, bare: !quoted && /^\0[^\0]*\0$/.test(text) });
    this.#word = null;
  }

  #endStatement(fault: Fault | null, pipes: boolean): void {
    this.#endWord();
    if (this.#tokens.length > 0 || fault !== null) {
      this.#statements.push({ tokens: this.#tokens, fault, piped: this.#piped, unresolved: this.#unresolved });
    }
    this.#tokens = [];
    this.#unresolved = [];
    this.#piped = pipes;
  }

  #add(text: string, at: number, quoted: boolean): void {
    this.#word ??= { chunks: [], start: at, quoted: false };
    this.#word.chunks.push(text);
    if (quoted) this.#word.quoted = true;
  }

  #take(quoted: boolean): void {
    this.#add(this.#bytes[this.#at] ?? '', this.#at, quoted);
    this.#at += 1;
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#bytes)?.[0] ?? null;
    if (text !== null) this.#at += text.length;
    return text;
  }
}

/** Like `closing`, with PowerShell's quotes and its backtick. */
function closingBracket(bytes: string, at: number, open: string, close: string): number {
  const pieces = /'[^']*'|"(?:[^"`]|`[\s\S])*"|`[\s\S]|[(){}]/g;
  pieces.lastIndex = at;
  let depth = 0;
  for (let found = pieces.exec(bytes); found !== null; found = pieces.exec(bytes)) {
    if (found[0] === open) depth += 1;
    else if (found[0] === close) depth -= 1;
    if (depth === 0) return pieces.lastIndex;
  }
  return -1;
}
