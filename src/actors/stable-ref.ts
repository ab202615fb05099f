import { stretched, unstretched } from '../base/deadline.js';
import { TroupeError } from '../protocol/errors.js';
import type { ActorRef, AskBounds, MessageMap, MessageType } from './actor.js';
import { PendingAsks } from './pending-asks.js';
import { isUndelivered } from './thread-host.js';

/** The most asks that wait while the actor restarts; further ones are rejected with CAPACITY. */
const WAITING_BOUND = 64;

type Connection<M extends MessageMap> =
  | { readonly kind: 'connected'; readonly ref: ActorRef<M> }
  | { readonly kind: 'away' }
  | { readonly kind: 'ended'; readonly error: unknown };

/**
 * The ref of an actor that may be restarted: the same for all its runs.
 *
 * While the actor is down, up to 64 asks wait for it, within their own deadlines and signals, and tells are dropped. An
 * ask that was pending when the actor ended is rejected at once, with the crash, or with SESSION_RESTARTED if the
 * thread
 * was lost: it may have had its effect, so it is never sent again. An ask that arrived after the actor had ended was
 * seen by no handler and waits like the others.
 */
export class StableRef<M extends MessageMap> implements ActorRef<M> {
  readonly id: number;
  readonly #waiting = new PendingAsks();
  readonly #waitingIds = new Set<number>();
  #connection: Connection<M> = { kind: 'away' };
  #dropped = 0;

  constructor(id: number) {
    this.id = id;
  }

  /** Tells that were dropped because the actor was down. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The actor is running: waiting asks are sent, in order. */
  connect(ref: ActorRef<M>): void {
    if (this.#connection.kind === 'ended') return;
    this.#connection = { kind: 'connected', ref };
    for (const id of [...this.#waitingIds]) {
      this.#waitingIds.delete(id);
      this.#waiting.answer(id, undefined);
    }
  }

  /** The actor ended and may be restarted. */
  disconnect(): void {
    if (this.#connection.kind === 'connected') this.#connection = { kind: 'away' };
  }

  /** The actor ended permanently. Waiting and future asks are rejected with the error. */
  end(error: unknown): void {
    if (this.#connection.kind === 'ended') return;
    this.#connection = { kind: 'ended', error };
    this.#waitingIds.clear();
    this.#waiting.failAll(error);
  }

  tell<T extends MessageType<M>>(type: T, payload: M[T]['payload']): void {
    if (this.#connection.kind === 'connected') this.#connection.ref.tell(type, payload);
    else this.#dropped += 1;
  }

  ask<T extends MessageType<M>>(type: T, payload: M[T]['payload'], bounds: AskBounds): Promise<M[T]['reply']> {
    const dueMs = performance.now() + stretched(bounds.deadlineMs);
    return this.#connection.kind === 'connected'
      ? this.#send(this.#connection.ref, type, payload, bounds, dueMs)
      : this.#wait(type, payload, bounds, dueMs);
  }

  async #send<T extends MessageType<M>>(
    ref: ActorRef<M>,
    type: T,
    payload: M[T]['payload'],
    bounds: AskBounds,
    dueMs: number,
  ): Promise<M[T]['reply']> {
    try {
      return await ref.ask(type, payload, bounds);
    } catch (error) {
      if (!isUndelivered(error)) throw error;
      // The notice of the actor's end has not arrived yet. This ask was not delivered, so it can be sent later.
      if (this.#connection.kind === 'connected' && this.#connection.ref === ref) this.disconnect();
      return this.#wait(type, payload, bounds, dueMs);
    }
  }

  async #wait<T extends MessageType<M>>(
    type: T,
    payload: M[T]['payload'],
    bounds: AskBounds,
    dueMs: number,
  ): Promise<M[T]['reply']> {
    while (this.#connection.kind === 'away') {
      if (this.#waitingIds.size >= WAITING_BOUND) {
        throw new TroupeError('CAPACITY', 'The actor is restarting, and too many calls are waiting for it', {
          retryAfterSeconds: 1,
        });
      }
      await this.#waiting.open(
        type,
        { ...bounds, deadlineMs: Math.max(0, unstretched(dueMs - performance.now())) },
        (id) => this.#waitingIds.add(id),
        (id) => this.#waitingIds.delete(id),
      );
    }
    if (this.#connection.kind === 'ended') throw this.#connection.error;
    const left = { ...bounds, deadlineMs: Math.max(0, unstretched(dueMs - performance.now())) };
    return this.#send(this.#connection.ref, type, payload, left, dueMs);
  }
}
