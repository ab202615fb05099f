import { withDeadline } from '../base/deadline.js';
import { deferred } from '../base/deferred.js';
import { decodeError, type ErrorBody, encodeError, TroupeError } from '../protocol/errors.js';
import { type Behaviour, Later, type MessageMap, type ReceiveContext, type Termination } from './actor.js';
import { Mailbox } from './mailbox.js';

/** Receives a cell's replies and its end. */
export interface CellOutlet {
  reply(ask: number, value: unknown): void;
  fail(ask: number, error: ErrorBody): void;
  /** The ask arrived after the end: no handler has seen it. */
  gone(ask: number): void;
  terminated(termination: Termination): void;
}

type CellState =
  | { readonly kind: 'idle' }
  /** `sinceMs`: when the handler began to hold the mailbox; null while it has not returned a promise. */
  | { readonly kind: 'handling'; readonly sinceMs: number | null }
  | { readonly kind: 'stopping'; readonly done: Promise<void> }
  | { readonly kind: 'stopped' };

const IDLE: CellState = { kind: 'idle' };
const HANDLING: CellState = { kind: 'handling', sinceMs: null };

/**
 * A message on its way to a behaviour, and its handler's context. The signal is created only if a handler uses it: most
 * never do, and creating one costs more than all the rest of a message.
 */
class Envelope implements ReceiveContext {
  readonly type: string;
  readonly payload: unknown;
  /** Null for a tell. */
  readonly ask: number | null;
  answered = false;
  #controller: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;

  constructor(type: string, payload: unknown, ask: number | null) {
    this.type = type;
    this.payload = payload;
    this.ask = ask;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted !== undefined) this.#controller.abort(this.#aborted.reason);
    return this.#controller.signal;
  }

  get aborted(): { readonly reason: unknown } | undefined {
    return this.#aborted;
  }

  abort(reason: unknown): void {
    this.#aborted ??= { reason };
    this.#controller?.abort(reason);
  }
}

/**
 * A running actor on its thread: the mailbox, the behaviour, and the pending messages.
 *
 *   put -> [mailbox] -> handle one at a time -> reply
 *                            `-- later(...) -> reply, while the next is handled
 *
 * A handler that answers synchronously costs no turn of the event loop, so the replies of a burst leave as one batch.
 * When the actor ends, waiting and running asks fail with SESSION_ENDED, or with the crash, and their signals are
 * aborted.
 */
export class ActorCell {
  readonly #mailbox: Mailbox<Envelope>;
  readonly #outlet: CellOutlet;
  /** Asks that wait, or whose handlers have not finished. */
  readonly #asks = new Map<number, Envelope>();
  /** Tells whose handlers have not finished: they too are aborted when the actor ends. */
  readonly #tells = new Set<Envelope>();
  #behaviour: Behaviour<MessageMap> | undefined;
  #state: CellState = IDLE;
  #handled = 0;
  #dropped = 0;

  constructor(mailboxBound: number, outlet: CellOutlet) {
    this.#mailbox = new Mailbox(mailboxBound);
    this.#outlet = outlet;
  }

  /** Called once, before the first message. */
  start(behaviour: Behaviour<MessageMap>): void {
    this.#behaviour = behaviour;
  }

