import { type Observable, Subject } from 'rxjs';
import { assertNever } from '../base/assert-never.js';
import type { Clock } from '../base/clock.js';
import { boundedWait, startLimit } from '../base/deadline.js';
import { deferred } from '../base/deferred.js';
import { TroupeError } from '../protocol/errors.js';
import type { ActorRef, MessageMap, Termination } from './actor.js';
import type { Child, ChildState } from './child.js';
import { type ChildSpec, DEFAULT_READY_MS } from './child-spec.js';
import { decideRestart, type RestartBounds } from './restart-policy.js';
import { StableRef } from './stable-ref.js';
import type { ActorHandle } from './thread-host.js';
import type { ThreadPool } from './thread-pool.js';

/** What a child gets from its supervision. */
export interface ChildDependencies {
  readonly threads: ThreadPool;
  readonly clock: Clock;
  readonly random: () => number;
  readonly bounds: RestartBounds;
}

/** The implementation of {@link Child}. */
export class SupervisedChild<M extends MessageMap, A, E> implements Child<M, E> {
  readonly #terminated = deferred<Termination>();
  readonly terminated = this.#terminated.promise;
  readonly #spec: ChildSpec<M, A, E>;
  readonly #deps: ChildDependencies;
  readonly #ref: StableRef<M>;
  readonly #events = new Subject<E>();
  readonly #states = new Subject<ChildState>();
  readonly #stopping = new AbortController();
  #state: ChildState = { kind: 'starting', attempt: 0 };
  #handle: ActorHandle<M, E> | undefined;
  /** The current or last start. Never rejects. */
  #started: Promise<unknown> = Promise.resolve();
  #history: readonly number[] = [];
  #restarts = 0;
  #cancelBackOff: () => void = () => undefined;
  #stopped: Promise<void> | undefined;

  /** @param ordinal the id of the child's ref */
  constructor(spec: ChildSpec<M, A, E>, ordinal: number, dependencies: ChildDependencies) {
    this.#spec = spec;
    this.#deps = dependencies;
    this.#ref = new StableRef<M>(ordinal);
  }

  get id(): string {
    return this.#spec.id;
  }

  get ref(): ActorRef<M> {
    return this.#ref;
  }

  get events$(): Observable<E> {
    return this.#events.asObservable();
  }

  get state(): ChildState {
    return this.#state;
  }

  get states$(): Observable<ChildState> {
    return this.#states.asObservable();
  }

  get restarts(): number {
    return this.#restarts;
  }

  /** Tells that were dropped because the actor was not running. */
  get dropped(): number {
    return this.#ref.dropped;
  }

  /** Starts the child for the first time. @throws the start's error; the child has then ended */
  async begin(): Promise<void> {
    try {
      await this.#start(0);
    } catch (error) {
      if (this.#stopped === undefined) this.#finish({ reason: 'crash', error });
      throw error;
    }
  }

  stop(): Promise<Termination> {
    this.#stopped ??= this.#stop();
    return this.terminated;
  }

  /** Ends the child without waiting for its cleanup. Its resources are released when its thread ends. Idempotent. */
  kill(): void {
    void this.stop();
    this.#finish({ reason: 'hang', error: new TroupeError('UNAVAILABLE', `${this.id} did not stop in time`) });
  }

  #start(attempt: number): Promise<void> {
    const starting = this.#startOnce(attempt);
    this.#started = starting.catch(() => undefined);
    return starting;
  }

