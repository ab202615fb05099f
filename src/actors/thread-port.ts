import type { MessagePort } from 'node:worker_threads';
import type { Frame } from './frames.js';

/** Receives a port's frames. */
export interface PortListener {
  receive(frame: Frame): void;
  /** A frame cannot be cloned to the other thread, for instance because it contains a function. It was not sent. */
  refused(frame: Frame, error: unknown): void;
}

const RESOLVED = Promise.resolve();

/**
 * One end of the message channel between two threads. Frames sent in one turn of the event loop travel as one message,
 * flushed in a microtask: a burst costs one hop, and a single frame is not delayed.
 *
 * This class has no bound of its own: the mailboxes at the other end and the pending asks at this end are bounded.
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
    // Cheaper than queueMicrotask, which creates an async resource each time.
    if (this.#batch.push(frame) === 1) void RESOLVED.then(this.#flush);
  }

  /** Sends waiting frames now. Runs by itself; a thread that is about to end also calls it. */
  flush(): void {
    if (this.#batch.length === 0 || this.#closed) return;
    const batch = this.#batch;
    this.#batch = [];
    try {
      // Usually there is one frame, and then wrapping it in an array would have a measurable cost.
      this.#port.postMessage(batch.length === 1 ? batch[0] : batch);
    } catch {
      // Nothing was sent. Send one by one, so that a frame that cannot be cloned does not affect the others.
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