  stats(): { readonly depth: number; readonly handled: number; readonly dropped: number } {
    return { depth: this.#mailbox.size, handled: this.#handled, dropped: this.#dropped };
  }

  /** How long the current handler has held the mailbox, in milliseconds; 0 if none does. */
  heldMs(): number {
    if (this.#state.kind !== 'handling' || this.#state.sinceMs === null) return 0;
    return performance.now() - this.#state.sinceMs;
  }

  /** @param ask null for a tell */
  put(type: string, payload: unknown, ask: number | null): void {
    if (this.#isEnding()) {
      if (ask !== null) this.#outlet.gone(ask);
      else this.#dropped += 1;
      return;
    }
    const envelope = new Envelope(type, payload, ask);
    if (this.#state.kind === 'idle') {
      this.#drain(envelope);
      return;
    }
    if (this.#mailbox.put(envelope)) {
      if (ask !== null) this.#asks.set(ask, envelope);
      return;
    }
    this.#dropped += 1;
    this.#fail(envelope, encodeError(new TroupeError('CAPACITY', 'The mailbox is full')));
  }

  cancel(ask: number): void {
    this.#asks.get(ask)?.abort(new TroupeError('UNAVAILABLE', 'The caller stopped waiting'));
  }

  /** Idempotent; resolves when the behaviour has released its resources, or at the deadline. */
  stop(termination: Termination, deadlineMs: number): Promise<void> {
    if (this.#state.kind === 'stopping') return this.#state.done;
    if (this.#state.kind === 'stopped') return Promise.resolve();
    const done = deferred<void>();
    // Set the state first: the cleanup may itself request the end.
    this.#state = { kind: 'stopping', done: done.promise };
    void this.#end(termination, deadlineMs).then(done.resolve);
    return done.promise;
  }

  #drain(first: Envelope | undefined): void {
    this.#state = HANDLING;
    for (let envelope = first; envelope !== undefined; envelope = this.#mailbox.take()) {
      const held = this.#handle(envelope);
      if (this.#isEnding()) return;
      if (held === undefined) continue;
      this.#state = { kind: 'handling', sinceMs: performance.now() };
      void held.then(() => {
        if (!this.#isEnding()) this.#drain(this.#mailbox.take());
      });
      return;
    }
    this.#state = IDLE;
  }

  #isEnding(): boolean {
    return this.#state.kind === 'stopping' || this.#state.kind === 'stopped';
  }

  /** Returns a promise, which never rejects, if the handler holds the mailbox. */
  #handle(envelope: Envelope): Promise<void> | undefined {
    this.#handled += 1;
    try {
      if (envelope.aborted !== undefined) throw envelope.aborted.reason;
      const handler = this.#behaviour?.handlers[envelope.type];
      if (handler === undefined) throw new TroupeError('INTERNAL', `No handler for the message ${envelope.type}`);
      const answer = handler(envelope.payload, envelope);
      if (answer instanceof Later) {
        void this.#settle(envelope, answer.reply);
        return undefined;
      }
      if (answer instanceof Promise) return this.#settle(envelope, answer);
      this.#reply(envelope, answer);
    } catch (error) {
      this.#fail(envelope, encodeError(error));
    }
    return undefined;
  }

  async #settle(envelope: Envelope, answer: Promise<unknown>): Promise<void> {
    if (envelope.ask === null) this.#tells.add(envelope);
    else this.#asks.set(envelope.ask, envelope);
    try {
      this.#reply(envelope, await answer);
    } catch (error) {
      this.#fail(envelope, encodeError(error));
    } finally {
      this.#tells.delete(envelope);
    }
  }

  #reply(envelope: Envelope, value: unknown): void {
    if (this.#answers(envelope) && envelope.ask !== null) this.#outlet.reply(envelope.ask, value);
  }

  #fail(envelope: Envelope, error: ErrorBody): void {
    if (this.#answers(envelope) && envelope.ask !== null) this.#outlet.fail(envelope.ask, error);
  }

  /** Marks the envelope as answered. False if it was answered before: replies after the actor's end are dropped. */
  #answers(envelope: Envelope): boolean {
    if (envelope.answered) return false;
    envelope.answered = true;
    if (envelope.ask !== null) this.#asks.delete(envelope.ask);
    return true;
  }

  async #end(termination: Termination, deadlineMs: number): Promise<void> {
    const cause = 'error' in termination ? encodeError(termination.error) : endedError();
    for (let envelope = this.#mailbox.take(); envelope !== undefined; envelope = this.#mailbox.take()) {
      this.#fail(envelope, cause);
    }
    for (const envelope of [...this.#asks.values(), ...this.#tells]) envelope.abort(decodeError(cause));
    let ended = termination;
    try {
      const late = () => new TroupeError('UNAVAILABLE', `Not stopped within ${deadlineMs} ms`);
      await withDeadline(this.#behaviour?.stopped(termination) ?? Promise.resolve(), { ms: deadlineMs, late });
    } catch (error) {
      // The cause of the end takes precedence over an error of the cleanup.
      if (!('error' in termination)) ended = { reason: 'crash', error };
    }
    for (const envelope of [...this.#asks.values()]) this.#fail(envelope, cause);
    this.#state = { kind: 'stopped' };
    this.#outlet.terminated(ended);
  }
}

function endedError(): ErrorBody {
  return { error: 'The actor has ended', code: 'SESSION_ENDED' };
}
