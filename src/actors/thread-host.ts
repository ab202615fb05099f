import { setMaxListeners } from 'node:events';
import { MessageChannel, type Worker } from 'node:worker_threads';
import { type Remote, transfer, wrap } from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import { type Observable, Subject } from 'rxjs';
import { type Clock, systemClock } from '../base/clock.js';
import { startLimit, withDeadline } from '../base/deadline.js';
import { deferred } from '../base/deferred.js';
import { decodeError, encodeError, TroupeError } from '../protocol/errors.js';
import { openWorker } from '../threads/open-worker.js';
import { endReason } from '../threads/thread-end.js';
import { noteThread } from '../threads/thread-faults.js';
import type { ActorKind, ActorRef, AskBounds, MessageMap, Termination } from './actor.js';
import type { ThreadControl, ThreadStats } from './actor-thread.js';
import { type Frame, FrameKind } from './frames.js';
import { DEFAULT_HEARTBEAT, Heartbeat, type HeartbeatOptions } from './heartbeat.js';
import { PendingAsks } from './pending-asks.js';
import { ThreadPort } from './thread-port.js';

/** The owner's handle of an actor that it spawned. */
export interface ActorHandle<M extends MessageMap, E> {
  readonly ref: ActorRef<M>;
  /** The actor's events, in order; completes when it ends. Not replayed to late subscribers. */
  readonly events$: Observable<E>;
  /** Resolves once with the reason why the actor ended. Never rejects. */
  readonly terminated: Promise<Termination>;
  /**
   * Asks the actor to end; resolves when it has. At `deadlineMs` the actor's own cleanup is aborted. If the thread does
   * not respond within another second, the actor counts as ended with the reason `hang`: the thread cannot be ended
   * for one actor because it hosts others, so it is left to the heartbeat. Idempotent.
   */
  stop(deadlineMs: number): Promise<Termination>;
}

/** How an actor is started. */
export interface SpawnOptions<E> {
  /** A handler that holds the mailbox longer ends its actor with the reason `hang`, at the next heartbeat. */
  readonly hangMs?: number | undefined;
  /** Receives every event, including those emitted before `spawn` resolves. */
  readonly onEvent?: (event: E) => void;
}

/** How much longer than a stop's deadline a responsive thread may take, and how long it may load; in milliseconds. */
const STOP_GRACE_MS = 1_000;
const LOAD_MS = 30_000;

interface HostedActor {
  emit(event: unknown): void;
  terminate(termination: Termination): void;
}

/** A thread's entry, name, and limits. */
export interface ThreadOptions {
  /** A module that calls `hostActors`. */
  readonly entry: URL;
  /** Shown in thread lists and logs. */
  readonly name: string;
  /** The limit of the thread's old generation in megabytes; exceeding it ends only this thread. */
  readonly maxHeapMb?: number;
  /** A thread whose event loop does not answer is ended, and its actors end with the reason `hang`. */
  readonly heartbeat?: HeartbeatOptions;
  readonly clock?: Clock;
}

/**
 * A worker thread that hosts actors, as its owner sees it. When the thread dies or is closed with {@link close}, every
 * pending ask rejects with SESSION_RESTARTED and every actor on it terminates with the reason `lost`, or with `hang` if
 * the thread was ended because it missed its heartbeat: which of its actors hangs is then unknown.
 */
export class ThreadHost {
  readonly #part: string;
  readonly #worker: Worker;
  readonly #control: Remote<ThreadControl>;
  readonly #port: ThreadPort;
  readonly #actors = new Map<number, HostedActor>();
  readonly #asks = new PendingAsks();
  readonly #gone = new AbortController();
  /** Resolves once with the cause when the thread has exited. */
  readonly exited: Promise<Error>;
  readonly #clock: Clock;
  readonly #heartbeat: Heartbeat;
  /**
   * Resolves when the thread can host actors. Stays pending if the thread dies first; loading too long ends the thread.
   */
  readonly #loaded: Promise<void>;
  #hang: TroupeError | undefined;
  #hasLoaded = false;
  /** What a call gets once the thread has ended. */
  #lostError = lostError();
  #nextActor = 1;
  #alive = true;

