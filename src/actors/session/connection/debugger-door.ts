import { TroupeError } from '../../../protocol/errors.js';
import { DebuggerListener, type DebuggerOptions } from './debugger-listener.js';
import type { DevToolsChannel } from './devtools-channel.js';

/** The DevTools address of a session for its chromedriver, while it has one. */
export class DebuggerDoor {
  readonly #channel: DevToolsChannel;
  readonly #options: Omit<DebuggerOptions, 'pid'>;
  #listener: DebuggerListener | null = null;
  #closed = false;

  constructor(channel: DevToolsChannel, options: Omit<DebuggerOptions, 'pid'>) {
    this.#channel = channel;
    this.#options = options;
  }

  /** Replaces an earlier address. Returns the port on 127.0.0.1. @throws SESSION_ENDED */
  async open(pid: number): Promise<number> {
    await this.shut();
    const listener = await DebuggerListener.listen(this.#channel, { ...this.#options, pid });
    if (this.#closed || this.#listener !== null) {
      await listener.close();
      throw new TroupeError('SESSION_ENDED', 'The session has ended, or has another chromedriver');
    }
    this.#listener = listener;
    return listener.port;
  }

  /** Closes the address; another one may be opened. Idempotent. */
  async shut(): Promise<null> {
    const listener = this.#listener;
    this.#listener = null;
    await listener?.close();
    return null;
  }

  /** Closes the address for good. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.shut();
  }
}
