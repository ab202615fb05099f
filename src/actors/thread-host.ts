import { setMaxListeners } from 'node:events';
import { MessageChannel, Worker } from 'node:worker_threads';
import { type Remote, transfer, wrap } from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import { type Observable, Subject } from 'rxjs';
import { type Clock, systemClock } from '../base/clock.js';
import { withDeadline } from '../base/deadline.js';
import { deferred } from '../base/deferred.js';
import { decodeError, encodeError, TroupeError } from '../protocol/errors.js';
import type { ActorKind, ActorRef, AskBounds, MessageMap, Termination } from './actor.js';
import type { ThreadControl, ThreadStats } from './actor-thread.js';
import { type Frame, FrameKind } from './frames.js';
import { DEFAULT_HEARTBEAT, Heartbeat, type HeartbeatOptions } from './heartbeat.js';
import { PendingAsks } from './pending-asks.js';
import { ThreadPort } from './thread-port.js';

/** The owner's record of an actor that it spawned. */
export interface ActorHandle<M extends MessageMap, E> {
  readonly ref: ActorRef<M>;
  /** What the actor emits, in order; completes when it ends. Nothing is kept for late subscribers. */
  readonly events$: Observable<E>;
  /** Settles once, with why the actor ended. Never rejects. */
  readonly terminated: Promise<Termination>;
  /**
   * Asks the actor to end, and settles when it has. Past `deadlineMs` the actor's own clean-up is cut. A thread that
   * does not even do that within a second more cannot be ended for one actor, since it hosts others: the actor then
   * counts as ended with the reason `hang`, and its thread is left to the heartbeat. Idempotent.
   */
  stop(deadlineMs: number): Promise<Termination>;
}

/** How an actor is started. */
export interface SpawnOptions<E> {
  /** A handler that holds the mailbox longer ends its actor with the reason `hang`, at the next heartbeat. */
  readonly hangMs?: number | undefined;
  /** Sees every event, also those of the actor's first moment, before `spawn` has settled. */
  readonly onEvent?: (event: E) => void;
}

/** What a thread that answers takes at most beyond the deadline of a stop, and to load its entry, in milliseconds. */
const STOP_GRACE_MS = 1_000;
const LOAD_MS = 30_000;

interface HostedActor {
  emit(event: unknown): void;
  terminate(termination: Termination): void;
}

/** What a thread may use, and what is said when it is gone. */
export interface ThreadOptions {
  /** A module that calls `hostActors`. */
  readonly entry: URL;
  /** For thread lists and logs. */
  readonly name: string;
  /** Most megabytes of its old generation; past them the thread dies alone. */
  readonly maxHeapMb?: number;
  /** A thread whose event loop does not answer is ended, and its actors end with the reason `hang`. */
  readonly heartbeat?: HeartbeatOptions;
  readonly clock?: Clock;
}

/**
 * A worker thread that hosts actors, seen from its owner. When the thread dies, by itself or by {@link close}, every
 * ask under way rejects SESSION_RESTARTED and every actor on it terminates with the reason `lost`; with the reason
 * `hang` when it was ended because it did not answer its heartbeat: which of its actors hangs cannot be known then.
 */
export class ThreadHost {
  readonly #worker: Worker;
  readonly #control: Remote<ThreadControl>;
  readonly #port: ThreadPort;
  readonly #actors = new Map<number, HostedActor>();
  readonly #asks = new PendingAsks();
  readonly #gone = new AbortController();
  /** Settles once, when the thread is gone, with what is known of why. */
  readonly exited: Promise<Error>;
  readonly #clock: Clock;
  readonly #heartbeat: Heartbeat;
  /** Settles when the thread hosts actors. Stays open where it dies before; it is ended when it takes too long. */
  readonly #loaded: Promise<void>;
  #hang: TroupeError | undefined;
  #nextActor = 1;
  #alive = true;

