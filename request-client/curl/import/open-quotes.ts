const DOUBLE = /(?:[^"\\]|\\[\s\S])*/y;
const ANSI_C = /(?:[^'\\]|\\[\s\S])*/y;
const OUTSIDE = /\\[\s\S]|[^\\'"$<]+|\$(?!')|<(?!<)|<<<|<<(-?)[ \t]*(?:'(\w{1,99})'|"(\w{1,99})"|\\?(\w{1,99}))|</y;

/** What a POSIX shell would still wait for, line by line: the end of a quote, or of a here-document. */
export class OpenQuotes {
  #open: "'" | '"' | "$'" | null = null;
  readonly #documents: { readonly end: string; readonly stripsTabs: boolean }[] = [];

  get isOpen(): boolean {
    return this.#open !== null || this.#documents.length > 0;
  }

  /** Reads a line, without its line break. */
  readLine(line: string): void {
    const [document] = this.#documents;
    if (document !== undefined && this.#open === null) {
      const text = (document.stripsTabs ? line.replace(/^\t+/, '') : line).replace(/\r$/, '');
      if (text === document.end) this.#documents.shift();
      return;
    }
    const text = `${line}\n`;
    for (let at = 0; at < text.length; ) at = this.#read(text, at);
  }

  /** The offset after the next part of a line. */
  #read(text: string, at: number): number {
    if (this.#open !== null) {
      const quote = this.#open === '"' ? '"' : "'";
      const end = this.#open === "'" ? text.indexOf("'", at) : endOf(this.#open === '"' ? DOUBLE : ANSI_C, text, at);
      if (end === -1 || end >= text.length || text[end] !== quote) return text.length;
      this.#open = null;
      return end + 1;
    }
    const char = text[at];
    if (char === "'" || char === '"') {
      this.#open = char;
      return at + 1;
    }
    if (char === '$' && text[at + 1] === "'") {
      this.#open = "$'";
      return at + 2;
    }
    OUTSIDE.lastIndex = at;
    const [all = ' ', tabs, single, double, plain] = OUTSIDE.exec(text) ?? [];
    const end = single ?? double ?? plain;
    if (end !== undefined) this.#documents.push({ end, stripsTabs: tabs === '-' });
    return at + all.length;
  }
}

/** Whether a POSIX shell would still wait for the end of a quote or a here-document after these lines. */
export function endsInsideQuotes(bytes: string): boolean {
  const quotes = new OpenQuotes();
  for (const line of bytes.replace(/\n$/, '').split('\n')) quotes.readLine(line);
  return quotes.isOpen;
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}
