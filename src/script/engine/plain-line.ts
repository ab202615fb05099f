import type { StepKind } from '../../protocol/events.js';
import type { PlainMemory, RunMessage } from '../script-messages.js';

/** Longer orders and results travel as messages. */
const AREA_BYTES = 16 * 1024;
/** A UTF-16 unit takes three bytes of UTF-8 at most; the rest is for the name, the marks and the zeros. */
const MAX_SOURCE = Math.floor((AREA_BYTES - 256) / 3);
const SAFE_NAME = /^[\w./ -]{1,100}$/;
/** What the engine's sources of this kind end their name with: places in them need no look-up. */
const MARK = '#0';
const KINDS: readonly StepKind[] = ['script', 'model', 'flow'];
const LONGEST_MS = 2_147_483_647;

/** Cells of the line. */
const CELL = {
  /** 1 while an order lies there that the thread has not taken. */
  ORDERED: 0,
  RUN: 1,
  KIND: 2,
  TIMEOUT_MS: 3,
  /** Bytes of the name and its zero; of the code behind it, and its zero. */
  NAME_BYTES: 4,
  CODE_BYTES: 5,
  /** The run whose result lies there, and its bytes. */
  DONE: 6,
  RESULT_BYTES: 7,
  LENGTH: 8,
} as const;

/**
 * The way of short scripts: order and result lie in memory that both threads see, as the bytes that the engine reads and
 * writes. An order wakes a thread that sleeps on its control cells; results of many threads are told by one message, the
 * first that rings.
 *
 *     handle                                     thread
 *       | -- order: bytes, ORDERED = 1, wake ---> |  takes it, runs it
 *       | <------ result: bytes, DONE = run ----- |
 *       | <------ message, if bell was 0 -------- |
 *
 * A message each way costs both sides more than the script (measured with 32 sessions: 100 us a script less).
 */
export class PlainLine {
  readonly memory: PlainMemory;
  readonly #order: Buffer;
  readonly #result: Buffer;

  constructor(memory: PlainMemory) {
    this.memory = memory;
    this.#order = Buffer.from(memory.order.buffer);
    this.#result = Buffer.from(memory.result.buffer);
  }

  static memory(bell: Int32Array): PlainMemory {
    return {
      cells: new Int32Array(new SharedArrayBuffer(CELL.LENGTH * Int32Array.BYTES_PER_ELEMENT)),
      order: new Uint8Array(new SharedArrayBuffer(AREA_BYTES)),
      result: new Uint8Array(new SharedArrayBuffer(AREA_BYTES)),
      bell,
    };
  }

  /**
   * The handle puts an order down; it wakes the thread itself.
   * @param isPlain whether the engine takes the source as it is
   * @returns false where the order has to travel as a message
   */
  order({ run, source, name, kind, timeoutMs }: RunMessage, isPlain: (source: string) => boolean): boolean {
    if (source.length > MAX_SOURCE || !SAFE_NAME.test(name) || !isPlain(source)) return false;
    const { cells } = this.memory;
    const nameBytes = this.#order.write(`${name}${MARK}\0`, 0, 'latin1');
    // The engine counts the columns of a first line otherwise than those of all others.
    cells[CELL.CODE_BYTES] = this.#order.write(`\n${source}\0`, nameBytes, 'utf8');
    cells[CELL.NAME_BYTES] = nameBytes;
    cells[CELL.RUN] = run;
    cells[CELL.KIND] = KINDS.indexOf(kind);
    cells[CELL.TIMEOUT_MS] = Math.ceil(Math.min(timeoutMs, LONGEST_MS));
    Atomics.store(cells, CELL.ORDERED, 1);
    return true;
  }

  /** The handle reads the result of a run; null while it is not there. */
  result(run: number): string | null {
    const { cells } = this.memory;
    return Atomics.load(cells, CELL.DONE) === run ? this.text(cells[CELL.RESULT_BYTES] ?? 0) : null;
  }

  /** The first bytes of the result, as text. */
  text(bytes: number): string {
    return this.#result.toString('utf8', 0, bytes);
  }

  /** The thread takes the order, whose bytes stay until the next; null where there is none. */
  take(): PlainOrder | null {
    const { cells } = this.memory;
    if (Atomics.exchange(cells, CELL.ORDERED, 0) !== 1) return null;
    return {
      run: cells[CELL.RUN] ?? 0,
      kind: KINDS[cells[CELL.KIND] ?? 0] ?? 'script',
      timeoutMs: cells[CELL.TIMEOUT_MS] ?? 0,
      nameBytes: cells[CELL.NAME_BYTES] ?? 0,
      codeBytes: cells[CELL.CODE_BYTES] ?? 0,
    };
  }

  /** The same order as a message, for whom it was not as plain as it looked. */
  asMessage({ run, kind, timeoutMs, nameBytes, codeBytes }: PlainOrder): RunMessage {
    const name = this.#order.toString('latin1', 0, nameBytes - MARK.length - 1);
    const source = this.#order.toString('utf8', nameBytes + 1, nameBytes + codeBytes - 1);
    return { type: 'run', run, source, name, kind, timeoutMs };
  }

  /**
   * The thread has put a result down.
   * @returns true where the handle has to be told that there is one
   */
  finish(run: number, bytes: number): boolean {
    const { cells, bell } = this.memory;
    cells[CELL.RESULT_BYTES] = bytes;
    Atomics.store(cells, CELL.DONE, run);
    return Atomics.exchange(bell, 0, 1) === 0;
  }
}

/** An order on the line: its bytes are the name, a zero, the code and a zero. */
export interface PlainOrder {
  readonly run: number;
  readonly kind: StepKind;
  readonly timeoutMs: number;
  /** With its zero. */
  readonly nameBytes: number;
  /** With its zero. */
  readonly codeBytes: number;
}