  constructor(options: ThreadOptions) {
    this.#worker = new Worker(options.entry, {
      name: options.name,
      // What the process was started with (loaders, inspectors, keys in its environment) is not for its threads.
      execArgv: [],
      env: {},
      ...(options.maxHeapMb === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: options.maxHeapMb } }),
    });
    this.#control = wrap<ThreadControl>(nodeEndpoint(this.#worker));
    // As many listen as calls are under way.
    setMaxListeners(0, this.#gone.signal);
    const { port1, port2 } = new MessageChannel();
    this.#port = new ThreadPort(port1, {
      receive: (frame) => this.#receive(frame),
      refused: (frame, error) => this.#refused(frame, error),
    });
    this.exited = new Promise((resolve) => {
      let cause = new Error('The thread exited');
      this.#worker.on('error', (error: Error) => {
        cause = error;
      });
      this.#worker.once('exit', () => {
        this.#lost(cause);
        resolve(cause);
      });
    });
    this.#clock = options.clock ?? systemClock;
    this.#loaded = this.#control.connect(transfer(port2, [port2]));
    this.#heartbeat = this.#watch(this.#loaded, options.heartbeat);
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** How many actors live here: what a least-loaded choice compares. */
  get actorCount(): number {
    return this.#actors.size;
  }

  /**
   * Starts an actor here.
   * @throws SESSION_RESTARTED when the thread is gone
   * @throws INTERNAL when its factory throws
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
      emit: (event) => events.next(event as E), // The factory behind `kind` emits E; the wire keeps no types.
      terminate: (termination) => {
        this.#actors.delete(id);
        events.complete();
        settle(termination);
      },
    });
    try {
      await this.#orLost(() => this.#control.spawn(id, kind.name, args, options.hangMs ?? null));
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
    return this.#orLost(() => this.#control.stats());
  }

  /** Ends the thread with all its actors, at once. Idempotent. */
  async close(): Promise<void> {
    // A thread that is cut while it loads its modules leaves their files open in the process (Node 20).
    await Promise.race([this.#loaded, this.exited]);
    await this.#worker.terminate();
    await this.exited;
  }

  async #stop(id: number, terminated: Promise<Termination>, deadlineMs: number): Promise<Termination> {
    const cancelTimer = this.#clock.after(deadlineMs + STOP_GRACE_MS, () => {
      const error = new TroupeError('UNAVAILABLE', 'The thread of the actor does not answer');
      this.#actors.get(id)?.terminate({ reason: 'hang', error });
    });
    const asked = this.#orLost(() => this.#control.stop(id, deadlineMs)).catch(() => undefined);
    // An actor that counts as ended is not waited for.
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
        if (!this.#alive) return Promise.reject(lostError());
        const answer = this.#asks.open(
          type,
          bounds,
          (ask) => this.#port.send([FrameKind.ask, id, ask, type, payload]),
          (ask) => this.#port.send([FrameKind.cancel, id, ask]),
        );
        return answer as Promise<M[T]['reply']>; // The handler table of the behaviour is typed by M.
      },
    };
  }

  /** Ends the thread when it does not load, and later when it does not answer. */
  #watch(connected: Promise<void>, options: HeartbeatOptions = DEFAULT_HEARTBEAT): Heartbeat {
    const onHang = (what: string) => {
      this.#hang = new TroupeError('UNAVAILABLE', `The thread ${what}, so it was ended`);
      void this.#worker.terminate();
    };
    const cancelLoad = this.#clock.after(LOAD_MS, () => onHang(`did not load within ${LOAD_MS} ms`));
    void this.exited.then(cancelLoad);
    // A thread that dies before it answers is seen by `exited`; the call itself would wait for ever.
    void connected.then(cancelLoad);
    const ping = () => connected.then(() => this.#control.ping());
    const patienceMs = options.everyMs * options.misses;
    return new Heartbeat(this.#clock, options, ping, () => onHang(`did not answer for ${patienceMs} ms`));
  }

  /** A call on the control line; comlink itself would wait for ever on a thread that died. */
  #orLost<T>(call: () => Promise<T>): Promise<T> {
    if (!this.#alive) return Promise.reject(lostError());
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
        return; // Frames that only go down.
    }
  }

  #refused(frame: Frame, error: unknown): void {
    if (frame[0] !== FrameKind.ask) return; // A tell may be lost.
    this.#asks.fail(frame[2], decodeError(encodeError(error)));
  }

  #lost(cause: Error): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#heartbeat.stop();
    this.#port.close();
    this.#asks.failAll(lostError());
    this.#gone.abort(lostError());
    const termination: Termination =
      this.#hang === undefined ? { reason: 'lost', error: cause } : { reason: 'hang', error: this.#hang };
    for (const actor of [...this.#actors.values()]) actor.terminate(termination);
  }
}

/** True for the rejection of an ask that no handler has seen, because its actor had ended: it may be sent again. */
export function isUndelivered(error: unknown): boolean {
  return error instanceof TroupeError && error.code === 'SESSION_ENDED' && error.details?.delivered === false;
}

function goneError(): TroupeError {
  return new TroupeError('SESSION_ENDED', 'The actor has ended', { delivered: false });
}

function lostError(): TroupeError {
  return new TroupeError('SESSION_RESTARTED', 'The thread of the session ended while the call was under way');
}
