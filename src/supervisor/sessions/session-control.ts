import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import { ControlKey, type PageInput } from '../../protocol/control.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import type { SessionEvent } from '../../protocol/events.js';
import type { SessionChild } from './session-child.js';

/** Control with which nothing is done for so long is given back. */
export const CONTROL_IDLE_MS = 300_000;
/** So long after the last page of its holder has gone it is given back. */
export const CONTROL_LEFT_MS = 10_000;
/** Beyond the time that the actor gives the agent to come to rest, and a page to take its input. */
const ASK_MS = 8_000;
/** Messages of input under way; of more, those that only move the mouse are dropped, and others refused. */
const MAX_INPUTS = 32;

/** What control needs of its session. */
export interface ControlDependencies {
  readonly clock: Clock;
  /** @throws SESSION_ENDED when the session does not run */
  actor(): SessionChild['ref'];
  emit(event: SessionEvent): void;
  /** A sign of life. */
  touched(): void;
}

interface Holder {
  readonly key: ControlKey;
  readonly by: string;
  /** Pages that it has open; null until the first. */
  pages: number | null;
  cancelIdle(): void;
  cancelLeft(): void;
}

/**
 * Who of people has a session's control: one at a time, known by a key. While somebody has it the agent waits. It ends
 * when it is given back, when the last page of its holder has been gone for 10 s, or when nothing was done with it for
 * 5 min; and with the session.
 */
export class SessionControl {
  readonly #deps: ControlDependencies;
  #holder: Holder | null = null;
  #inputs = 0;

  constructor(deps: ControlDependencies) {
    this.#deps = deps;
  }

  get driver(): 'agent' | 'person' {
    return this.#holder === null ? 'agent' : 'person';
  }

  /**
   * Settles when the agent has come to rest.
   * @param takeOver also from another person
   * @throws SESSION_BUSY when another person has it; SESSION_ENDED
   */
  async take(by: string, takeOver: boolean): Promise<ControlKey> {
    const before = this.#holder;
    if (before !== null && !takeOver) {
      throw new TroupeError('SESSION_BUSY', `${before.by} has control of the session`, { by: before.by });
    }
    const actor = this.#deps.actor();
    before?.cancelIdle();
    before?.cancelLeft();
    const key = ControlKey.parse(randomBytes(16).toString('base64url'));
    const holder: Holder = { key, by, pages: null, cancelIdle: nothing, cancelLeft: nothing };
    this.#holder = holder;
    this.#restartIdle(holder);
    this.#deps.emit({ type: 'ControlTaken', data: { by } });
    try {
      await actor.ask('GiveControl', { to: 'person' }, { deadlineMs: ASK_MS });
    } catch (error) {
      // An actor that is started again asks who drives.
      if (encodeError(error).code !== 'SESSION_RESTARTED') {
        await this.#end(holder, 'returned');
        throw error;
      }
    }
    return key;
  }

  /** The agent goes on. Idempotent. */
  async giveBack(): Promise<void> {
    if (this.#holder !== null) await this.#end(this.#holder, 'returned');
  }

  /** A sign of life of another client, which drives without scripts. */
  touch(): void {
    this.#deps.touched();
  }

  /** Whether the key is that of who has control; a sign of life of theirs. */
  holds(key: string): boolean {
    const holder = this.#holder;
    if (holder === null || !same(holder.key, key)) return false;
    this.#restartIdle(holder);
    this.#deps.touched();
    return true;
  }

  /**
   * A page that its holder has open; the function answered says that it is gone.
   * @throws SESSION_BUSY for another's key
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

  /** @throws SESSION_BUSY for another's key, CAPACITY when the page does not keep up, WAIT_TIMEOUT, SESSION_RESTARTED */
  async input(key: string, inputs: readonly PageInput[]): Promise<void> {
    this.#held(key);
    if (this.#inputs >= MAX_INPUTS) {
      if (inputs.every((input) => input.kind === 'mouse' && input.action === 'move')) return;
      throw new TroupeError('CAPACITY', 'The page does not keep up with what is done to it', { retryAfterSeconds: 1 });
    }
    this.#inputs += 1;
    try {
      await this.#deps.actor().ask('SendInput', { inputs }, { deadlineMs: ASK_MS });
    } finally {
      this.#inputs -= 1;
    }
  }

  /** What is selected on the page. @throws SESSION_BUSY for another's key */
  async copy(key: string): Promise<string> {
    this.#held(key);
    return this.#deps.actor().ask('CopySelection', null, { deadlineMs: ASK_MS });
  }

  /** The session ends, and control with it. Idempotent. */
  end(): void {
    this.#holder?.cancelIdle();
    this.#holder?.cancelLeft();
    this.#holder = null;
  }

  #held(key: string): Holder {
    const holder = this.#holder;
    if (holder === null || !this.holds(key)) {
      throw new TroupeError('SESSION_BUSY', 'The control of the session is not, or no longer, yours; take it first');
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
    // One that is gone, or started again, has no person in control.
    await this.#giveControl().catch(() => undefined);
  }

  async #giveControl(): Promise<void> {
    await this.#deps.actor().ask('GiveControl', { to: 'agent' }, { deadlineMs: ASK_MS });
  }
}

function nothing(): void {}

function same(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
