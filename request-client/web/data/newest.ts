/**
 * Answers about the same thing may overtake each other: a list that was asked for before a change must not replace the one
 * that came with the change.
 */
export class Newest {
  #asked = 0;

  /** Passes the answer to `take`, unless something was asked for after it. */
  async answer<T>(asking: Promise<T>, take: (answer: T) => void): Promise<void> {
    const own = ++this.#asked;
    const answer = await asking;
    if (own === this.#asked) take(answer);
  }
}
