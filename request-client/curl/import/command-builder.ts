import type { Fault, Remark, ShellCommand, Stdin, Word } from './shell-command.js';
import { hasVariable } from './source-text.js';

/** Collects one command while a reader proceeds. In chunks, not characters, since a body can have a megabyte. */
export class CommandBuilder {
  readonly commands: ShellCommand[] = [];
  #words: Word[] = [];
  #remarks: Remark[] = [];
  #stdin: Stdin = { kind: 'none' };
  #piped = false;
  #chunks: string[] | null = null;
  #start = 0;
  #quoted = false;

  /** Adds text to the current word; begins one if there is none. */
  add(text: string, at: number, quoted: boolean): void {
    if (this.#chunks === null) {
      this.#chunks = [];
      this.#start = at;
      this.#quoted = false;
    }
    if (quoted) this.#quoted = true;
    this.#chunks.push(text);
  }

  get inWord(): boolean {
    return this.#chunks !== null;
  }

  /** Takes the current word for an operator. Null if it was quoted or there is none. */
  takeUnquoted(pattern: RegExp): string | null {
    if (this.#chunks === null || this.#quoted) return null;
    const text = this.#chunks.join('');
    if (!pattern.test(text)) return null;
    this.#chunks = null;
    return text;
  }

  endWord(): void {
    if (this.#chunks === null) return;
    const text = this.#chunks.join('');
    this.#chunks = null;
    const bare = !this.#quoted && hasVariable(text) && /^\0[^\0]*\0$/.test(text);
    this.#words.push({ text, start: this.#start, bare });
  }

  /** Removes the newest word, for an operator whose target it is. */
  popWord(): Word | undefined {
    return this.#words.pop();
  }

  get wordCount(): number {
    return this.#words.length;
  }

  remark(remark: Remark): void {
    this.#remarks.push(remark);
  }

  setStdin(stdin: Stdin): void {
    this.#stdin = stdin;
  }

  endCommand(fault: Fault | null, next: { piped: boolean } = { piped: false }): void {
    this.endWord();
    if (this.#words.length > 0 || fault !== null) {
      this.commands.push({
        words: this.#words,
        stdin: this.#stdin,
        remarks: this.#remarks,
        fault,
        piped: this.#piped,
      });
    }
    this.#words = [];
    this.#remarks = [];
    this.#stdin = { kind: 'none' };
    this.#piped = next.piped;
  }
}
