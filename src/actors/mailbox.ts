/** A bounded FIFO queue. The ring buffer grows up to the bound, so taking a message never moves others. */
export class Mailbox<T> {
  readonly #bound: number;
  #ring: (T | undefined)[] = new Array<T | undefined>(16).fill(undefined);
  #head = 0;
  #size = 0;

  /** @param bound the most waiting messages; further ones are rejected */
  constructor(bound: number) {
    this.#bound = bound;
  }

  get size(): number {
    return this.#size;
  }

  /** False if the mailbox is full and the message was rejected. */
  put(message: T): boolean {
    if (this.#size >= this.#bound) return false;
    if (this.#size === this.#ring.length) this.#grow();
    this.#ring[(this.#head + this.#size) & (this.#ring.length - 1)] = message;
    this.#size += 1;
    return true;
  }

  take(): T | undefined {
    if (this.#size === 0) return undefined;
    const message = this.#ring[this.#head];
    this.#ring[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#ring.length - 1);
    this.#size -= 1;
    return message;
  }

  //  before  [ 4 5 | 1 2 3 ]      head at 1, lengths are powers of two
  //  after   [ 1 2 3 4 5 . . . ]  head at 0
  #grow(): void {
    const wider = new Array<T | undefined>(this.#ring.length * 2).fill(undefined);
    for (let i = 0; i < this.#size; i += 1) wider[i] = this.#ring[(this.#head + i) & (this.#ring.length - 1)];
    this.#ring = wider;
    this.#head = 0;
  }
}
