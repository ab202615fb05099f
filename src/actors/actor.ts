/**
 * What an actor is. An actor owns its state, takes one message at a time from a bounded mailbox, and is known to others
 * only by its ref. Nothing here knows what the actors are for.
 */

/**
 * The messages that an actor takes: by name, what they carry and what an ask is answered with. Only what the structured
 * clone takes along: data, no functions, and instances lose their class. What cannot go rejects the ask INTERNAL.
 */
export type MessageMap = { readonly [type: string]: { readonly payload: unknown; readonly reply: unknown } };

export type MessageType<M extends MessageMap> = keyof M & string;

/**
 * Says that somebody has given up what they asked for: an AbortSignal, or what is made for less and knows no more than
 * this. An AbortSignal and its listener cost as much as all the rest of an ask.
 */
export interface GiveUpSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** How long an ask may take, and who may give it up. */
export interface AskBounds {
  /** Milliseconds from now; past them the ask rejects UNAVAILABLE and the receiver's signal is aborted. */
  readonly deadlineMs: number;
  /** Aborting it rejects the ask with the signal's reason and aborts the receiver's signal. */
  readonly signal?: GiveUpSignal | undefined;
}

/** The address of an actor, typed by what it understands. May be held after the actor is gone: asks then reject. */
export interface ActorRef<M extends MessageMap> {
  readonly id: number;
  /** Sends without an answer. Dropped when the mailbox is full or the actor is gone; both are counted. */
  tell<T extends MessageType<M>>(type: T, payload: M[T]['payload']): void;
  /** Sends and waits for the answer. CAPACITY when the mailbox is full; the behaviour's own error, by code. */
  ask<T extends MessageType<M>>(type: T, payload: M[T]['payload'], bounds: AskBounds): Promise<M[T]['reply']>;
}

/**
 * Why an actor ended, in OTP's words. `hang`: it, or its thread, did not come back from a message. `lost`: its thread
 * died, which the actor never saw.
 */
export type Termination =
  | { readonly reason: 'normal' }
  | { readonly reason: 'shutdown' }
  | { readonly reason: 'crash'; readonly error: unknown }
  | { readonly reason: 'hang'; readonly error: unknown }
  | { readonly reason: 'lost'; readonly error: unknown };

export type EndReason = Termination['reason'];

/** An answer that comes later while the actor takes its next message (OTP's `noreply` and `gen_server:reply`). */
export class Later<R> {
  readonly reply: Promise<R>;
  constructor(reply: Promise<R>) {
    this.reply = reply;
  }
}

export function later<R>(reply: Promise<R>): Later<R> {
  return new Later(reply);
}

/** What a handler may know of the message that it handles. */
export interface ReceiveContext {
  /** Aborted when the asker gave up or the actor is stopped. */
  readonly signal: AbortSignal;
}

/**
 * One handler a message. A handler that returns a promise holds the mailbox until it settles; one that returns
 * {@link later} frees it at once. A handler that throws answers its asker with the error and the actor lives on; a
 * behaviour ends its actor by {@link ActorContext.crash}.
 */
export type Handlers<M extends MessageMap> = {
  readonly [T in MessageType<M>]: (
    payload: M[T]['payload'],
    context: ReceiveContext,
  ) => M[T]['reply'] | Promise<M[T]['reply']> | Later<M[T]['reply']>;
};

/** What an actor is told about itself when it is made. */
export interface ActorContext<E> {
  readonly id: number;
  /** Sends an event up to the owner. Events of one actor arrive in order, and all before its termination. */
  emit(event: E): void;
  /** Ends the actor by its own will, after the handler that runs; `normal` when nothing is said. */
  end(reason?: 'normal' | 'shutdown'): void;
  /** Ends the actor with the reason `crash`. */
  crash(error: unknown): void;
}

/** An actor's inside. */
export interface Behaviour<M extends MessageMap> {
  readonly handlers: Handlers<M>;
  /** Called once when the actor ends, whatever the reason. Gives back what the actor holds; bounded by the deadline. */
  stopped(termination: Termination): Promise<void>;
}

/** Makes an actor's behaviour on the thread where it will live. */
export type BehaviourFactory<M extends MessageMap, A, E> = (args: A, context: ActorContext<E>) => Behaviour<M>;

/** The name of a kind of actor, with the types of its messages, its arguments and its events. */
export interface ActorKind<M extends MessageMap, A, E> {
  readonly name: string;
  /** Never set: it only carries the types. */
  readonly types?: readonly [M, A, E];
}
