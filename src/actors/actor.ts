/**
 * The actor model. An actor owns its state, handles one message at a time from a bounded mailbox, and is reachable only
 * through its ref. This module does not depend on what the actors do.
 */

/**
 * The messages that an actor accepts: by name, the payload and the reply to an ask. Both must survive a structured
 * clone:
 * plain data only, since functions fail and instances lose their class. A payload that cannot be cloned rejects the ask
 * with INTERNAL.
 */
export type MessageMap = { readonly [type: string]: { readonly payload: unknown; readonly reply: unknown } };

export type MessageType<M extends MessageMap> = keyof M & string;

/**
 * Signals that a caller has abandoned a request: an AbortSignal, or a cheaper object with only these members. An
 * AbortSignal and its listener cost as much as all the rest of an ask.
 */
export interface GiveUpSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** How long an ask may take, and the signal that cancels it. */
export interface AskBounds {
  /** Milliseconds from now. After that, the ask rejects with UNAVAILABLE and the receiver's signal is aborted. */
  readonly deadlineMs: number;
  /** Aborting it rejects the ask with the signal's reason and aborts the receiver's signal. */
  readonly signal?: GiveUpSignal | undefined;
}

/** The address of an actor, typed by the messages that it accepts. A ref outlives its actor: asks then reject. */
export interface ActorRef<M extends MessageMap> {
  readonly id: number;
  /** Sends without a reply. Dropped if the mailbox is full or the actor has ended; both are counted. */
  tell<T extends MessageType<M>>(type: T, payload: M[T]['payload']): void;
  /** Sends and waits for the reply. Rejects with CAPACITY if the mailbox is full, or with the handler's error. */
  ask<T extends MessageType<M>>(type: T, payload: M[T]['payload'], bounds: AskBounds): Promise<M[T]['reply']>;
}

/**
 * Why an actor ended, in OTP's terms. `hang`: it, or its thread, did not return from a message. `lost`: its thread
 * died,
 * so the actor could not react.
 */
export type Termination =
  | { readonly reason: 'normal' }
  | { readonly reason: 'shutdown' }
  | { readonly reason: 'crash'; readonly error: unknown }
  | { readonly reason: 'hang'; readonly error: unknown }
  | { readonly reason: 'lost'; readonly error: unknown };

export type EndReason = Termination['reason'];

/** A reply that is sent later, while the actor handles its next messages (OTP's `noreply` and `gen_server:reply`). */
export class Later<R> {
  readonly reply: Promise<R>;
  constructor(reply: Promise<R>) {
    this.reply = reply;
  }
}

export function later<R>(reply: Promise<R>): Later<R> {
  return new Later(reply);
}

/** What a handler can find out about its message. */
export interface ReceiveContext {
  /** Aborted if the asker gave up or the actor is being stopped. */
  readonly signal: AbortSignal;
}

/**
 * One handler for each message. A handler that returns a promise holds the mailbox until it settles; one that returns
 * {@link later} frees it at once. If a handler throws, its asker gets the error and the actor continues; a behaviour
 * ends
 * its actor with {@link ActorContext.crash}.
 */
export type Handlers<M extends MessageMap> = {
  readonly [T in MessageType<M>]: (
    payload: M[T]['payload'],
    context: ReceiveContext,
  ) => M[T]['reply'] | Promise<M[T]['reply']> | Later<M[T]['reply']>;
};

/** What a behaviour gets when it is created. */
export interface ActorContext<E> {
  readonly id: number;
  /** Emits an event to the owner. An actor's events arrive in order, and all of them before its termination. */
  emit(event: E): void;
  /** Ends the actor after the current handler, with the reason `normal` by default. */
  end(reason?: 'normal' | 'shutdown'): void;
  /** Ends the actor with the reason `crash`. */
  crash(error: unknown): void;
}

/** The implementation of an actor. */
export interface Behaviour<M extends MessageMap> {
  readonly handlers: Handlers<M>;
  /** Called once when the actor ends, for whatever reason. Releases the actor's resources; limited by the deadline. */
  stopped(termination: Termination): Promise<void>;
}

/** Creates an actor's behaviour on the thread where it will run. */
export type BehaviourFactory<M extends MessageMap, A, E> = (args: A, context: ActorContext<E>) => Behaviour<M>;

/** The name of a kind of actor, with the types of its messages, arguments, and events. */
export interface ActorKind<M extends MessageMap, A, E> {
  readonly name: string;
  /** Never set: exists only for the types. */
  readonly types?: readonly [M, A, E];
}
