import { randomBytes } from 'node:crypto';
import { boundedWait } from '../base/deadline.js';
import { TroupeError } from '../protocol/errors.js';
import type { SessionEvent } from '../protocol/events.js';
import { HANDOFF_MS, type HandoffRequest, MAX_HANDOFF_MS, MAX_HANDOFF_TEXT } from '../protocol/person/handoff.js';
import type { HostCallContext, HostModule } from '../script/host-module.js';
import { cancelledError } from './browser/bounds.js';
import { membersOf, misuse, shown, textOf, timeoutOf } from './call-arguments.js';

/** How long a failed flow waits for a person. */
const PAUSE_MS = 3_600_000;

/** A person's answer, and who gave it. */
export interface GivenAnswer extends HandoffRequest {
  readonly by: string;
}

interface OpenHandoff {
  readonly id: string;
  readonly since: number;
  answer(given: GivenAnswer): void;
}

/**
 * `agent.handoff(text, {timeout})`: a script waits until a person has done something that it cannot do. At most one
 * handoff is open. The script's clock stands still meanwhile.
 */
export class Handoffs {
  readonly #emit: (event: SessionEvent) => void;
  #open: OpenHandoff | null = null;
  #waitedMs = 0;

  constructor(emit: (event: SessionEvent) => void) {
    this.#emit = emit;
  }

  /** How long scripts have waited for people so far, in milliseconds. */
  get waitedMs(): number {
    return this.#waitedMs + (this.#open === null ? 0 : performance.now() - this.#open.since);
  }

  /** A module with the call `handoff` in addition. */
  addTo(module: HostModule): HostModule {
    return { ...module, calls: { ...module.calls, handoff: (args, context) => this.#request(args, context) } };
  }

  async #request(args: readonly unknown[], context: HostCallContext): Promise<object> {
    const { text, timeoutMs } = readArguments(args);
    return this.#wait(text, timeoutMs, context);
  }

  /** A failed flow waits until a person lets its job end, an hour at most. @throws the signal's reason */
  async pause(text: string, signal: AbortSignal): Promise<void> {
    const shownText = text.length > MAX_HANDOFF_TEXT ? `${text.slice(0, MAX_HANDOFF_TEXT - 1)}…` : text;
    const context = { signal, pause: () => () => undefined };
    // Whatever the person answers, the flow has failed.
    await this.#wait(shownText, PAUSE_MS, context).catch(() => undefined);
    signal.throwIfAborted();
  }

  /**
   * Resolves when a person has done it.
   * @throws WAIT_TIMEOUT without an answer in time; ACTION_FAILED if the person refuses, or another handoff is open
   */
  async #wait(text: string, timeoutMs: number, context: Pick<HostCallContext, 'signal' | 'pause'>): Promise<object> {
    if (this.#open !== null) {
      throw new TroupeError('ACTION_FAILED', 'The session already waits for a person; answer that handoff first');
    }
    if (context.signal.aborted) throw cancelledError();
    const id = randomBytes(6).toString('base64url');
    const since = performance.now();
    const resume = context.pause();
    try {
      this.#emit({ type: 'HandoffRequested', data: { handoff: id, text, timeoutMs } });
      const late = () => new TroupeError('WAIT_TIMEOUT', noAnswer(text, timeoutMs));
      const given = await boundedWait<GivenAnswer>({ signal: context.signal, ms: timeoutMs, late }, (answer) => {
        this.#open = { id, since, answer };
        return undefined;
      });
      const waitedMs = this.#close(given.answer, given);
      const { answer, note } = given;
      if (answer === 'done') return { waitedMs, ...(note === undefined ? {} : { note }) };
      const reason = note === undefined ? '' : `: ${note}`;
      throw new TroupeError('ACTION_FAILED', `The person refused ${shown(text)}${reason}`, { handoff: 'refused' });
    } catch (error) {
      if (this.#open === null) throw error;
      this.#close(context.signal.aborted ? 'cancelled' : 'timeout');
      throw context.signal.aborted ? cancelledError() : error;
    } finally {
      resume();
    }
  }

  /** @throws NOT_FOUND if the handoff is not open */
  answer(given: GivenAnswer): void {
    const open = this.#open;
    if (open === null || (given.handoff !== undefined && given.handoff !== open.id)) {
      throw new TroupeError('NOT_FOUND', 'The session does not wait for this answer; it may have been given already');
    }
    open.answer(given);
  }

  #close(outcome: 'done' | 'refused' | 'timeout' | 'cancelled', given?: GivenAnswer): number {
    const open = this.#open;
    if (open === null) return 0;
    const waitedMs = Math.round(performance.now() - open.since);
    this.#open = null;
    this.#waitedMs += waitedMs;
    const answer =
      given === undefined ? {} : { by: given.by, ...(given.note === undefined ? {} : { note: given.note }) };
    this.#emit({ type: 'HandoffEnded', data: { handoff: open.id, outcome, waitedMs, ...answer } });
    return waitedMs;
  }
}

function readArguments([asked, options]: readonly unknown[]): { readonly text: string; readonly timeoutMs: number } {
  const text = textOf(asked, 'agent.handoff takes a text that says what a person is to do');
  if (text.length > MAX_HANDOFF_TEXT)
    throw misuse(`The text of agent.handoff has at most ${MAX_HANDOFF_TEXT} characters`);
  const { timeout } = membersOf(options, 'agent.handoff', ['timeout']);
  const timeoutMs = timeoutOf(timeout) ?? HANDOFF_MS;
  if (timeoutMs > MAX_HANDOFF_MS)
    throw misuse(`The timeout of agent.handoff is at most ${MAX_HANDOFF_MS} milliseconds`);
  return { text, timeoutMs };
}

function noAnswer(text: string, timeoutMs: number): string {
  return `No person answered ${shown(text)} within ${Math.round(timeoutMs / 1000)} s; answer it on the session's page, or give it a longer timeout`;
}