  async #startOnce(attempt: number): Promise<void> {
    const { kind, args, thread, hangMs, shutdownMs } = this.#spec;
    this.#become({ kind: 'starting', attempt });
    const placed = await this.#deps.threads.spawn(kind, args(attempt), {
      thread,
      hangMs,
      onEvent: (event) => this.#events.next(event),
    });
    const { handle } = placed;
    try {
      await this.#ready(handle, attempt);
      this.#stopping.signal.throwIfAborted();
    } catch (error) {
      await handle.stop(shutdownMs);
      throw error;
    }
    this.#handle = handle;
    this.#become({ kind: 'running', attempt, thread: placed.thread });
    this.#ref.connect(handle.ref);
    void handle.terminated.then((termination) => this.#ended(termination));
  }

  /** @throws why the actor is not ready: it ended, timed out, or was stopped */
  async #ready(handle: ActorHandle<M, E>, attempt: number): Promise<void> {
    const { ready, readyMs = DEFAULT_READY_MS, id } = this.#spec;
    const { signal } = this.#stopping;
    signal.throwIfAborted();
    if (ready === undefined) return;
    const late = () => new TroupeError('UNAVAILABLE', `${id} was not ready within ${readyMs} ms`);
    await boundedWait<void>({ signal, ms: readyMs, late, clock: this.#deps.clock }, (resolve, reject) => {
      ready(handle.ref, { attempt, signal }).then(() => resolve(), reject);
      void handle.terminated.then((termination) => reject(endError(termination)));
      return undefined;
    });
  }

  /** Called when a run has ended: normally, by a fault, or because a restart failed. */
  #ended(termination: Termination): void {
    this.#handle = undefined;
    this.#ref.disconnect();
    if (this.#stopped !== undefined || this.#state.kind === 'ended') return;
    const { restart, finalCodes } = this.#spec;
    const { bounds, clock, random } = this.#deps;
    const past = { history: this.#history, nowMs: clock.now().getTime(), random };
    const decision = decideRestart(restart, termination.reason, bounds, past);
    if (decision.kind === 'end' || hasCode(termination, finalCodes ?? [])) {
      this.#finish(termination);
      return;
    }
    this.#history = decision.history;
    this.#restarts += 1;
    const { delayMs } = decision;
    this.#become({ kind: 'backing-off', attempt: this.#restarts, delayMs, cause: termination });
    this.#cancelBackOff = clock.after(delayMs, () => void this.#restart());
  }

  async #restart(): Promise<void> {
    try {
      await this.#start(this.#restarts);
    } catch (error) {
      this.#ended({ reason: 'crash', error });
    }
  }

  async #stop(): Promise<void> {
    const { kind } = this.#state;
    if (kind === 'ended') return;
    this.#cancelBackOff();
    this.#become({ kind: 'stopping' });
    this.#stopping.abort(new TroupeError('SESSION_ENDED', `${this.id} was stopped`));
    switch (kind) {
      case 'running':
        return this.#finish((await this.#handle?.stop(this.#spec.shutdownMs)) ?? { reason: 'shutdown' });
      case 'starting':
        // A start that does not finish in time is abandoned; an actor that it spawns later is stopped then.
        await Promise.race([this.#started, this.#shutdownTime()]);
        return this.#finish({ reason: 'shutdown' });
      case 'backing-off':
      case 'stopping':
        return this.#finish({ reason: 'shutdown' });
      default:
        return assertNever(kind);
    }
  }

  #shutdownTime(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = startLimit(this.#spec.shutdownMs, resolve, this.#deps.clock);
      void this.#started.then(cancel);
    });
  }

  #finish(termination: Termination): void {
    if (this.#state.kind === 'ended') return;
    this.#ref.end(endError(termination));
    this.#become({ kind: 'ended', termination });
    this.#states.complete();
    this.#events.complete();
    this.#terminated.resolve(termination);
  }

  #become(state: ChildState): void {
    // A start that was abandoned by a stop no longer changes the state.
    if (this.#state.kind === 'ended' || (this.#state.kind === 'stopping' && state.kind !== 'ended')) return;
    this.#state = state;
    this.#states.next(state);
  }
}

function hasCode(termination: Termination, codes: readonly string[]): boolean {
  if (!('error' in termination) || !(termination.error instanceof TroupeError)) return false;
  return codes.includes(termination.error.code);
}

/** The error for callers that waited for a child that has ended. */
function endError(termination: Termination): unknown {
  if (termination.reason === 'crash') return termination.error;
  if (termination.reason === 'lost' || termination.reason === 'hang') {
    return new TroupeError('SESSION_RESTARTED', 'The actor ended unexpectedly; try again', undefined, {
      cause: termination.error,
    });
  }
  return new TroupeError('SESSION_ENDED', 'The actor has ended');
}
