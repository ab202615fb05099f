import type { GiveUpSignal } from '../../actors/actor.js';
import { TroupeError } from '../../protocol/errors.js';

/** Nobody reads it; it says to those who work for the client why they are to stop, and is no fault of theirs. */
export function clientGone(): TroupeError {
  return new TroupeError('UNAVAILABLE', 'The client went away before its request was answered');
}

/** Whether a request's client has gone away. Its listeners are called once, and none that comes after that. */
export class ClientGone implements GiveUpSignal {
  #aborted = false;
  #listeners: (() => void)[] = [];

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): TroupeError | undefined {
    return this.#aborted ? clientGone() : undefined;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.#aborted) this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }

  /** Idempotent. */
  tell(): void {
    if (this.#aborted) return;
    this.#aborted = true;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}
