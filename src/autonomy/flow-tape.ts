import { decodeError, type ErrorBody, encodeError, TroupeError } from '../protocol/errors.js';
import type { HostCall, HostModule } from '../script/host-module.js';

/** Calls that a tape can hold; a flow with more calls cannot be continued. */
const MAX_CALLS = 5_000;
/** Calls that are made by hand between a failure and its continuation. */
const MAX_BY_HAND = 500;
/** Characters of arguments and results that a tape can hold. */
const MAX_CHARACTERS = 16 * 1024 * 1024;
/** Calls that only read, and can therefore be repeated. */
const READS: ReadonlySet<string> = new Set([
  'agent.look',
  'agent.text',
  'agent.value',
  'agent.wait',
  'agent.tabs',
  'agent.dialogs',
  'agent.downloads',
]);

const ASSERTIONS: ReadonlySet<string> = new Set(['agent.expect', 'agent.until']);
const CHECK_FAILED = 'it failed at a check. Make the check true and use Flow.resume({retry: true})';

/** A call on a browser of `agent.session`; its arguments begin with the browser's name and the method. */
const SECOND = 'agent.in';
const NOT_OPENED = 'agent.session opened no browser. Use Flow.resume({retry: true})';

/** A recorded call of a flow, with its result. */
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

/** Where and how a failed flow was continued. */
export interface Resumption {
  /** The call that failed; if a check failed, the first of the reads before it. */
  readonly failed: TapedCall;
  /** `replace`: the call counts as done. `before`: it is repeated. */
  readonly how: 'replace' | 'before';
  /** Successful calls since the failure that the flow did not make. */
  readonly byHand: readonly TapedCall[];
  /** The last of `byHand` is the failed call with another locator, which has not been made yet. */
  readonly trial: boolean;
}

/** How to continue a flow. */
export type Continuation =
  /** The failed call counts as done, with this result. */
  | { readonly kind: 'done'; readonly value: unknown }
  /** The failed call is repeated. */
  | { readonly kind: 'retry' }
  /** The failed call is made with another locator. */
  | { readonly kind: 'locator'; readonly locator: string };

/**
 * Records a flow's calls, so that the flow can be continued where it failed.
 *
 * The engine cannot return into a function that threw. But a flow interacts with the world only through host calls, so
 * the
 * same results lead it to the same point: it runs again from the start, each call is answered from the tape without
 * using
 * the browser, and calls are executed again from the failed one on.
 *
 *     recording --flow failed--> stopped --continueWith--> replaying --after the failed call--> recording
 *
 * A flow that is not deterministic (because of random values or the time) fails at the first call that differs.
 */
export class FlowTape {
  #calls: TapedCall[] = [];
  #byHand: TapedCall[] = [];
  #characters = 0;
  /** The next call to answer from the tape. */
  #next = 0;
  #mode: 'off' | 'recording' | 'replaying' | 'full' = 'off';
  #onLive: () => void = () => undefined;
  /** The locator for the next executed call. */
  #locator: string | null = null;

  /** True while calls are answered from the tape: the flow's events were emitted before. */
  get replaying(): boolean {
    return this.#mode === 'replaying';
  }

  /** The calls so far, the failed one last. */
  get calls(): readonly TapedCall[] {
    return this.#calls;
  }

  /** Wraps a module, so that its calls are recorded or replayed while a flow runs. */
  wrap(module: HostModule): HostModule {
    const calls = Object.entries(module.calls).map(([method, call]): [string, HostCall] => [
      method,
      (args, context) => this.#call(`${module.name}.${method}`, args, context, call),
    ]);
    return { ...module, calls: Object.fromEntries(calls) };
  }

  /** Clears the tape and starts recording. */
  begin(): void {
    this.#calls = [];
    this.#byHand = [];
    this.#characters = 0;
    this.#next = 0;
    this.#mode = 'recording';
  }

