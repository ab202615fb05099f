import type { LiveHead, LiveMessage } from '../../../src/protocol/requests/live-streams.js';

/** Characters of messages that the page keeps; beyond this the oldest are dropped. */
const MAX_CHARS = 64 * 1024 * 1024;
/** Of each message besides its text. */
const MESSAGE_CHARS = 100;

/** A message with its position in the whole stream, from 1. */
export interface NumberedMessage extends LiveMessage {
  readonly nth: number;
}

/**
 * An event stream or a WebSocket, with its messages so far. They arrive faster than they can be rendered: what is shown
 * is renewed once a frame.
 */
export class LiveAnswer {
  readonly head: LiveHead;
  /** Text that the shown messages contain; all by default. */
  search = $state('');
  isOpen = $state(true);
  /** Of the whole stream. */
  count = $state(0);
  dropped = $state(0);
  shown = $state.raw<readonly NumberedMessage[]>([]);
  #messages: NumberedMessage[] = [];
  #chars = 0;
  #count = 0;
  #frame = 0;

  constructor(head: LiveHead) {
    this.head = head;
  }

  add(messages: readonly LiveMessage[]): void {
    for (const message of messages) {
      this.#count += 1;
      this.#messages.push({ ...message, nth: this.#count });
      this.#chars += message.data.length + MESSAGE_CHARS;
    }
    this.#trim();
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#show());
  }

  /** The stream has ended; its messages stay. */
  end(): void {
    this.isOpen = false;
    cancelAnimationFrame(this.#frame);
    this.#show();
  }

  find(text: string): void {
    this.search = text;
    this.#show();
  }

  #show(): void {
    this.#frame = 0;
    this.count = this.#count;
    this.dropped = this.#count - this.#messages.length;
    const wanted = this.search.toLowerCase();
    this.shown =
      wanted === ''
        ? [...this.#messages]
        : this.#messages.filter(
            ({ data, type, id }) =>
              data.toLowerCase().includes(wanted) || type.toLowerCase().includes(wanted) || id.includes(wanted),
          );
  }

  /** Drops a quarter at once: to shift an array for each message is slow. */
  #trim(): void {
    if (this.#chars <= MAX_CHARS) return;
    const dropped = this.#messages.splice(0, Math.ceil(this.#messages.length / 4));
    for (const { data } of dropped) this.#chars -= data.length + MESSAGE_CHARS;
  }
}
