import { Wakeups, withSignal } from '../../base/deadline.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import type { Handoff, HandoffRequest } from '../../protocol/person/handoff.js';
import type { SessionRecord } from '../../protocol/session.js';
import type { SessionChild } from './session-child.js';
import type { SessionClocks } from './session-clocks.js';
import type { SessionControl } from './session-control.js';

/** How long an actor may take to pass an answer on. */
const ASK_MS = 5_000;

/** What a handoff needs from its session. */
export interface HandoffDependencies {
  readonly record: Pick<SessionRecord, 'handoff'>;
  readonly control: Pick<SessionControl, 'giveBack' | 'handoffChanged'>;
  readonly clocks: Pick<SessionClocks, 'hold' | 'release'>;
  /** Set once the session's end was requested. */
  readonly ended: Promise<unknown> | undefined;
  /** @throws SESSION_ENDED if the session is not running */
  actor(): SessionChild['ref'];
}

/** The handoff of a session: what a script asks a person to do. The script itself waits in the session's actor. */
export class SessionHandoff {
  readonly #session: HandoffDependencies;
  readonly #changes = new Wakeups();

  constructor(session: HandoffDependencies) {
    this.#session = session;
  }

  /** The record has another handoff, or none. The time of the session stands still while it has one. */
  changed(): void {
    const { record, clocks, control } = this.#session;
    if (record.handoff === undefined) clocks.release();
    else clocks.hold();
    this.#changes.wake();
    // Later, so that the event about the end of control follows the one about the handoff.
    queueMicrotask(() => control.handoffChanged(this.open));
  }

  /** The id of the open handoff; null if there is none, or the session ends. */
  get open(): string | null {
    const { record, ended } = this.#session;
    return ended === undefined ? (record.handoff?.id ?? null) : null;
  }

  /** The open handoff, or the next one. @throws the signal's reason */
  async next(signal: AbortSignal): Promise<Handoff> {
    for (;;) {
      signal.throwIfAborted();
      const open = this.#session.record.handoff;
      if (open !== undefined) return open;
      await this.#changes.next(signal);
    }
  }

  /** Resolves when this handoff is no longer open. @throws the signal's reason */
  async ended(id: string, signal: AbortSignal): Promise<void> {
    while (this.#session.record.handoff?.id === id) {
      signal.throwIfAborted();
      await this.#changes.next(signal);
    }
  }

  /**
   * Answers the open handoff. A person who has control gives it back.
   * @throws NOT_FOUND if it is not open; SESSION_ENDED
   */
  async answer(given: HandoffRequest, by: string): Promise<Handoff> {
    const { record, control, ended } = this.#session;
    if (ended !== undefined) throw new TroupeError('SESSION_ENDED', 'The session has ended');
    const open = record.handoff;
    if (open === undefined || (given.handoff !== undefined && given.handoff !== open.id)) {
      throw notOpen();
    }
    const answer = { ...given, handoff: open.id, by };
    await this.#session
      .actor()
      .ask('AnswerHandoff', answer, { deadlineMs: ASK_MS })
      .catch((error: unknown) => {
        throw encodeError(error).code === 'SESSION_RESTARTED' ? notOpen() : error;
      });
    // The record follows with the actor's event.
    await withSignal({ signals: [], ms: ASK_MS }, (late) => this.ended(open.id, late)).catch(() => undefined);
    await control.giveBack();
    return open;
  }
}

function notOpen(): TroupeError {
  return new TroupeError('NOT_FOUND', 'The session does not wait for this answer; it may have been given already');
}