  /** The flow has ended: calls are no longer recorded. */
  stop(): void {
    if (this.#mode !== 'full') this.#mode = 'off';
  }

  /** Clears the tape. */
  clear(): void {
    this.begin();
    this.#mode = 'off';
  }

  /**
   * Prepares the tape for running the flow again from its start.
   *
   * @param error the flow's error
   * @param onLive called when the last recorded call has been answered
   * @throws SCRIPT_ERROR with the reason why the flow cannot be continued this way
   */
  continueWith(error: ErrorBody, how: Continuation, onLive: () => void): Resumption {
    if (this.#mode === 'full') throw notContinuable('it made too many calls to be recorded');
    const last = this.#calls.at(-1);
    if (last === undefined) throw notContinuable('none of its calls were recorded');
    let byHand: readonly TapedCall[] = this.#byHand;
    let failed = last;
    const atCall = !last.answer.ok && sameError(last.answer.error, error);
    if (how.kind === 'locator') {
      if (!atCall) throw notContinuable('it failed at a check, which has no locator');
      byHand = [...byHand, { ...last, args: withLocator(last, how.locator), answer: { ok: true, value: null } }];
    }
    // An assertion that counts as passed would be none.
    if (atCall && how.kind === 'done' && ASSERTIONS.has(calledOf(last))) throw notContinuable(CHECK_FAILED);
    if (atCall && how.kind !== 'retry' && last.target === 'agent.session') throw notContinuable(NOT_OPENED);
    if (atCall) {
      if (how.kind === 'done') failed = { ...last, answer: { ok: true, value: how.value } };
      this.#calls = [...this.#calls.slice(0, -1), ...(how.kind === 'done' ? [failed] : [])];
    } else {
      // A check failed, not a call: what was checked can be read again, but nothing can replace it.
      if (how.kind === 'done') throw notContinuable(CHECK_FAILED);
      const dropped = this.#dropReads();
      if (dropped === null) throw notContinuable('nothing was read before the check that could be read again');
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

  /** Removes the reads at the end of the tape, and returns the first of them; null if there are none. */
  #dropReads(): TapedCall | null {
    const kept = this.#calls.findLastIndex((call) => !READS.has(calledOf(call))) + 1;
    const first = this.#calls[kept] ?? null;
    this.#calls = this.#calls.slice(0, kept);
    return first;
  }

  async #call(
    target: string,
    given: readonly unknown[],
    context: Parameters<HostCall>[1],
    call: HostCall,
  ): Promise<unknown> {
    const { kind, flow, line, column } = context.site;
    const args = kind === 'flow' && this.#mode !== 'off' ? withoutMemory(target, given) : given;
    const about = { target, args, flow, line, column };
    if (this.#mode === 'off' || kind !== 'flow') {
      const value = await call(args, context);
      if (this.#calls.length > 0 && this.#byHand.length < MAX_BY_HAND) {
        this.#byHand.push({ ...about, answer: { ok: true, value } });
      }
      return value;
    }
    if (this.#mode === 'replaying') return this.#replay(target, args);
    const made = this.#locator === null ? args : withLocator(about, this.#locator);
    this.#locator = null;
    try {
      const value = await call(made, context);
      this.#record({ ...about, answer: { ok: true, value } });
      return value;
    } catch (error) {
      this.#record({ ...about, answer: { ok: false, error: encodeError(error) } });
      throw error;
    }
  }

  #replay(target: string, args: readonly unknown[]): unknown {
    const taped = this.#calls[this.#next];
    if (taped === undefined || taped.target !== target || JSON.stringify(taped.args) !== JSON.stringify(args)) {
      this.#mode = 'off';
      throw notContinuable(
        `it is not deterministic: this time it called ${target} where it called ${taped?.target} before`,
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

  #record(call: TapedCall): void {
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

/** The call by its name, whichever browser it is on. */
export function calledOf({ target, args }: Pick<TapedCall, 'target' | 'args'>): string {
  return target === SECOND ? `agent.${String(args[1])}` : target;
}

/** A call as flows write it: one on a second browser as `agent.session('ben').act`, with the arguments of `act`. */
export function asWritten(call: TapedCall): TapedCall {
  if (call.target !== SECOND) return call;
  const [name, method, ...args] = call.args;
  return { ...call, target: `agent.session('${String(name)}').${String(method)}`, args };
}

/**
 * A look names the last list that the sandbox has, so that only what differs is sent. When the flow runs again, the sandbox
 * has another one: on the tape, each look is whole.
 */
function withoutMemory(target: string, args: readonly unknown[]): readonly unknown[] {
  if (calledOf({ target, args }) !== 'agent.look') return args;
  return args.slice(0, target === SECOND ? 3 : 1);
}

function withLocator({ target, args }: Pick<TapedCall, 'target' | 'args'>, locator: string): readonly unknown[] {
  const at = target === SECOND ? 2 : 0;
  return [...args.slice(0, at), locator, ...args.slice(at + 1)];
}

function sameError(one: ErrorBody, other: ErrorBody): boolean {
  return one.code === other.code && one.error === other.error;
}

function notContinuable(why: string): TroupeError {
  return new TroupeError('SCRIPT_ERROR', `The flow cannot be continued: ${why}`);
}
