import { randomBytes } from 'node:crypto';
import { boundedWait } from '../../base/deadline.js';
import { decodeError, type ErrorBody, TroupeError } from '../../protocol/errors.js';
import type { SessionEvent } from '../../protocol/events.js';
import {
  type LoginState,
  MAX_STATE_SECONDS,
  STATE_SECONDS,
  StateName,
  type StorageState,
} from '../../protocol/login-state.js';
import type { HostCallContext, HostModule } from '../../script/host-module.js';
import { cancelledError } from '../browser/bounds.js';
import type { BrowserPort } from '../browser/browser-port.js';
import { membersOf, misuse, shown } from '../call-arguments.js';
import { collectState } from './collect-state.js';

/** How long the service may take to save a state. */
const SAVE_MS = 10_000;
/** States that wait to be saved; a script saves one at a time. */
const MAX_OPEN = 10;

/** A collected state, which the service saves. */
export interface CollectedState {
  readonly name: string;
  /** How long it can be used. */
  readonly seconds: number;
  readonly state: StorageState;
}

/** What became of it. */
export type SaveOutcome = { readonly saved: LoginState } | { readonly error: ErrorBody };

interface OpenSave extends CollectedState {
  settle(outcome: SaveOutcome): void;
}

/**
 * `agent.saveState(name, {expiresIn}?)`: a script saves the login of its browser. What is in the state leaves the
 * session's thread only when the service asks for it; the event that announces it has its name alone.
 */
export class SavedStates {
  readonly #emit: (event: SessionEvent) => void;
  readonly #open = new Map<string, OpenSave>();

  constructor(emit: (event: SessionEvent) => void) {
    this.#emit = emit;
  }

  /** A module with the call `saveState` in addition. */
  addTo(module: HostModule, browser: BrowserPort): HostModule {
    return { ...module, calls: { ...module.calls, saveState: (args, context) => this.#save(args, context, browser) } };
  }

  /** What a script has collected. @throws NOT_FOUND if no script waits for it any more */
  collected(id: string): CollectedState {
    const open = this.#open.get(id);
    if (open === undefined) throw new TroupeError('NOT_FOUND', 'No script saves this state any more');
    const { name, seconds, state } = open;
    return { name, seconds, state };
  }

  /** Ends the script's wait. */
  settle(id: string, outcome: SaveOutcome): void {
    this.#open.get(id)?.settle(outcome);
  }

  async #save(args: readonly unknown[], context: HostCallContext, browser: BrowserPort): Promise<object> {
    const { name, seconds } = readArguments(args);
    if (this.#open.size >= MAX_OPEN) throw new TroupeError('CAPACITY', 'Too many states are being saved; try again');
    const state = await collectState(browser);
    if (context.signal.aborted) throw cancelledError();
    const id = randomBytes(6).toString('base64url');
    const late = () => new TroupeError('UNAVAILABLE', `The state was not saved within ${SAVE_MS / 1000} s; try again`);
    try {
      const outcome = await boundedWait<SaveOutcome>({ signal: context.signal, ms: SAVE_MS, late }, (settle) => {
        this.#open.set(id, { name, seconds, state, settle });
        const origins = state.origins.map(({ origin }) => origin);
        const data = { state: id, name, cookies: state.cookies.length, origins };
        this.#emit({ type: 'StateCollected', data });
        return undefined;
      });
      if ('error' in outcome) throw decodeError(outcome.error);
      const { cookies, origins, expiresAt } = outcome.saved;
      return { name, cookies, origins, expiresAt };
    } catch (error) {
      throw context.signal.aborted ? cancelledError() : error;
    } finally {
      this.#open.delete(id);
    }
  }
}

function readArguments([name, options]: readonly unknown[]): { readonly name: string; readonly seconds: number } {
  const parsed = StateName.safeParse(name);
  if (!parsed.success) {
    throw misuse(`agent.saveState takes a name of 1 to 100 letters, digits, and _ . -, not ${shown(name)}`);
  }
  const { expiresIn = STATE_SECONDS } = membersOf(options, 'agent.saveState', ['expiresIn']);
  if (typeof expiresIn === 'number' && expiresIn >= 1 && expiresIn <= MAX_STATE_SECONDS) {
    return { name: parsed.data, seconds: expiresIn };
  }
  throw misuse(`expiresIn is a number of seconds from 1 to ${MAX_STATE_SECONDS}, not ${shown(expiresIn)}`);
}
