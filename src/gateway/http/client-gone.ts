import type { GiveUpSignal } from '../../actors/actor.js';
import { TroupeError } from '../../protocol/errors.js';

/** The reason for work that was done for the client to stop. It is never sent, since the client has disconnected. */
export function clientGone(): TroupeError {
  return new TroupeError('UNAVAILABLE', 'The client went away before its request was answered');
}

/** Whether a request's client has disconnected. Listeners are called once; a listener added later is never called. */
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

  /** Marks the client as gone and calls the listeners. Idempotent. */
  notify(): void {
    if (this.#aborted) return;
    this.#aborted = true;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}