  constructor(options: ThreadOptions) {
    this.#part = options.name;
    this.#worker = openWorker(
      options.entry,
      { name: options.name, part: this.#part },
      options.maxHeapMb === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: options.maxHeapMb } },
    );
    this.#control = wrap<ThreadControl>(nodeEndpoint(this.#worker));
    // There is one listener for each pending call.
    setMaxListeners(0, this.#gone.signal);
    const { port1, port2 } = new MessageChannel();
    this.#port = new ThreadPort(port1, {
      receive: (frame) => this.#receive(frame),
      refused: (frame, error) => this.#refused(frame, error),
    });
    this.exited = new Promise((resolve) => {
      let cause: Error | null = null;
      this.#worker.on('error', (error: unknown) => {
        cause = error instanceof Error ? error : new Error(String(error));
      });
      this.#worker.once('exit', (code) => {
        const reason = cause ?? new Error(`The thread exited with code ${code}`);
        this.#lost(reason);
        resolve(reason);
      });
    });
    this.#clock = options.clock ?? systemClock;
    this.#loaded = this.#control.connect(transfer(port2, [port2]));
    this.#heartbeat = this.#watch(this.#loaded, options.heartbeat);
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** How many actors this thread hosts; used to find the least loaded thread. */
  get actorCount(): number {
    return this.#actors.size;
  }

  /**
   * Starts an actor on this thread.
   * @throws SESSION_RESTARTED if the thread has ended
   * @throws INTERNAL if the actor's factory throws
   */
  async spawn<M extends MessageMap, A, E>(
    kind: ActorKind<M, A, E>,
    args: A,
    options: SpawnOptions<E> = {},
  ): Promise<ActorHandle<M, E>> {
    const id = this.#nextActor++;
    const events = new Subject<E>();
    if (options.onEvent !== undefined) events.subscribe(options.onEvent);
    const { promise: terminated, resolve: settle } = deferred<Termination>();
    this.#actors.set(id, {
      emit: (event) => events.next(event as E), // The factory behind `kind` emits E; frames carry no types.
      terminate: (termination) => {
        this.#actors.delete(id);
        events.complete();
        settle(termination);
      },
    });
    try {
      await this.#callControl(() => this.#control.spawn(id, kind.name, args, options.hangMs ?? null));
    } catch (error) {
      this.#actors.get(id)?.terminate({ reason: 'crash', error });
      throw error;
    }
    let stopped: Promise<Termination> | undefined;
    const stop = (deadlineMs: number) => {
      stopped ??= this.#stop(id, terminated, deadlineMs);
      return stopped;
    };
    return { ref: this.#ref<M>(id), events$: events.asObservable(), terminated, stop };
  }

  stats(): Promise<ThreadStats> {
    return this.#callControl(() => this.#control.stats());
  }

  /** Ends the thread and all its actors immediately. Idempotent. */
  async close(): Promise<void> {
    // Terminating a thread while it loads its modules leaves their files open in the process (Node 20).
    await Promise.race([this.#loaded, this.exited]);
    await this.#worker.terminate();
    await this.exited;
  }

  async #stop(id: number, terminated: Promise<Termination>, deadlineMs: number): Promise<Termination> {
    const cancelTimer = startLimit(
      deadlineMs + STOP_GRACE_MS,
      () => {
        const error = new TroupeError('UNAVAILABLE', 'The thread of the actor does not answer');
        this.#actors.get(id)?.terminate({ reason: 'hang', error });
      },
      this.#clock,
    );
    const asked = this.#callControl(() => this.#control.stop(id, deadlineMs)).catch(() => undefined);
    // Do not wait for an actor that counts as ended.
    await Promise.race([asked, terminated]);
    const termination = await terminated;
    cancelTimer();
    return termination;
  }

  #ref<M extends MessageMap>(id: number): ActorRef<M> {
    return {
      id,
      tell: (type, payload) => this.#port.send([FrameKind.tell, id, type, payload]),
      ask: <T extends keyof M & string>(type: T, payload: M[T]['payload'], bounds: AskBounds) => {
        if (!this.#alive) return Promise.reject(this.#lostError);
        const answer = this.#asks.open(
          type,
          bounds,
          (ask) => this.#port.send([FrameKind.ask, id, ask, type, payload]),
          (ask) => this.#port.send([FrameKind.cancel, id, ask]),
        );
        return answer as Promise<M[T]['reply']>; // M types the behaviour's handler table.
      },
    };
  }

  /** Ends the thread if it does not load, or later does not answer. */
  #watch(connected: Promise<void>, options: HeartbeatOptions = DEFAULT_HEARTBEAT): Heartbeat {
    const onHang = (what: string) => {
      this.#hang = new TroupeError('UNAVAILABLE', `The thread ${what}, so it was ended`);
      void this.#worker.terminate();
    };
    const cancelLoad = startLimit(LOAD_MS, () => onHang(`did not load within ${LOAD_MS} ms`), this.#clock);
    void this.exited.then(cancelLoad);
    // If the thread dies first, `exited` reports it; the call itself would stay pending forever.
    void connected.then(() => {
      this.#hasLoaded = true;
      noteThread(this.#part, null);
      cancelLoad();
    });
    const ping = () => connected.then(() => this.#control.ping());
    const patienceMs = options.everyMs * options.misses;
    return new Heartbeat(this.#clock, options, ping, () => onHang(`did not answer for ${patienceMs} ms`));
  }

  /** Makes a control call, and rejects if the thread dies; comlink itself would wait forever. */
  #callControl<T>(call: () => Promise<T>): Promise<T> {
    if (!this.#alive) return Promise.reject(this.#lostError);
    return withDeadline(call(), { signal: this.#gone.signal });
  }

  #receive(frame: Frame): void {
    switch (frame[0]) {
      case FrameKind.reply:
        this.#asks.answer(frame[1], frame[2]);
        return;
      case FrameKind.failure:
        this.#asks.fail(frame[1], decodeError(frame[2]));
        return;
      case FrameKind.gone:
        this.#asks.fail(frame[1], goneError());
        return;
      case FrameKind.event:
        this.#actors.get(frame[1])?.emit(frame[2]);
        return;
      case FrameKind.terminated: {
        const [, actor, reason, error] = frame;
        const termination: Termination =
          reason === 'crash' || reason === 'hang'
            ? { reason, error: error === null ? null : decodeError(error) }
            : { reason };
        this.#actors.get(actor)?.terminate(termination);
        return;
      }
      default:
        return; // These frames are only sent to the thread.
    }
  }

  #refused(frame: Frame, error: unknown): void {
    if (frame[0] !== FrameKind.ask) return; // A tell may be dropped.
    this.#asks.fail(frame[2], decodeError(encodeError(error)));
  }

  #lost(cause: Error): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#heartbeat.stop();
    this.#port.close();
    if (!this.#hasLoaded) {
      this.#lostError = startError(this.#hang ?? cause);
      noteThread(this.#part, this.#lostError.message);
    }
    this.#asks.failAll(this.#lostError);
    this.#gone.abort(this.#lostError);
    const termination: Termination =
      this.#hang === undefined ? { reason: 'lost', error: cause } : { reason: 'hang', error: this.#hang };
    for (const actor of [...this.#actors.values()]) actor.terminate(termination);
  }
}

/** True if an ask was rejected because its actor had already ended. No handler saw it, so it may be sent again. */
export function isUndelivered(error: unknown): boolean {
  return error instanceof TroupeError && error.code === 'SESSION_ENDED' && error.details?.delivered === false;
}

function goneError(): TroupeError {
  return new TroupeError('SESSION_ENDED', 'The actor has ended', { delivered: false });
}

function lostError(): TroupeError {
  return new TroupeError('SESSION_RESTARTED', 'The thread of the session ended while the call was under way');
}

function startError(cause: Error): TroupeError {
  return new TroupeError('SESSION_RESTARTED', `The thread of the session could not start: ${endReason(cause)}`);
}
