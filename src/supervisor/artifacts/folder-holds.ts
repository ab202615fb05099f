import { Wakeups } from '../../base/deadline.js';
import type { SessionId } from '../../protocol/session.js';

/** Ids of removed folders that are remembered; cleared when it is full. */
const MAX_CLOSED = 10_000;

/** Keeps folders of sessions from being removed while somebody reads them. */
export class FolderHolds {
  readonly #held = new Map<SessionId, number>();
  readonly #closed = new Set<SessionId>();
  readonly #released = new Wakeups();

  /** Returns the function that ends the hold, once; null if the folder is removed. */
  hold(id: SessionId): (() => void) | null {
    if (this.#closed.has(id)) return null;
    this.#held.set(id, (this.#held.get(id) ?? 0) + 1);
    let over = false;
    return () => {
      if (over) return;
      over = true;
      const left = (this.#held.get(id) ?? 1) - 1;
      if (left > 0) this.#held.set(id, left);
      else this.#held.delete(id);
      this.#released.wake();
    };
  }

  isClosed(id: SessionId): boolean {
    return this.#closed.has(id);
  }

  /** Waits until nobody holds the folder; from then on nobody can. False if the signal was aborted before. */
  async close(id: SessionId, signal: AbortSignal): Promise<boolean> {
    while (this.#held.has(id)) {
      if (signal.aborted) return false;
      await this.#released.next(signal);
    }
    if (this.#closed.size >= MAX_CLOSED) this.#closed.clear();
    this.#closed.add(id);
    return true;
  }

  forget(id: SessionId): void {
    this.#closed.delete(id);
  }
}
