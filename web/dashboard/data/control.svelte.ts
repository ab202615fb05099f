import type { ControlKey, PageInput } from '../../../src/protocol/control.js';
import type { SessionId } from '../../../src/protocol/session.js';
import { call } from './api.js';
import { live } from './live.svelte.js';

/**
 * The control of a session by this page. It is taken over HTTP and held over the stream, so that it is released when
 * the page closes.
 */
export class Control {
  readonly #id: SessionId;
  key = $state<ControlKey | null>(null);

  constructor(id: SessionId) {
    this.#id = id;
  }

  /** @throws ApiError: SESSION_BUSY if another person has control and `takeOver` is false */
  async take(takeOver: boolean): Promise<void> {
    const request = { take: true, ...(takeOver ? { takeOver } : {}) };
    const { control } = await call<{ control: ControlKey }>('POST', `api/sessions/${this.#id}/control`, request);
    this.key = control;
    live.holdControl(this.#id, control);
  }

  /** @throws ApiError */
  async giveBack(): Promise<void> {
    const key = this.key;
    this.lost();
    const request = { take: false, ...(key === null ? {} : { control: key }) };
    await call('POST', `api/sessions/${this.#id}/control`, request);
  }

  /** Another person or the agent has control now. */
  lost(): void {
    if (this.key === null) return;
    this.key = null;
    live.letControlGo(this.#id);
  }

  send(inputs: PageInput[]): void {
    if (this.key !== null) live.send({ type: 'input', id: this.#id, inputs });
  }

  /** The selected text of the page; null if the page does not answer in time. */
  async selection(): Promise<string | null> {
    return this.key === null ? null : await live.copy(this.#id);
  }
}
