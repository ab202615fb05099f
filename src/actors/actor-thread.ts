import { isMainThread, type MessagePort, parentPort } from 'node:worker_threads';
import { expose } from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import { stretched } from '../base/deadline.js';
import { encodeError, TroupeError } from '../protocol/errors.js';
import type { ActorContext, ActorKind, Behaviour, BehaviourFactory, MessageMap, Termination } from './actor.js';
import { ActorCell } from './actor-cell.js';
import { type Frame, FrameKind } from './frames.js';
import { LoopLag, type LoopLagStats } from './loop-lag.js';
import { ThreadPort } from './thread-port.js';

/** The bound of each mailbox; beyond it, asks are rejected and tells dropped. */
const MAILBOX_BOUND = 1024;
/** Cleanup limits: for an actor that ended normally or crashed, and for one that hangs. */
const CLEAN_UP_MS = 5_000;
const HANG_CLEAN_UP_MS = 250;

/** Statistics of a thread, for health and metrics. */
export interface ThreadStats {
  readonly actors: number;
  /** Messages passed to handlers since the thread started, including those of ended actors. */
  readonly handled: number;
  /** Messages that met a full mailbox or an ended actor, and events that could not be sent. */
  readonly dropped: number;
  /** Waiting messages: in all mailboxes, and in the fullest. */
  readonly depth: number;
  readonly deepest: number;
  readonly heapUsedBytes: number;
  /** The event loop's lag since the last read. */
  readonly loopLagMs: LoopLagStats;
}

/** The control interface of a thread: what its host can call. */
export interface ThreadControl {
  connect(port: MessagePort): void;
  /** @param hangMs a handler that holds the mailbox longer ends its actor, checked at each ping; null for no limit */
  spawn(actor: number, kind: string, args: unknown, hangMs: number | null): void;
  stop(actor: number, deadlineMs: number): Promise<void>;
  /** Returns if the thread's event loop is responsive. */
  ping(): void;
  stats(): ThreadStats;
}

/** A kind of actor that a thread can host, without its types: messages carry none. */
export interface HostedKind {
  readonly name: string;
  create(args: unknown, context: ActorContext<unknown>): Behaviour<MessageMap>;
}

/** A kind with its factory, for {@link hostActors}. The same `kind` types the calls that spawn it. */
export function hosted<M extends MessageMap, A, E>(
  kind: ActorKind<M, A, E>,
  create: BehaviourFactory<M, A, E>,
): HostedKind {
  return {
    name: kind.name,
    // `spawn` takes A and M from the same `kind`, so what arrives here has these types.
    create: (args, context) => create(args as A, context) as unknown as Behaviour<MessageMap>,
  };
}

/**
 * Makes this worker host actors. Called once by a thread's entry file.
 * @throws if called on the main thread
 */
export function hostActors(kinds: readonly HostedKind[]): void {
  if (isMainThread || parentPort === null) throw new Error('hostActors runs on a worker thread only');
  expose(new ActorThread(kinds), nodeEndpoint(parentPort));
}

interface Hosted {
  readonly cell: ActorCell;
  readonly hangMs: number | null;
}

class ActorThread implements ThreadControl {
  readonly #kinds: ReadonlyMap<string, HostedKind>;
  readonly #actors = new Map<number, Hosted>();
  readonly #loopLag = new LoopLag();
  /** Totals of ended actors, and of messages that reached no actor. */
  #past = { handled: 0, dropped: 0 };
  #port: ThreadPort | undefined;

  constructor(kinds: readonly HostedKind[]) {
    this.#kinds = new Map(kinds.map((kind) => [kind.name, kind]));
  }

  connect(port: MessagePort): void {
    this.#port = new ThreadPort(port, {
      receive: (frame) => this.#receive(frame),
      refused: (frame, error) => this.#refused(frame, error),
    });
  }

  spawn(actor: number, kind: string, args: unknown, hangMs: number | null): void {
    const hostedKind = this.#kinds.get(kind);
    if (hostedKind === undefined) throw new Error(`This thread hosts no actor of the kind ${kind}`);
    const cell = new ActorCell(MAILBOX_BOUND, {
      reply: (ask, value) => this.#port?.send([FrameKind.reply, ask, value]),
      fail: (ask, error) => this.#port?.send([FrameKind.failure, ask, error]),
      gone: (ask) => this.#port?.send([FrameKind.gone, ask]),
      terminated: (termination) => this.#terminated(actor, termination),
    });
    const end = (termination: Termination) => void cell.stop(termination, CLEAN_UP_MS);
    const behaviour = hostedKind.create(args, {
      id: actor,
      emit: (event) => this.#port?.send([FrameKind.event, actor, event]),
      end: (reason = 'normal') => end({ reason }),
      crash: (error) => end({ reason: 'crash', error }),
    });
    cell.start(behaviour);
    this.#actors.set(actor, { cell, hangMs });
  }

  async stop(actor: number, deadlineMs: number): Promise<void> {
    await this.#actors.get(actor)?.cell.stop({ reason: 'shutdown' }, deadlineMs);
  }

  ping(): void {
    for (const { cell, hangMs } of this.#actors.values()) {
      const heldMs = cell.heldMs();
      if (hangMs === null || heldMs <= stretched(hangMs)) continue;
      const error = new TroupeError('UNAVAILABLE', `A message was not handled within ${Math.round(heldMs)} ms`);
      void cell.stop({ reason: 'hang', error }, HANG_CLEAN_UP_MS);
    }
  }

  stats(): ThreadStats {
    const totals = { actors: this.#actors.size, depth: 0, deepest: 0, ...this.#past };
    for (const { cell } of this.#actors.values()) {
      const { handled, dropped, depth } = cell.stats();
      totals.handled += handled;
      totals.dropped += dropped;
      totals.depth += depth;
      totals.deepest = Math.max(totals.deepest, depth);
    }
    return { ...totals, heapUsedBytes: process.memoryUsage().heapUsed, loopLagMs: this.#loopLag.read() };
  }

  #receive(frame: Frame): void {
    switch (frame[0]) {
      case FrameKind.tell: {
        const [, actor, type, payload] = frame;
        const hosted = this.#actors.get(actor);
        if (hosted !== undefined) hosted.cell.put(type, payload, null);
        else this.#past.dropped += 1;
        return;
      }
      case FrameKind.ask: {
        const [, actor, ask, type, payload] = frame;
        const hosted = this.#actors.get(actor);
        if (hosted !== undefined) hosted.cell.put(type, payload, ask);
        else this.#port?.send([FrameKind.gone, ask]);
        return;
      }
      case FrameKind.cancel:
        this.#actors.get(frame[1])?.cell.cancel(frame[2]);
        return;
      default:
        return; // These frames are only sent to the host.
    }
  }

  /** A reply that cannot be cloned fails its ask; an event that cannot be cloned is dropped and counted. */
  #refused(frame: Frame, error: unknown): void {
    if (frame[0] === FrameKind.reply) this.#port?.send([FrameKind.failure, frame[1], encodeError(error)]);
    else this.#past.dropped += 1;
  }

  #terminated(actor: number, termination: Termination): void {
    const ended = this.#actors.get(actor)?.cell.stats();
    this.#actors.delete(actor);
    this.#past.handled += ended?.handled ?? 0;
    this.#past.dropped += ended?.dropped ?? 0;
    const { reason } = termination;
    const error = 'error' in termination ? encodeError(termination.error) : null;
    this.#port?.send([FrameKind.terminated, actor, reason === 'lost' ? 'crash' : reason, error]);
  }
}
