import { withDeadline } from '../../base/deadline.js';
import { LookUpLanes } from './lookup-lanes.js';
import type { LookUp } from './reach.js';
import { NameResolver } from './resolve-name.js';
import { SystemNames } from './system-names.js';

/** Look-ups that are under way: each has a socket. */
const LANES = { all: 256, each: 8, waiting: 64 };
const SHORTEST_S = 1;
const LONGEST_S = 300;
/** Names that are remembered; past it the one that was learned first is forgotten. */
const MAX_REMEMBERED = 4_096;

interface Remembered {
  readonly addresses: readonly string[];
  readonly untilMs: number;
}

interface UnderWay {
  readonly found: Promise<readonly string[]>;
  readonly giveUp: AbortController;
  waiters: number;
}

/** What look-ups are made of; a test brings its own. */
export interface NameLookUpParts {
  readonly resolver: Pick<NameResolver, 'resolve' | 'listed' | 'isShareable'>;
  /** Milliseconds that only rise. */
  now(): number;
}

/**
 * The names that pages ask for. Of one session eight are looked up at a time and 64 wait: names of servers that do not answer
 * hold up their own page and no other. Who asks for a name that is being looked up shares that look-up, which ends when
 * nobody waits for it any more. Answers are remembered for as long as DNS says, 1 s to 5 min, also that there is none; those
 * of the hosts file are not, it is read each time it changes.
 */
export class NameLookUps {
  readonly #parts: NameLookUpParts;
  readonly #lanes = new LookUpLanes(LANES);
  readonly #remembered = new Map<string, Remembered>();
  readonly #underWay = new Map<string, UnderWay>();

  constructor(parts: Partial<NameLookUpParts> = {}) {
    this.#parts = { resolver: new NameResolver(new SystemNames()), now: () => performance.now(), ...parts };
  }

  /** The look-up of one session. No addresses where there are none, or where too many of its names wait already. */
  of(session: string): LookUp {
    return async (name, signal) => {
      const known = this.#known(name);
      if (known !== undefined) return known;
      const leave = await this.#lanes.enter(session, signal);
      if (leave === null) return [];
      try {
        // Only here: who shares a look-up never waits behind the names of another session.
        return this.#known(name) ?? (await this.#share(name, session, signal));
      } finally {
        leave();
      }
    };
  }

  #known(name: string): readonly string[] | undefined {
    const listed = this.#parts.resolver.listed(name);
    if (listed !== undefined) return listed;
    const remembered = this.#remembered.get(name);
    if (remembered === undefined || remembered.untilMs > this.#parts.now()) return remembered?.addresses;
    this.#remembered.delete(name);
    return undefined;
  }

  async #share(name: string, session: string, signal: AbortSignal): Promise<readonly string[]> {
    signal.throwIfAborted();
    // One that waits for a place of its own session is shared within that session alone.
    const key = this.#parts.resolver.isShareable(name) ? name : `${name} ${session}`;
    const shared = this.#underWay.get(key) ?? this.#begin(key, name, session);
    shared.waiters += 1;
    try {
      return await withDeadline(shared.found, { signal });
    } finally {
      shared.waiters -= 1;
      if (shared.waiters === 0) {
        if (this.#underWay.get(key) === shared) this.#underWay.delete(key);
        shared.giveUp.abort();
      }
    }
  }

  #begin(key: string, name: string, session: string): UnderWay {
    const giveUp = new AbortController();
    const found = this.#parts.resolver.resolve(name, session, giveUp.signal).then(({ addresses, ttlS }) => {
      if (ttlS !== null) this.#remember(name, addresses, Math.min(LONGEST_S, Math.max(SHORTEST_S, ttlS)));
      return addresses;
    });
    // Nobody hears of one that was given up.
    found.catch(() => undefined);
    const underWay = { found, giveUp, waiters: 0 };
    this.#underWay.set(key, underWay);
    return underWay;
  }

  #remember(name: string, addresses: readonly string[], forS: number): void {
    this.#remembered.delete(name);
    this.#remembered.set(name, { addresses, untilMs: this.#parts.now() + forS * 1_000 });
    if (this.#remembered.size <= MAX_REMEMBERED) return;
    const [oldest] = this.#remembered.keys();
    if (oldest !== undefined) this.#remembered.delete(oldest);
  }
}
