/** A part of a text and what takes its place. */
export interface Edit {
  readonly from: number;
  /** The offset after its last character. */
  readonly to: number;
  readonly text: string;
}

/** From `at` on, characters are those of the source from `source` on, or, if not `copied`, stand for the one there. */
interface Piece {
  readonly at: number;
  readonly source: number;
  readonly copied: boolean;
}

/** A text that was made of parts of a source and knows where in it each of its characters comes from. */
export class MappedText {
  readonly bytes: string;
  readonly #pieces: readonly Piece[];

  private constructor(bytes: string, pieces: readonly Piece[]) {
    this.bytes = bytes;
    this.#pieces = pieces;
  }

  static of(bytes: string): MappedText {
    return new MappedText(bytes, [{ at: 0, source: 0, copied: true }]);
  }

  /** The offset in the source. */
  offsetOf(at: number): number {
    const piece = this.#pieces[this.#pieceAt(at)];
    if (piece === undefined) return 0;
    return piece.copied ? piece.source + at - piece.at : piece.source;
  }

  slice(from: number, to: number): MappedText {
    return this.edited([
      { from: 0, to: from, text: '' },
      { from: Math.max(from, to), to: this.bytes.length, text: '' },
    ]);
  }

  /** With the edits, which do not overlap and are in ascending order. */
  edited(edits: readonly Edit[]): MappedText {
    const texts: string[] = [];
    const pieces: Piece[] = [];
    let length = 0;
    let done = 0;
    const keep = (end: number): void => {
      if (end <= done) return;
      for (let index = this.#pieceAt(done); index < this.#pieces.length; index += 1) {
        const piece = this.#pieces[index];
        if (piece === undefined || piece.at >= end) break;
        const from = Math.max(piece.at, done);
        pieces.push({
          at: length + from - done,
          source: piece.copied ? piece.source + from - piece.at : piece.source,
          copied: piece.copied,
        });
      }
      texts.push(this.bytes.slice(done, end));
      length += end - done;
    };
    for (const { from, to, text } of edits) {
      keep(from);
      if (text !== '') {
        pieces.push({ at: length, source: this.offsetOf(from), copied: false });
        texts.push(text);
        length += text.length;
      }
      done = to;
    }
    keep(this.bytes.length);
    if (pieces.length === 0) pieces.push({ at: 0, source: this.offsetOf(0), copied: true });
    return new MappedText(texts.join(''), pieces);
  }

  #pieceAt(at: number): number {
    let low = 0;
    let high = this.#pieces.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#pieces[middle]?.at ?? 0) <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
