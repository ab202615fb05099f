import { setMaxListeners } from 'node:events';
import { stretched } from '../base/deadline.js';
import { deferred } from '../base/deferred.js';
import { encodeError, TroupeError } from '../protocol/errors.js';
import type { SessionEvent, StepKind } from '../protocol/events.js';
import { answerCall } from './answer-call.js';
import type { HostModule } from './host-module.js';
import { DEFAULT_LIMITS, type ScriptLimits } from './limits.js';
import { ScriptClock } from './script-clock.js';
import type { CallMessage, Outcome } from './script-messages.js';
import { ScriptThread, type ThreadListener, type ThreadPlan } from './script-thread.js';

export interface SandboxOptions {
  readonly modules: readonly HostModule[];
  /** Receives console lines, assertions and flows, in their order. Called on this thread; must not throw. */
  emit(event: SessionEvent): void;
  readonly limits?: Partial<ScriptLimits>;
  /** JSON: what scripts see as `args`; `{}` by default. */
  readonly args?: unknown;
}

export interface ScriptRequest {
  readonly source: string;
  /** For errors; not necessarily unique. */
  readonly name: string;
  readonly kind: StepKind;
  /** Counted from the call of {@link Sandbox.run}. */
  readonly timeoutMs: number;
  /** Ends the script; `run` rejects with the signal's reason if that is a TroupeError. */
  readonly signal?: AbortSignal;
}

interface Run {
  readonly number: number;
  readonly request: ScriptRequest;
  /** For its host calls. Created with the first one: it is not cheap, and most scripts of a console make no calls. */
  calls: AbortController | null;
  readonly settle: (outcome: Outcome) => void;
  /** Flows that have started and not finished. */
  readonly flows: { readonly path: string; readonly depth: number; readonly startedAt: number }[];
  /** Set when the script was asked to end: the error that it fails with. */
  ending: TroupeError | null;
  grace: NodeJS.Timeout | null;
}

/**
 * The scripts of one session: a lasting scope in a thread of its own, with nothing but the language and the given
 * modules. The handle never blocks. A script that exceeds its time is asked to end; after `graceMs` its thread is
 * terminated and replaced. The scope is lost then, and the error says so.
 *
 *     idle --run--> running --done--> idle
 *                      |--deadline, signal--> ending --done or grace over--> idle
 *     any --close--> closed
 */
