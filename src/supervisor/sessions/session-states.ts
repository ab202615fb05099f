import type { CollectedState } from '../../agent-js/state/saved-states.js';
import type { LoginStates } from '../../auth/login-states.js';
import type { SetupValues } from '../../auth/setup-values.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import type { SessionId } from '../../protocol/session.js';
import type { BrowserOpening, OpenBounds, SessionBrowser, SessionChild, SessionTask } from './session-child.js';

const ASK_MS = 5_000;

/** What the login states of a session need. */
export interface SessionStatesParts {
  readonly states: LoginStates;
  readonly setupValues: SetupValues;
  readonly id: SessionId;
  /** See `Submitter.caller`. */
  readonly caller: string;
  log(line: string): void;
  /** @throws SESSION_ENDED if the session is not running */
  actor(): SessionChild['ref'];
}

/** The login states that a session starts with and saves, as the caller that submitted it. */
export class SessionStates {
  readonly #parts: SessionStatesParts;

  constructor(parts: SessionStatesParts) {
    this.#parts = parts;
  }

  /**
   * Opens a session's browser with the state that its request names.
   * @throws INVALID_REQUEST if the caller has no such state, or no longer; what `open` throws
   */
  async open(open: BrowserOpening, task: () => SessionTask, bounds: OpenBounds): Promise<SessionBrowser> {
    const { request } = task();
    if (request.state === undefined) return open(task, bounds);
    const refused = new AbortController();
    const storageState = await this.#parts.states.read(this.#parts.caller, request.state).catch((error: unknown) => {
      refused.abort(error);
      return {};
    });
    try {
      const signal = AbortSignal.any([bounds.signal, refused.signal]);
      return await open(() => ({ ...task(), request: { ...request, storageState } }), { ...bounds, signal });
    } catch (error) {
      throw refused.signal.aborted ? refused.signal.reason : error;
    }
  }

  /** Stores the JSON text of what a `_setup` flow returned. @throws the journal's error */
  keepValue(value: string): Promise<void> {
    const { setupValues, caller, id } = this.#parts;
    return setupValues.save(caller, id, value);
  }

  /** Saves a state that a script has collected, and ends the script's wait. Never rejects. */
  async save(id: string): Promise<void> {
    const { states, caller, log } = this.#parts;
    try {
      const actor = this.#parts.actor();
      const { name, state, seconds }: CollectedState = await actor.ask(
        'CollectState',
        { state: id },
        { deadlineMs: ASK_MS },
      );
      const outcome = await states.save(caller, name, state, seconds).then(
        (saved) => ({ saved }),
        (error: unknown) => ({ error: encodeError(error) }),
      );
      actor.tell('SettleState', { state: id, outcome });
    } catch (error) {
      // The script that saves it is gone.
      if (!(error instanceof TroupeError)) log(`a login state was not saved: ${encodeError(error).error}`);
    }
  }
}
