import { boundedWait } from '../../base/deadline.js';
/** How many may be under way: of all sessions together, and of each; and how many of each may wait. */
export interface LaneBounds {
  readonly all: number;
  readonly each: number;
  readonly waiting: number;
}

interface Lane {
  underWay: number;
  readonly waiting: Set<() => void>;
}

/**
 * Places for look-ups, shared fairly: the next free place goes to the session with the fewest under way, among equals to the
 * one whose last turn is longest ago. One session can never hold more than its own share.
 */
export class LookUpLanes {
  readonly #bounds: LaneBounds;
  /** By session, the one whose last turn is longest ago first; no session without look-ups. */
  readonly #lanes = new Map<string, Lane>();
  #underWay = 0;

  constructor(bounds: LaneBounds) {
    this.#bounds = bounds;
  }

  /**
   * Settles with the function that gives the place back (idempotent), or with null when too many of this session wait.
   * Rejects with the signal's reason.
   */
  async enter(session: string, signal: AbortSignal): Promise<(() => void) | null> {
    signal.throwIfAborted();
    const lane = this.#lanes.get(session) ?? { underWay: 0, waiting: new Set() };
    this.#lanes.set(session, lane);
    if (lane.waiting.size > 0 || !this.#hasRoom(lane)) {
      if (lane.waiting.size >= this.#bounds.waiting) return null;
      await this.#turn(session, lane, signal);
    } else this.#take(session, lane);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      lane.underWay -= 1;
      this.#underWay -= 1;
      this.#forgetIdle(session, lane);
      this.#admitNext();
    };
  }

  #hasRoom({ underWay }: Lane): boolean {
    return this.#underWay < this.#bounds.all && underWay < this.#bounds.each;
  }

  #turn(session: string, lane: Lane, signal: AbortSignal): Promise<void> {
    return boundedWait({ signal }, (resolve) => {
      const admit = (): void => {
        this.#take(session, lane);
        resolve();
      };
      lane.waiting.add(admit);
      return () => {
        lane.waiting.delete(admit);
        this.#forgetIdle(session, lane);
      };
    });
  }

  #take(session: string, lane: Lane): void {
    lane.underWay += 1;
    this.#underWay += 1;
    this.#lanes.delete(session);
    this.#lanes.set(session, lane);
  }

  #admitNext(): void {
    let next: Lane | undefined;
    for (const lane of this.#lanes.values()) {
      if (lane.waiting.size === 0 || !this.#hasRoom(lane)) continue;
      if (next === undefined || lane.underWay < next.underWay) next = lane;
    }
    const [admit] = next?.waiting ?? [];
    admit?.();
  }

  #forgetIdle(session: string, { underWay, waiting }: Lane): void {
    if (underWay === 0 && waiting.size === 0) this.#lanes.delete(session);
  }
}
