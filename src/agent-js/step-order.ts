import type { SessionEvent } from '../protocol/events.js';

/** A step that has ended; `event` is there when it is known whether it has a picture, and is made when it is emitted. */
export interface Ended {
  event: (() => SessionEvent) | null;
}

/** What records the steps of one browser. */
interface Recorder {
  settleOwn(): Promise<void>;
  flushOwn(): void;
}

/** The one order of a session's steps, whichever of its browsers they are of: their numbers, and when they are emitted. */
export class StepOrder {
  readonly #emit: (event: SessionEvent) => void;
  readonly #recorders = new Set<Recorder>();
  #index: number;
  /** Ended steps that have not been emitted, in their order. */
  #ended: Ended[] = [];

  /** @param firstIndex the next step's number: above 1 if the session has run before */
  constructor(emit: (event: SessionEvent) => void, firstIndex: number) {
    this.#emit = emit;
    this.#index = firstIndex - 1;
  }

  /** The number of the newest step. */
  get index(): number {
    return this.#index;
  }

  /** The number of a step that begins. */
  next(): number {
    this.#index += 1;
    return this.#index;
  }

  /** A step has ended. Once its event is set, call {@link emitEnded}. */
  add(event: Ended['event'] = null): Ended {
    const ended: Ended = { event };
    this.#ended.push(ended);
    return ended;
  }

  /** Emits the steps that are ready, in their order. */
  emitEnded(): void {
    for (let first = this.#ended[0]; first?.event != null; first = this.#ended[0]) {
      this.#ended.shift();
      this.#emit(first.event());
    }
  }

  join(recorder: Recorder): void {
    this.#recorders.add(recorder);
  }

  leave(recorder: Recorder): void {
    this.#recorders.delete(recorder);
  }

  /** Resolves when every step that has ended was emitted. */
  async settle(): Promise<void> {
    await Promise.all([...this.#recorders].map((recorder) => recorder.settleOwn()));
  }

  /** Emits every step that has ended at once, without the picture that it waits for. */
  flush(): void {
    for (const recorder of this.#recorders) recorder.flushOwn();
  }
}
