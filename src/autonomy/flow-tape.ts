import { decodeError, type ErrorBody, encodeError, TroupeError } from '../protocol/errors.js';
import type { HostCall, HostModule } from '../script/host-module.js';

/** Calls that a tape holds; a flow that makes more cannot be continued. */
const MAX_CALLS = 5_000;
/** Calls by hand between a failure and its continuation. */
const MAX_BY_HAND = 500;
/** Characters of arguments and answers that a tape holds. */
const MAX_CHARACTERS = 16 * 1024 * 1024;
/** Calls that only read, so that they can be made again. */
const READS: ReadonlySet<string> = new Set([
  'agent.look',
  'agent.text',
  'agent.value',
  'agent.wait',
  'agent.tabs',
  'agent.dialogs',
  'agent.downloads',
]);

/** A call that a flow made, as it was answered. */
export interface TapedCall {
  /** `agent.act` */
  readonly target: string;
  readonly args: readonly unknown[];
  readonly answer: { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: ErrorBody };
  /** The innermost flow. */
  readonly flow: string | null;
  readonly line: number | null;
  readonly column: number | null;
}

/** Where and how a failed flow went on. */
export interface Resumption {
  /** The call that failed; where a check failed, the first of the reads before it. */
  readonly failed: TapedCall;
  /** `replace`: the call counts as done. `before`: it is made again. */
  readonly how: 'replace' | 'before';
  /** What was done since the failure by others than the flow, and went well. */
  readonly byHand: readonly TapedCall[];
  /** The last of `byHand` is the call with another locator, which is still to be made. */
  readonly trial: boolean;
}

/** How a flow is to go on. */
export type Continuation =
  /** The failed call is taken as done, with this value as its answer. */
  | { readonly kind: 'done'; readonly value: unknown }
  /** The failed call is made again. */
  | { readonly kind: 'retry' }
  /** The failed call is made with another locator. */
  | { readonly kind: 'locator'; readonly locator: string };

/**
 * What a flow did, so that it can go on where it failed.
 *
 * The engine cannot go back into a function that threw. But a flow sees the world through its host calls alone, so the
 * same answers bring it to the same place: it is run again, each call is answered from the tape without touching the
 * browser, and from the failed call on it lives.
 *
 *     recording --flow failed--> stopped --continueWith--> replaying --behind the failed call--> recording
 *
 * A flow that does not repeat itself (by chance or by the clock) fails at the first call that differs.
 */
export class FlowTape {
  #calls: TapedCall[] = [];
  #byHand: TapedCall[] = [];
  #characters = 0;
  /** The next call to be answered from the tape. */
  #next = 0;
  #mode: 'off' | 'recording' | 'replaying' | 'full' = 'off';
  #onLive: () => void = () => undefined;
  /** The locator of the next call that lives. */
  #locator: string | null = null;

  /** True while calls are answered from the tape: what the flow says meanwhile was said before. */
  get replaying(): boolean {
    return this.#mode === 'replaying';
  }

  /** The calls so far, the failed one last. */
  get calls(): readonly TapedCall[] {
    return this.#calls;
  }

  /** A module whose calls go over the tape while a flow runs. */
  wrap(module: HostModule): HostModule {
    const calls = Object.entries(module.calls).map(([method, call]): [string, HostCall] => [
      method,
      (args, context) => this.#call(`${module.name}.${method}`, args, context, call),
    ]);
    return { ...module, calls: Object.fromEntries(calls) };
  }

  /** Forgets what was, and records from now on. */
  begin(): void {
    this.#calls = [];
    this.#byHand = [];
    this.#characters = 0;
    this.#next = 0;
    this.#mode = 'recording';
  }

