import { setMaxListeners } from 'node:events';
import { withSignal } from '../../base/deadline.js';
import type { EventType } from '../../protocol/events.js';
import type { SessionId } from '../../protocol/session.js';
import type { SessionDependencies } from './session-dependencies.js';

/** How long to wait. */
export interface WaitBounds {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Lets callers wait for an event of a session: clients for its end, or the shutdown for an attempt's end. */
export class SessionWaiters {
  readonly #parts: Pick<SessionDependencies, 'hub' | 'clock'>;
  readonly #isLiving: (id: SessionId) => boolean;
  readonly #closed = new AbortController();

  constructor(parts: Pick<SessionDependencies, 'hub' | 'clock'>, isLiving: (id: SessionId) => boolean) {
    this.#parts = parts;
    this.#isLiving = isLiving;
    // There is one listener for each waiting client.
    setMaxListeners(0, this.#closed.signal);
  }

  /**
   * Resolves at the first event of one of these types that is emitted from now on, at the timeout, when the signal
   * aborts,
   * or at once if `isOver` is true.
   */
  async next(
    sessionId: SessionId,
    types: readonly EventType[],
    bounds: WaitBounds,
    isOver: () => Promise<boolean>,
  ): Promise<void> {
    const { hub, clock } = this.#parts;
    const after = hub.lastSeq();
    const signals = [bounds.signal, this.#closed.signal];
    await withSignal({ signals, ms: bounds.timeoutMs, clock }, async (signal) => {
      if (await isOver()) return;
      const selection = { sessionId, after, types: new Set(types), signal };
      await hub.stream(selection, () => this.#isLiving(sessionId)).next();
    });
  }

  /** Releases all waiting callers. Idempotent. */
  close(): void {
    this.#closed.abort();
  }
}