export class Sandbox {
  readonly #modules: ReadonlyMap<string, HostModule>;
  readonly #emit: (event: SessionEvent) => void;
  readonly #limits: ScriptLimits;
  readonly #plan: ThreadPlan;
  /** The thread, also while it starts; null if the last start failed. */
  #thread: Promise<ScriptThread> | null = null;
  /** The same thread once it is ready. */
  #ready: ScriptThread | null = null;
  /** The scope was lost while no script ran; the next error says so. */
  #scopeLost = false;
  #run: Run | null = null;
  readonly #clock = new ScriptClock(() => {
    if (this.#run !== null) this.#stop(this.#run, timeoutError(this.#run.request));
  });
  #watched: AbortSignal | undefined;
  readonly #onAbort = (): void => {
    if (this.#run !== null) this.#stop(this.#run, abortReason(this.#run.request.signal));
  };
  #runs = 0;
  #closed: Promise<void> | null = null;

  /** Settles when scripts can run. Fails with UNAVAILABLE if the thread does not start; nothing is left then. */
  static async start(options: SandboxOptions): Promise<Sandbox> {
    const sandbox = new Sandbox(options);
    await sandbox.#currentThread();
    return sandbox;
  }

  private constructor(options: SandboxOptions) {
    this.#modules = new Map(options.modules.map((module) => [module.name, module]));
    this.#emit = (event) => options.emit(event);
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#plan = {
      modules: options.modules.map(({ name, prelude, lookups = [] }) => ({ name, prelude, lookups })),
      args: JSON.stringify(options.args ?? {}),
      limits: this.#limits,
    };
  }

  /**
   * Runs a script in the lasting scope. One at a time: the caller queues.
   *
   * @returns JSON text of the value of its last expression, awaited; `null` for undefined
   * @throws SCRIPT_ERROR, EVAL_TIMEOUT, or the code of a host call's error that the script did not catch; details:
   *   `name`, `line`, `column`, `flow` and `flows` (outermost first) if known, `scopeLost: true` if variables of
   *   earlier scripts are lost, and the details of the host call's own error. SESSION_ENDED after {@link close}.
   */
  async run(request: ScriptRequest): Promise<string> {
    if (this.#closed !== null) throw closedError();
    if (this.#run !== null) throw new TroupeError('INTERNAL', 'This sandbox is already running a script');
    const { promise: outcome, resolve: settle } = deferred<Outcome>();
    this.#runs += 1;
    const run: Run = {
      number: this.#runs,
      request,
      calls: null,
      settle,
      flows: [],
      ending: null,
      grace: null,
    };
    this.#run = run;
    this.#watch(request.signal);
    try {
      if (request.signal?.aborted === true) this.#onAbort();
      this.#begin(run);
      return this.#finish(run, await outcome);
    } finally {
      this.#clock.end();
      if (run.grace !== null) clearTimeout(run.grace);
      run.calls?.abort();
      if (this.#run === run) this.#run = null;
    }
  }

  /** Ends the thread; a running script rejects with SESSION_ENDED. Idempotent; settles when the thread has ended. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#clock.close();
    const run = this.#run;
    if (run !== null) {
      run.ending = closedError();
      run.calls?.abort();
      run.settle({ ok: false, error: encodeError(run.ending), stopped: false, broken: false });
    }
    this.#watch(undefined);
    const thread = await this.#thread?.catch(() => null);
    await thread?.end();
  }

  /** Most scripts of a session come with the same signal as the one before, and share one listener. */
  #watch(signal: AbortSignal | undefined): void {
    if (signal === this.#watched) return;
    this.#watched?.removeEventListener('abort', this.#onAbort);
    this.#watched = signal;
    signal?.addEventListener('abort', this.#onAbort);
  }

  #begin(run: Run): void {
    if (this.#ready !== null) {
      this.#order(this.#ready, run);
      return;
    }
    this.#currentThread().then(
      (thread) => this.#order(thread, run),
      (error: unknown) => run.settle({ ok: false, error: encodeError(error), stopped: false, broken: false }),
    );
  }

  #order(thread: ScriptThread, run: Run): void {
    // It may have been asked to end while the thread started.
    if (run.ending !== null) {
      run.settle({ ok: false, error: encodeError(run.ending), stopped: false, broken: false });
      return;
    }
    const { source, name, kind, timeoutMs } = run.request;
    // Starts only now: the start of a thread does not count for the script, and has its own limit.
    this.#clock.start(timeoutMs);
    thread.run({ type: 'run', run: run.number, source, name, kind, timeoutMs });
  }

  /** Asks the running script to end, and terminates its thread if it does not. */
  #stop(run: Run, error: TroupeError): void {
    if (run.ending !== null || this.#run !== run) return;
    run.ending = error;
    run.calls?.abort();
    const body = encodeError(error);
    if (this.#ready === null) {
      run.settle({ ok: false, error: body, stopped: false, broken: false });
      return;
    }
    this.#ready.cancel(run.number);
    run.grace = setTimeout(
      () => run.settle({ ok: false, error: body, stopped: false, broken: true }),
      stretched(this.#limits.graceMs),
    );
  }

  #finish(run: Run, outcome: Outcome): string {
    if (!outcome.ok && outcome.broken && this.#closed === null) this.#replaceThread();
    if (outcome.ok) {
      const signal = run.calls?.signal;
      if (signal !== undefined) for (const module of this.#modules.values()) module.finished?.(signal);
      return outcome.json;
    }
    const scopeLost = outcome.broken || this.#scopeLost;
    this.#scopeLost = false;
    const ended = outcome.stopped ? encodeError(run.ending ?? timeoutError(run.request)) : outcome.error;
    const open = run.flows.map((flow) => flow.path);
    const details = {
      name: run.request.name,
      ...(open.length === 0 ? {} : { flow: open.at(-1), flows: open }),
      ...ended.details,
      ...outcome.error.details,
      ...(scopeLost ? { scopeLost: true } : {}),
    };
    const message = scopeLost
      ? `${ended.error}; the scope was lost, with the variables of earlier scripts`
      : ended.error;
    const error = new TroupeError(ended.code, message, details);
    for (let flow = run.flows.pop(); flow !== undefined; flow = run.flows.pop()) {
      const { path, depth, startedAt } = flow;
      const durationMs = performance.now() - startedAt;
      const data = { path, depth, status: 'failed', durationMs, error: encodeError(error) } as const;
      this.#emit({ type: 'FlowFinished', data });
    }
    throw error;
  }

  #currentThread(): Promise<ScriptThread> {
    this.#thread ??= this.#startThread();
    return this.#thread;
  }

  async #startThread(): Promise<ScriptThread> {
    try {
      const thread = await ScriptThread.start(this.#plan, this.#listener());
      this.#ready = thread;
      return thread;
    } catch (error) {
      // The next script tries again.
      this.#thread = null;
      throw error;
    }
  }

  #replaceThread(): void {
    const old = this.#ready;
    this.#ready = null;
    this.#thread = this.#startThread();
    // A failed start is reported to the next script; a failed end is ignored.
    this.#thread.catch(() => undefined);
    old?.end().catch(() => undefined);
  }

  #listener(): ThreadListener {
    return {
      called: (message) => this.#called(message),
      emitted: (event) => {
        if (this.#closed !== null) return;
        if (this.#run !== null) updateFlows(this.#run.flows, event);
        this.#emit(event);
      },
      done: (number, outcome) => {
        if (this.#run?.number === number) this.#run.settle(outcome);
      },
      lost: (error) => {
        if (this.#run !== null) {
          this.#run.settle({ ok: false, error: encodeError(error), stopped: false, broken: true });
        } else if (this.#closed === null) {
          this.#scopeLost = true;
          this.#replaceThread();
        }
      },
    };
  }

  #called(message: CallMessage): void {
    const run = this.#run;
    // A thread that was asked to end no longer waits for its calls.
    if (run === null || run.number !== message.run || run.ending !== null) return;
    run.calls ??= callsController();
    const context = {
      signal: run.calls.signal,
      remainingMs: () => this.#clock.leftMs,
      pause: () => this.#pause(run),
      site: message.site,
    };
    void answerCall(this.#modules, message, context, this.#limits.answerLength).then((text) => {
      if (this.#run === run && run.ending === null) this.#ready?.answer(message.call, text);
    });
  }

  /** Pauses the clocks of both sides; the returned function resumes them. */
  #pause(run: Run): () => void {
    this.#clock.pause();
    this.#ready?.pause(Number.POSITIVE_INFINITY);
    return () => {
      // If this script was ended meanwhile, the clock belongs to another one.
      if (this.#run !== run) return;
      this.#clock.resume();
      this.#ready?.pause(this.#clock.pausedMs);
    };
  }
}

function callsController(): AbortController {
  const controller = new AbortController();
  // A look waits for all frames of its page at once, and each wait listens to the signal.
  setMaxListeners(0, controller.signal);
  return controller;
}

/** Updates the list of open flows from the events. */
function updateFlows(flows: Run['flows'], event: SessionEvent): void {
  if (event.type === 'FlowStarted') flows.push({ ...event.data, startedAt: performance.now() });
  else if (event.type === 'FlowFinished') flows.pop();
}

function timeoutError(request: ScriptRequest): TroupeError {
  return new TroupeError('EVAL_TIMEOUT', `The script did not end within ${Math.round(request.timeoutMs)} ms`);
}

function closedError(): TroupeError {
  return new TroupeError('SESSION_ENDED', 'The session has ended');
}

function abortReason(signal: AbortSignal | undefined): TroupeError {
  const reason: unknown = signal?.reason;
  return reason instanceof TroupeError ? reason : new TroupeError('UNAVAILABLE', 'The script was cancelled');
}
