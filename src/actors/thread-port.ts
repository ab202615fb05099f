import type { MessagePort } from 'node:worker_threads';
import type { Frame } from './frames.js';

/** Where a port's frames go. */
export interface PortListener {
  receive(frame: Frame): void;
  /** A frame holds something that cannot leave its thread, a function for one. Nothing of it was sent. */
  refused(frame: Frame, error: unknown): void;
}

const RESOLVED = Promise.resolve();

/**
 * One end of the mailbox line between two threads. Frames sent in one turn of the event loop travel as one message,
 * flushed in a microtask: a burst costs one hop, a single frame waits for nothing.
 *
 * Nothing is bounded here: what is sent is bounded by the mailboxes at the other end and by the askers at this one.
 */
export class ThreadPort {
  readonly #port: MessagePort;
  readonly #listener: PortListener;
  readonly #flush = () => this.flush();
  #batch: Frame[] = [];
  #closed = false;

  constructor(port: MessagePort, listener: PortListener) {
    this.#port = port;
    this.#listener = listener;
    port.on('message', (message: Frame | readonly Frame[]) => {
      if (isFrame(message)) listener.receive(message);
      else for (const frame of message) listener.receive(frame);
    });
  }

  send(frame: Frame): void {
    if (this.#closed) return;
    // Cheaper than queueMicrotask, which makes an async resource each time.
    if (this.#batch.push(frame) === 1) void RESOLVED.then(this.#flush);
  }

  /** Sends what waits now. Called by itself; a thread that is about to end calls it too. */
  flush(): void {
    if (this.#batch.length === 0 || this.#closed) return;
    const batch = this.#batch;
    this.#batch = [];
    try {
      // Most often it is one, and then the array around it would cost what can be measured.
      this.#port.postMessage(batch.length === 1 ? batch[0] : batch);
    } catch {
      // Nothing was sent. One by one, so that a frame that cannot go takes no other with it.
      for (const frame of batch) this.#postAlone(frame);
    }
  }

  close(): void {
    this.flush();
    this.#closed = true;
    this.#port.close();
  }

  #postAlone(frame: Frame): void {
    try {
      this.#port.postMessage(frame);
    } catch (error) {
      this.#listener.refused(frame, error);
    }
  }
}

/** A frame begins with its kind, a batch with a frame. */
function isFrame(message: Frame | readonly Frame[]): message is Frame {
  return typeof message[0] === 'number';
}
