import type { SessionEvent } from '../protocol/events.js';
import { type Conversation, converse } from './conversation.js';

/** A conversation under way: what is told is added to it and goes on to the session's events. */
export class ConversationRecord {
  readonly #emit: (event: SessionEvent) => void;
  #conversation: Conversation;

  constructor(known: Conversation, emit: (event: SessionEvent) => void) {
    this.#conversation = known;
    this.#emit = emit;
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  readonly emit = (event: SessionEvent): void => {
    this.#conversation = converse(this.#conversation, event);
    this.#emit(event);
  };
}