  /** The flow has ended; calls go past the tape. */
  stop(): void {
    if (this.#mode !== 'full') this.#mode = 'off';
  }

  /** Forgets what was. */
  clear(): void {
    this.begin();
    this.#mode = 'off';
  }

  /**
   * Makes ready for the flow to be run again from its beginning.
   *
   * @param error what the flow failed with
   * @param onLive called when the last taped call has been answered
   * @throws SCRIPT_ERROR that says why the flow cannot be continued so
   */
  continueWith(error: ErrorBody, how: Continuation, onLive: () => void): Resumption {
    if (this.#mode === 'full') throw impossible('it made too many calls to be remembered');
    const last = this.#calls.at(-1);
    if (last === undefined) throw impossible('nothing of it is remembered');
    let byHand: readonly TapedCall[] = this.#byHand;
    let failed = last;
    const atCall = !last.answer.ok && sameError(last.answer.error, error);
    if (how.kind === 'locator') {
      if (!atCall) throw impossible('it failed at a check, which has no locator');
      byHand = [...byHand, { ...last, args: [how.locator, ...last.args.slice(1)], answer: { ok: true, value: null } }];
    }
    if (atCall) {
      if (how.kind === 'done') failed = { ...last, answer: { ok: true, value: how.value } };
      this.#calls = [...this.#calls.slice(0, -1), ...(how.kind === 'done' ? [failed] : [])];
    } else {
      // A check failed, not a call: what was checked can be read again, and nothing can be put in its place.
      if (how.kind === 'done')
        throw impossible('it failed at a check. Make the check true and use Flow.resume({retry: true})');
      const dropped = this.#dropReads();
      if (dropped === null) throw impossible('nothing was read before the check that could be read again');
      failed = dropped;
    }
    this.#byHand = [];
    this.#next = 0;
    this.#locator = how.kind === 'locator' ? how.locator : null;
    this.#mode = 'replaying';
    this.#onLive = onLive;
    if (this.#calls.length === 0) this.#goLive();
    return { failed, how: how.kind === 'retry' ? 'before' : 'replace', byHand, trial: how.kind === 'locator' };
  }

  /** Takes the reads at the end of the tape away, and answers the first of them; null when there are none. */
  #dropReads(): TapedCall | null {
    const kept = this.#calls.findLastIndex(({ target }) => !READS.has(target)) + 1;
    const first = this.#calls[kept] ?? null;
    this.#calls = this.#calls.slice(0, kept);
    return first;
  }

  async #call(
    target: string,
    args: readonly unknown[],
    context: Parameters<HostCall>[1],
    call: HostCall,
  ): Promise<unknown> {
    const { kind, flow, line, column } = context.site;
    const about = { target, args, flow, line, column };
    if (this.#mode === 'off' || kind !== 'flow') {
      const value = await call(args, context);
      if (this.#calls.length > 0 && this.#byHand.length < MAX_BY_HAND) {
        this.#byHand.push({ ...about, answer: { ok: true, value } });
      }
      return value;
    }
    if (this.#mode === 'replaying') return this.#replay(target, args);
    const made = this.#locator === null ? args : [this.#locator, ...args.slice(1)];
    this.#locator = null;
    try {
      const value = await call(made, context);
      this.#keep({ ...about, answer: { ok: true, value } });
      return value;
    } catch (error) {
      this.#keep({ ...about, answer: { ok: false, error: encodeError(error) } });
      throw error;
    }
  }

  #replay(target: string, args: readonly unknown[]): unknown {
    const taped = this.#calls[this.#next];
    if (taped === undefined || taped.target !== target || JSON.stringify(taped.args) !== JSON.stringify(args)) {
      this.#mode = 'off';
      throw impossible(
        `it does not repeat itself: this time it called ${target} where it called ${taped?.target} before`,
      );
    }
    this.#next += 1;
    if (this.#next === this.#calls.length) this.#goLive();
    if (taped.answer.ok) return taped.answer.value;
    throw decodeError(taped.answer.error);
  }

  #goLive(): void {
    this.#mode = 'recording';
    this.#onLive();
  }

  #keep(call: TapedCall): void {
    if (this.#mode !== 'recording') return;
    this.#characters += JSON.stringify(call.args).length + (JSON.stringify(call.answer)?.length ?? 0);
    if (this.#calls.length >= MAX_CALLS || this.#characters > MAX_CHARACTERS) {
      this.#calls = [];
      this.#mode = 'full';
      return;
    }
    this.#calls.push(call);
  }
}

function sameError(one: ErrorBody, other: ErrorBody): boolean {
  return one.code === other.code && one.error === other.error;
}

function impossible(why: string): TroupeError {
  return new TroupeError('SCRIPT_ERROR', `The flow cannot be continued: ${why}`);
}
