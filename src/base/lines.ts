/** Of one line, unless the caller says otherwise. */
const MAX_CHARS = 64 * 1024 * 1024;

export interface LineRules {
  /** `lf`, the default: LF ends a line, and a CR before it is dropped. `any`: CR, LF or CRLF, as in a stream of events. */
  readonly ends?: 'lf' | 'any';
  /** The longest line in characters; 64 Mi by default. */
  readonly maxChars?: number;
}

/**
 * Splits text that comes in pieces into lines. Only what {@link LineRules.ends} names ends a line: JSON and event streams may
 * contain U+2028 and U+2029 within a line, where `node:readline` of some versions ends it. A line that is too long is null, once.
 */
export class LineSplitter {
  readonly #end: RegExp;
  readonly #isAny: boolean;
  readonly #maxChars: number;
  /** Of a line that has not ended: joined once, so that a long line costs no more than its length. */
  #pieces: string[] = [];
  #chars = 0;
  /** The last piece ended in a CR, which ended a line: an LF that follows belongs to it. */
  #afterCr = false;

  constructor({ ends = 'lf', maxChars = MAX_CHARS }: LineRules = {}) {
    this.#isAny = ends === 'any';
    this.#end = this.#isAny ? /\r\n|\r|\n/ : /\n/;
    this.#maxChars = maxChars;
  }

  /** The lines that end in this piece, each as soon as its end is there; null as soon as a line is too long. */
  push(piece: string): (string | null)[] {
    if (piece === '') return [];
    const text = this.#afterCr && piece.startsWith('\n') ? piece.slice(1) : piece;
    this.#afterCr = this.#isAny && text.endsWith('\r');
    const lines: (string | null)[] = [];
    for (const [index, part] of text.split(this.#end).entries()) {
      if (index > 0) {
        if (this.#chars <= this.#maxChars) lines.push(this.#take().replace(/\r$/, ''));
        else this.#take();
      }
      const fitted = this.#chars <= this.#maxChars;
      this.#chars += part.length;
      if (this.#chars <= this.#maxChars) this.#pieces.push(part);
      else if (fitted) {
        this.#pieces = [];
        lines.push(null);
      }
    }
    return lines;
  }

  /** What comes after the last end of a line; undefined if nothing does, or if it was too long. */
  end(): string | undefined {
    return this.#chars === 0 || this.#chars > this.#maxChars ? undefined : this.#take();
  }

  #take(): string {
    const line = this.#pieces.join('');
    [this.#pieces, this.#chars] = [[], 0];
    return line;
  }
}

/**
 * The lines of a text in UTF-8, until its end; one without an end comes last. A line that is too long is null.
 * @throws what broke the stream
 */
export async function* linesOf(
  pieces: AsyncIterable<string | Uint8Array>,
  rules: LineRules = {},
): AsyncGenerator<string | null, void> {
  const splitter = new LineSplitter(rules);
  const decoder = new TextDecoder();
  for await (const piece of pieces) {
    yield* splitter.push(typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true }));
  }
  yield* splitter.push(decoder.decode());
  const last = splitter.end();
  if (last !== undefined) yield last;
}
