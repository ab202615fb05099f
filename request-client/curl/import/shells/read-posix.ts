import { CommandBuilder } from '../command-builder.js';
import type { Fault, ShellScript } from '../shell-command.js';
import { unescapeAnsiC } from './ansi-c-quotes.js';
import { readPlaceholder } from './placeholders.js';
import { closing, readExpansion } from './posix-expansion.js';

/** Reads a pasted text as bash does, but more tolerantly. See {@link PosixReader}. */
export function readPosix(bytes: string): ShellScript {
  return new PosixReader(bytes).read();
}

/** The target of the current word, if it is not an argument. */
type Target = { readonly kind: 'redirect'; readonly operator: string; readonly at: number } | null;

interface HereDocument {
  readonly end: string;
  readonly literal: boolean;
  readonly stripTabs: boolean;
}

const PLAIN = /[^\s\\'"$`#;&|<>()]+/y;
const IN_DOUBLE = /[^"\\$`]+/y;
const BLANKS = /[ \t\r\f\v]+/y;
const CONTINUATION = /\\([ \t]*)\r?\n/y;
const REDIRECT = /<<<|<<-?|<>|<&|<|&>>|&>|>>|>&|>\||>/y;
/** A prompt that was copied with the command. */
const PROMPT =
  /(?:\$|%|\xe2\x9d\xaf)[ \t]+(?=[A-Za-z-])|>[ \t]+(?=curl\b|-[-A-Za-z:#])|(?:[\w.-]+@[\w.-]+)?:?[~/\w.-]*(?:[$%]|(?<=\S)#)[ \t]+(?=curl\b)/y;

/**
 * POSIX words with bash's `$'..'`, `$".."`, here-documents and here-strings. It tolerates commands that were never run
 * in this form: a line that begins with `-` continues the previous command; spaces may follow the backslash of a
 * continuation; prompts are skipped; `&` and `;` inside a word are data.
 */
class PosixReader {
  readonly #bytes: string;
  readonly #builder = new CommandBuilder();
  readonly #assigned = new Map<string, string>();
  readonly #hereDocuments: HereDocument[] = [];
  #at = 0;
  #target: Target = null;

  constructor(bytes: string) {
    this.#bytes = bytes;
  }

  read(): ShellScript {
    this.#passPrompt();
    while (this.#at < this.#bytes.length) {
      const fault = this.#step();
      if (fault !== null) this.#giveUp(fault);
    }
    this.#endCommand(false);
    return { commands: this.#builder.commands, assigned: this.#assigned };
  }

  #step(): Fault | null {
    const char = this.#bytes[this.#at] ?? '';
    switch (char) {
      case ' ':
      case '\t':
      case '\r':
      case '\f':
      case '\v':
        this.#endWord();
        this.#match(BLANKS);
        return null;
      case '\n':
        this.#newLine();
        return null;
      case '\\':
        this.#backslash();
        return null;
      case "'":
        return this.#single();
      case '"':
        return this.#double(this.#at);
      case '$':
      case '`':
        return this.#dollar();
      case '#':
        if (this.#builder.inWord) this.#take(char, false);
        else this.#at = this.#lineEnd();
        return null;
      case ';':
      case '&':
      case '|':
        this.#separator(char);
        return null;
      case '<':
      case '>':
        this.#redirect();
        return null;
      case '(':
      case ')':
        if (this.#builder.inWord) this.#take(char, false);
        else this.#at += 1;
        return null;
      default: {
        const at = this.#at;
        this.#builder.add(this.#match(PLAIN) ?? this.#one(), at, false);
        return null;
      }
    }
  }

  #single(): Fault | null {
    const end = this.#bytes.indexOf("'", this.#at + 1);
    if (end === -1) return { message: 'A single quote is never closed', at: this.#at };
    this.#builder.add(this.#bytes.slice(this.#at + 1, end), this.#at, true);
    this.#at = end + 1;
    return null;
  }

  #double(open: number): Fault | null {
    this.#builder.add('', open, true);
    this.#at = this.#bytes.indexOf('"', open) + 1;
    while (this.#at < this.#bytes.length) {
      const at = this.#at;
      const plain = this.#match(IN_DOUBLE);
      if (plain !== null) this.#builder.add(plain, at, true);
      const char = this.#bytes[this.#at];
      if (char === '"') {
        this.#at += 1;
        return null;
      }
      if (char === '\\') this.#backslashInDouble();
      else if (char !== undefined) this.#expand(true);
    }
    return { message: 'A double quote is never closed', at: open };
  }

  #backslashInDouble(): void {
    const next = this.#bytes[this.#at + 1] ?? '';
    if (next === '\n') this.#at += 2;
    else if (next === '\r' && this.#bytes[this.#at + 2] === '\n') this.#at += 3;
    else if (next !== '' && '"\\$`'.includes(next)) {
      this.#builder.add(next, this.#at, true);
      this.#at += 2;
    } else this.#take('\\', true);
  }

  #backslash(): void {
    const continued = CONTINUATION;
    continued.lastIndex = this.#at;
    const found = continued.exec(this.#bytes);
    if (found !== null) {
      const at = this.#at;
      this.#at += found[0].length;
      // Spaces after the backslash are a slip; blanks that begin the next line end the word as in any shell.
      if (found[1] !== '' || /[ \t]/.test(this.#bytes[this.#at] ?? '')) this.#endWord();
      else this.#warnOfJoined(at);
      this.#passPrompt();
      return;
    }
    const next = this.#bytes[this.#at + 1];
    if (next !== undefined) this.#builder.add(next, this.#at, true);
    this.#at += 2;
  }

  #warnOfJoined(at: number): void {
    const next = this.#bytes[this.#at] ?? '\n';
    if (!this.#builder.inWord || /[\s\\;&|<>()]/.test(next)) return;
    const message =
      'The two lines were joined without a space, as a shell does; put a space before the backslash to separate them';
    this.#builder.remark({ level: 'warning', about: '\\', message, at });
  }

  #dollar(): Fault | null {
    const next = this.#bytes[this.#at + 1];
    if (this.#bytes[this.#at] === '$' && next === "'") return this.#ansiC();
    if (this.#bytes[this.#at] === '$' && next === '"') return this.#double(this.#at);
    this.#expand(false);
    return null;
  }

  #ansiC(): Fault | null {
    const found = endOfAnsiC(this.#bytes, this.#at + 2);
    if (found === -1) return { message: "The quote that $' opens is never closed", at: this.#at };
    this.#builder.add(unescapeAnsiC(this.#bytes.slice(this.#at + 2, found)), this.#at, true);
    this.#at = found + 1;
    return null;
  }

  #expand(quoted: boolean): void {
    const at = this.#at;
    const expansion = readExpansion(this.#bytes, at);
    if (expansion === null) {
      this.#take(this.#bytes[at] ?? '', quoted);
      return;
    }
    const { text, length, variable, unresolved } = expansion;
    this.#builder.add(text, at, quoted);
    this.#at += length;
    if (variable?.fallback !== undefined && !this.#assigned.has(variable.name)) {
      this.#assigned.set(variable.name, variable.fallback);
    }
    if (unresolved === undefined) return;
    const message = `${unresolved} is evaluated by the shell, which does not run here; it is kept as written`;
    this.#builder.remark({ level: 'warning', about: unresolved, message, at });
  }

  #newLine(): void {
    this.#endWord();
    this.#at += 1;
    this.#readHereDocuments();
    const goesOn = /[ \t]*(?:>[ \t]+)?-[-A-Za-z0-9:#]/y;
    goesOn.lastIndex = this.#at;
    if (this.#builder.wordCount > 0 && goesOn.test(this.#bytes)) {
      this.#passPrompt();
      return;
    }
    this.#endCommand(false);
    this.#passPrompt();
  }

  /** `;`, `&`, `|` and their doubles. Inside a word, `&` and `;` belong to a URL. */
  #separator(char: string): void {
    const at = this.#at;
    const next = this.#bytes[at + 1] ?? '\n';
    if (char === '&' && next === '>') {
      this.#redirect();
      return;
    }
    const double = next === char;
    const after = this.#bytes.slice(at + (double ? 2 : 1), at + 12);
    const dataLike = this.#builder.inWord && !double && char !== '|' && /^[^\s;&|]/.test(after);
    if (dataLike && !/^curl(?:\.exe)?\s/.test(after)) {
      this.#take(char, false);
      return;
    }
    this.#at += double ? 2 : 1;
    if (char === '|' && next === '&') this.#at += 1;
    this.#endCommand(char === '|' && !double);
  }

  #redirect(): void {
    const at = this.#at;
    const end = /[<>]\(/.test(this.#bytes.slice(at, at + 2)) ? closing(this.#bytes, at + 1, '(', ')') : -1;
    if (end !== -1) {
      const text = this.#bytes.slice(at, end);
      const message = `${text} is a file that the shell creates; it is kept as written`;
      this.#builder.remark({ level: 'warning', about: text, message, at });
      this.#builder.add(text, at, true);
      this.#at = end;
      return;
    }
    const placeholder = readPlaceholder(this.#bytes, at);
    if (placeholder !== null) {
      const { text, length, about, message } = placeholder;
      this.#builder.remark({ level: 'warning', about, message, at });
      this.#builder.add(text, at, true);
      this.#at += length;
      return;
    }
    // The digits of `2>` belong to it; in `a>b` the word before it is an argument.
    this.#builder.takeUnquoted(/^\d+$/);
    this.#endWord();
    const operator = this.#match(REDIRECT) ?? this.#one();
    this.#target = { kind: 'redirect', operator, at };
    const literal = /[ \t]*(?:\\|'|"|\$')/y;
    literal.lastIndex = this.#at;
    if (operator.startsWith('<<') && operator !== '<<<') {
      this.#hereDocuments.push({ end: '', literal: literal.test(this.#bytes), stripTabs: operator === '<<-' });
    }
  }

  #endWord(): void {
    if (!this.#builder.inWord) return;
    this.#builder.endWord();
    const target = this.#target;
    if (target === null) return;
    this.#target = null;
    const word = this.#builder.popWord()?.text ?? '';
    switch (target.operator) {
      case '<<':
      case '<<-': {
        const open = this.#hereDocuments.pop();
        if (open !== undefined) this.#hereDocuments.push({ ...open, end: word });
        return;
      }
      case '<<<':
        this.#builder.setStdin({ kind: 'text', bytes: `${word}\n` });
        return;
      case '<':
        this.#builder.setStdin({ kind: 'file', path: word });
        return;
      default: {
        const about = `${target.operator}${word}`;
        const message = `The redirection ${about} was left out`;
        this.#builder.remark({ level: 'note', about, message, at: target.at });
      }
    }
  }

  #readHereDocuments(): void {
    for (const { end, literal, stripTabs } of this.#hereDocuments.splice(0)) {
      const lines: string[] = [];
      while (this.#at < this.#bytes.length) {
        const lineEnd = this.#lineEnd();
        const raw = this.#bytes.slice(this.#at, lineEnd);
        const line = stripTabs ? raw.replace(/^\t+/, '') : raw;
        this.#at = lineEnd + 1;
        if (line.replace(/\r$/, '') === end) break;
        lines.push(line);
      }
      const text = lines.map((line) => `${line}\n`).join('');
      this.#builder.setStdin({ kind: 'text', bytes: literal ? text : this.#expandHereDocument(text) });
    }
  }

  #expandHereDocument(text: string): string {
    let result = '';
    for (let i = 0; i < text.length; i += 1) {
      const char = text[i] ?? '';
      const next = text[i + 1] ?? '';
      if (char === '\\' && next === '\n') i += 1;
      else if (char === '\\' && next !== '' && '\\$`'.includes(next)) {
        result += next;
        i += 1;
      } else if (char === '$' || char === '`') {
        const expansion = readExpansion(text, i);
        result += expansion?.text ?? char;
        i += (expansion?.length ?? 1) - 1;
      } else result += char;
    }
    return result;
  }

  #endCommand(pipes: boolean): void {
    this.#endWord();
    this.#target = null;
    this.#builder.endCommand(null, { piped: pipes });
  }

  /** Skips the rest of a broken command, up to a line that begins a new one. */
  #giveUp(fault: Fault): void {
    this.#target = null;
    this.#hereDocuments.length = 0;
    this.#builder.endCommand(fault);
    const next = /\n[ \t]*(?:\$ |> )?(?=curl(?:\.exe)?\s)/g;
    next.lastIndex = fault.at;
    const found = next.exec(this.#bytes);
    this.#at = found === null ? this.#bytes.length : found.index + found[0].length;
  }

  #passPrompt(): void {
    this.#match(BLANKS);
    this.#match(PROMPT);
  }

  #lineEnd(): number {
    const end = this.#bytes.indexOf('\n', this.#at);
    return end === -1 ? this.#bytes.length : end;
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#bytes)?.[0];
    if (text === undefined || text === '') return null;
    this.#at += text.length;
    return text;
  }

  #one(): string {
    this.#at += 1;
    return this.#bytes[this.#at - 1] ?? '';
  }

  #take(char: string, quoted: boolean): void {
    this.#builder.add(char, this.#at, quoted);
    this.#at += 1;
  }
}

function endOfAnsiC(bytes: string, from: number): number {
  for (let i = from; i < bytes.length; i += 1) {
    if (bytes[i] === '\\') i += 1;
    else if (bytes[i] === "'") return i;
  }
  return -1;
}
