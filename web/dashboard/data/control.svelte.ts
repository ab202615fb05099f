import type { ControlKey, PageInput } from '../../../src/protocol/control.js';
import type { SessionId } from '../../../src/protocol/session.js';
import { call } from './api.js';
import { live } from './live.svelte.js';

/**
 * The control of a session, as far as this page has it. It is taken over HTTP and held over the stream, so that it goes
 * back when this page goes.
 */
export class Control {
  readonly #id: SessionId;
  key = $state<ControlKey | null>(null);

  constructor(id: SessionId) {
    this.#id = id;
  }

  /** @throws ApiError: SESSION_BUSY where another person has it and it is not taken over */
  async take(takeOver: boolean): Promise<void> {
    const request = { take: true, ...(takeOver ? { takeOver } : {}) };
    const { control } = await call<{ control: ControlKey }>('POST', `api/sessions/${this.#id}/control`, request);
    this.key = control;
    live.holdControl(this.#id, control);
  }

  /** @throws ApiError */
  async giveBack(): Promise<void> {
    this.lost();
    await call('POST', `api/sessions/${this.#id}/control`, { take: false });
  }

  /** Somebody else has it now, or the agent. */
  lost(): void {
    if (this.key === null) return;
    this.key = null;
    live.letControlGo(this.#id);
  }

  send(inputs: PageInput[]): void {
    if (this.key !== null) live.send({ type: 'input', id: this.#id, inputs });
  }

  /** What is selected on the page; null where the page does not say so in time. */
  async selection(): Promise<string | null> {
    return this.key === null ? null : await live.copy(this.#id);
  }
}
