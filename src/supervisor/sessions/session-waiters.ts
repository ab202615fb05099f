import { setMaxListeners } from 'node:events';
import { withSignal } from '../../base/deadline.js';
import type { EventType } from '../../protocol/events.js';
import type { SessionId } from '../../protocol/session.js';
import type { SessionDependencies } from './session-dependencies.js';

/** How long somebody waits. */
export interface WaitBounds {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** For who waits until something has become of a session, a client for its end or a stop for its attempt. */
export class SessionWaiters {
  readonly #parts: Pick<SessionDependencies, 'hub' | 'clock'>;
  readonly #isLiving: (id: SessionId) => boolean;
  readonly #closed = new AbortController();

  constructor(parts: Pick<SessionDependencies, 'hub' | 'clock'>, isLiving: (id: SessionId) => boolean) {
    this.#parts = parts;
    this.#isLiving = isLiving;
    // As many listen as clients wait.
    setMaxListeners(0, this.#closed.signal);
  }

  /**
   * Settles with an event of one of these types that comes from now on, when the time is up or nobody waits any more, or
   * where it is over already.
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

  /** Lets go of all that wait. Idempotent. */
  close(): void {
    this.#closed.abort();
  }
}
