import { type Clock, systemClock } from '../../base/clock.js';
import { startLimit } from '../../base/deadline.js';

/** A user that leaves a new page waiting for longer than this is not waited for. */
const HELD_MS = 5_000;

interface HeldPage<User> {
  /** Who has not let it start yet. */
  readonly holders: Set<User>;
  /** What the others have sent to let it start. */
  readonly resumed: (() => void)[];
  readonly cancelTimer: () => void;
}

/**
 * New pages that wait until every user has prepared them. Chromium starts a page that a script opens as soon as one of its
 * DevTools clients sends `Runtime.runIfWaitingForDebugger`, although others have asked for it to wait for them, too: its
 * first requests and scripts would run without the rules and scripts of the slower ones. So the command goes to the
 * browser when the last of them has sent it.
 */
export class HeldPages<User> {
  readonly #clock: Clock;
  readonly #users = new Set<User>();
  readonly #pages = new Map<string, HeldPage<User>>();
  readonly #targets = new Map<string, string>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Whether new pages wait for the user. */
  setHolds(user: User, holds: boolean): void {
    if (holds) this.#users.add(user);
    else this.leave(user);
  }

  /** The browser has told a user of a page. */
  attached(
    user: User,
    session: string,
    { targetId, waiting }: { readonly targetId: string; readonly waiting: boolean },
  ) {
    if (!waiting) {
      this.#letGo(targetId, user);
      return;
    }
    this.#targets.set(session, targetId);
    if (this.#pages.has(targetId) || !this.#users.has(user)) return;
    const cancelTimer = startLimit(HELD_MS, () => this.#start(targetId), this.#clock);
    this.#pages.set(targetId, { holders: new Set(this.#users), resumed: [], cancelTimer });
  }

  /** A user lets the page of its session start: calls `send` once all have. */
  resume(user: User, session: string, send: () => void): void {
    const targetId = this.#targets.get(session);
    const page = targetId === undefined ? undefined : this.#pages.get(targetId);
    if (targetId === undefined || page === undefined) {
      send();
      return;
    }
    page.resumed.push(send);
    this.#letGo(targetId, user);
  }

  /** A user's session has ended, most often with its page. */
  detached(user: User, session: string): void {
    const targetId = this.#targets.get(session);
    this.#targets.delete(session);
    if (targetId !== undefined) this.#letGo(targetId, user);
  }

  /** No page waits for the user any more. */
  leave(user: User): void {
    this.#users.delete(user);
    for (const targetId of [...this.#pages.keys()]) this.#letGo(targetId, user);
  }

  /** No page waits any more, and nothing more is sent. */
  close(): void {
    for (const { cancelTimer } of this.#pages.values()) cancelTimer();
    this.#pages.clear();
    this.#targets.clear();
    this.#users.clear();
  }

  #letGo(targetId: string, user: User): void {
    const page = this.#pages.get(targetId);
    if (page?.holders.delete(user) === true && page.holders.size === 0) this.#start(targetId);
  }

  #start(targetId: string): void {
    const page = this.#pages.get(targetId);
    if (page === undefined) return;
    this.#pages.delete(targetId);
    page.cancelTimer();
    for (const send of page.resumed) send();
  }
}
