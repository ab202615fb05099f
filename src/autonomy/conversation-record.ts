import type { SessionEvent } from '../protocol/events.js';
import { type Conversation, converse } from './conversation.js';

/** A conversation in progress. Each event is added to it and forwarded to the session's events. */
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
