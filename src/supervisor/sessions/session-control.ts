import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import { ControlKey, type PageInput } from '../../protocol/control.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import type { SessionEvent } from '../../protocol/events.js';
import type { SessionChild } from './session-child.js';

/** Control that is not used for this long is given back. */
export const CONTROL_IDLE_MS = 300_000;
/** Control is given back this long after its holder's last page has disconnected. */
export const CONTROL_LEFT_MS = 10_000;
/** Longer than the actor waits for the agent's calls, and for a page to process input. */
const ASK_MS = 8_000;
/** Input messages in progress at most. Beyond that, mouse moves are dropped and others rejected. */
const MAX_INPUTS = 32;

/** What control needs from its session. */
export interface ControlDependencies {
  readonly clock: Clock;
  /** @throws SESSION_ENDED if the session is not running */
  actor(): SessionChild['ref'];
  emit(event: SessionEvent): void;
  /** Called when the session is used. */
  touched(): void;
}

interface Holder {
  readonly key: ControlKey;
  readonly by: string;
  /** Control ends with this handoff, whose link let the person take it; null for people with a token. */
  readonly handoff: string | null;
  /** Connected pages; null until the first connects. */
  pages: number | null;
  cancelIdle(): void;
  cancelLeft(): void;
}

/**
 * Which person has control of a session: one at a time, identified by a key. Meanwhile the agent waits. Control ends
 * when
 * it is given back, 10 s after its holder's last page has disconnected, after 5 minutes without use, and with the
 * session.
 */
export class SessionControl {
  readonly #deps: ControlDependencies;
  #holder: Holder | null = null;
  #inputs = 0;

  constructor(deps: ControlDependencies) {
    this.#deps = deps;
  }

  get controller(): 'agent' | 'person' {
    return this.#holder === null ? 'agent' : 'person';
  }

  /**
   * Resolves when the agent's calls have finished.
   * @param takeOver also take control from another person
   * @param handoff the handoff that control ends with, see {@link handoffChanged}
   * @throws SESSION_BUSY if another person has control; SESSION_ENDED
   */
  async take(by: string, takeOver: boolean, handoff: string | null = null): Promise<ControlKey> {
    const before = this.#holder;
    if (before !== null && !takeOver) {
      throw new TroupeError('SESSION_BUSY', `${before.by} has control of the session; take it over, or wait`, {
        by: before.by,
      });
    }
    const actor = this.#deps.actor();
    before?.cancelIdle();
    before?.cancelLeft();
    const key = ControlKey.parse(randomBytes(16).toString('base64url'));
    const holder: Holder = { key, by, handoff, pages: null, cancelIdle: nothing, cancelLeft: nothing };
    this.#holder = holder;
    this.#restartIdle(holder);
    this.#deps.emit({ type: 'ControlTaken', data: { by } });
    try {
      await actor.ask('GiveControl', { to: 'person' }, { deadlineMs: ASK_MS });
    } catch (error) {
      // A restarted actor asks who has control.
      if (encodeError(error).code !== 'SESSION_RESTARTED') {
        await this.#end(holder, 'returned');
        throw error;
      }
    }
    return key;
  }

  /** Gives control back to the agent. Idempotent. */
  async giveBack(): Promise<void> {
    if (this.#holder !== null) await this.#end(this.#holder, 'returned');
  }

  /** Another handoff is open, or none: the link of an earlier one gives no control any more. */
  handoffChanged(open: string | null): void {
    const holder = this.#holder;
    if (holder !== null && holder.handoff !== null && holder.handoff !== open) void this.#end(holder, 'returned');
  }

  /** Resets the idle timeouts: another client, which uses no scripts, is active. */
  touch(): void {
    this.#deps.touched();
  }

  /** Whether the key belongs to the person with control. If so, resets the idle timeouts. */
  holds(key: string): boolean {
    const holder = this.#holder;
    if (holder === null || !equals(holder.key, key)) return false;
    this.#restartIdle(holder);
    this.#deps.touched();
    return true;
  }

  /**
   * Registers a connected page of the holder. Returns a function to call when it disconnects.
   * @throws SESSION_BUSY if the key is not the holder's
   */
  attach(key: string): () => void {
    const holder = this.#held(key);
    holder.cancelLeft();
    holder.pages = (holder.pages ?? 0) + 1;
    let gone = false;
    return () => {
      if (gone) return;
      gone = true;
      holder.pages = (holder.pages ?? 1) - 1;
      if (holder.pages > 0 || this.#holder !== holder) return;
      holder.cancelLeft = this.#deps.clock.after(CONTROL_LEFT_MS, () => void this.#end(holder, 'left'));
    };
  }

  /**
   * @throws SESSION_BUSY if the key is not the holder's, CAPACITY if the page does not keep up, WAIT_TIMEOUT,
   * SESSION_RESTARTED
   */
  async input(key: string, inputs: readonly PageInput[]): Promise<void> {
    this.#held(key);
    if (this.#inputs >= MAX_INPUTS) {
      if (inputs.every((input) => input.kind === 'mouse' && input.action === 'move')) return;
      throw new TroupeError('CAPACITY', 'The page does not keep up with its input; try again', {
        retryAfterSeconds: 1,
      });
    }
    this.#inputs += 1;
    try {
      await this.#deps.actor().ask('SendInput', { inputs }, { deadlineMs: ASK_MS });
    } finally {
      this.#inputs -= 1;
    }
  }

  /** The page's selection. @throws SESSION_BUSY if the key is not the holder's */
  async copy(key: string): Promise<string> {
    this.#held(key);
    return this.#deps.actor().ask('CopySelection', null, { deadlineMs: ASK_MS });
  }

  /** Ends control with the session. Idempotent. */
  end(): void {
    this.#holder?.cancelIdle();
    this.#holder?.cancelLeft();
    this.#holder = null;
  }

  #held(key: string): Holder {
    const holder = this.#holder;
    if (holder === null || !this.holds(key)) {
      throw new TroupeError('SESSION_BUSY', 'You do not have control of the session; take it first');
    }
    return holder;
  }

  #restartIdle(holder: Holder): void {
    holder.cancelIdle();
    holder.cancelIdle = this.#deps.clock.after(CONTROL_IDLE_MS, () => void this.#end(holder, 'idle'));
  }

  async #end(holder: Holder, reason: 'returned' | 'left' | 'idle'): Promise<void> {
    if (this.#holder !== holder) return;
    this.end();
    this.#deps.emit({ type: 'ControlReturned', data: { reason } });
    // An actor that has ended or restarted does not give control to a person.
    await this.#giveControl().catch(() => undefined);
  }

  async #giveControl(): Promise<void> {
    await this.#deps.actor().ask('GiveControl', { to: 'agent' }, { deadlineMs: ASK_MS });
  }
}

function nothing(): void {}

function equals(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
