import { Socket } from 'node:net';
import WebSocket from 'ws';
import { onAbort, stretched } from '../../base/deadline.js';
import { errorCode } from '../../base/system-fault.js';
import type { DevToolsAddress, DevToolsPipe } from '../../containers/driver.js';
import { takeDescriptors } from '../../containers/process/devtools-pipe.js';
import { TroupeError } from '../../protocol/errors.js';

/**
 * A longer message ends the connection. A message is buffered and then converted to text, so this bounds memory. It is
 * large because each console entry of a page is one message.
 */
export const MAX_MESSAGE_BYTES = 128 * 1024 * 1024;
const CLOSE_MS = stretched(500);

/** Sends and receives complete messages. */
export interface DevToolsTransport {
  send(text: string): void;
  /** Bytes that the browser has not read yet. */
  readonly unsentBytes: number;
  /** Disconnects from the browser, which keeps running. Messages sent before still arrive. Idempotent. */
  close(): void;
}

/** Receives a transport's messages and its end. */
export interface TransportListener {
  message(text: string): void;
  /** Called once. `tooLong`: the browser is healthy, but sent more than {@link MAX_MESSAGE_BYTES} in one message. */
  closed(reason: string, tooLong: boolean): void;
}

/** @throws WORKER_LOST if the browser does not answer within the bounds */
export function openTransport(
  address: DevToolsAddress,
  listener: TransportListener,
  bounds: { readonly signal: AbortSignal; readonly deadlineMs: number },
): Promise<DevToolsTransport> {
  return address.kind === 'socket'
    ? openWebSocket(address.url, listener, bounds)
    : Promise.resolve(new PipeTransport(address, listener));
}

async function openWebSocket(
  url: string,
  listener: TransportListener,
  { signal, deadlineMs }: { readonly signal: AbortSignal; readonly deadlineMs: number },
): Promise<DevToolsTransport> {
  signal.throwIfAborted();
  const socket = new WebSocket(url, {
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handshakeTimeout: stretched(deadlineMs),
  });
  const removeAbortListener = onAbort(signal, () => socket.terminate());
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
      socket.once('close', () => reject(new Error('the connection closed')));
    });
  } catch (cause) {
    socket.terminate();
    signal.throwIfAborted();
    const text = cause instanceof Error ? cause.message : String(cause);
    throw new TroupeError('WORKER_LOST', `The browser does not answer: ${text}`, undefined, { cause });
  } finally {
    removeAbortListener();
  }
  let fault: Error | undefined;
  socket.on('message', (data) => {
    if (Buffer.isBuffer(data)) listener.message(data.toString('utf8'));
  });
  socket.on('error', (error) => {
    fault = error;
    // The rest of the message would follow; it is not read.
    if (isTooLong(error)) socket.terminate();
  });
  socket.once('close', (code) => {
    listener.closed(fault?.message ?? `the connection closed (${code})`, isTooLong(fault));
  });
  return {
    send: (text) => socket.send(text),
    get unsentBytes() {
      return socket.bufferedAmount;
    },
    close() {
      socket.close();
      // A browser that hangs does not answer the closing handshake.
      const timer = setTimeout(() => socket.terminate(), CLOSE_MS);
      socket.once('close', () => clearTimeout(timer));
    },
  };
}

/** A pipe to the browser. Messages end with NUL, which JSON text does not contain. */
class PipeTransport implements DevToolsTransport {
  readonly #reading: Socket;
  readonly #writing: Socket;
  readonly #listener: TransportListener;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #tooLong = false;
  #closed = false;

  constructor(pipe: DevToolsPipe, listener: TransportListener) {
    if (!takeDescriptors(pipe)) throw new TroupeError('WORKER_LOST', 'The pipe to the browser is closed already');
    this.#listener = listener;
    this.#reading = new Socket({ fd: pipe.output, readable: true, writable: false });
    this.#writing = new Socket({ fd: pipe.input, readable: false, writable: true });
    for (const socket of [this.#reading, this.#writing]) {
      socket.on('error', (error) => this.#end(`the pipe closed (${error.message})`));
      socket.once('close', () => this.#end('the pipe closed'));
    }
    this.#reading.on('data', (chunk) => this.#read(chunk));
    // Terminates a partial message that an earlier client left when it was killed.
    this.#writing.write('\0');
  }

  send(text: string): void {
    if (!this.#closed) this.#writing.write(`${text}\0`);
  }

  get unsentBytes(): number {
    return this.#writing.writableLength;
  }

  close(): void {
    if (this.#closed || this.#writing.writableEnded) return;
    // A browser that hangs may never read what was sent.
    const timer = setTimeout(() => this.#end('the session disconnected from its browser'), CLOSE_MS);
    this.#writing.end(() => {
      clearTimeout(timer);
      this.#end('the session disconnected from its browser');
    });
  }

  #read(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(0); end !== -1 && !this.#closed; end = rest.indexOf(0)) {
      this.#receive(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
    }
    if (rest.length === 0 || this.#closed) return;
    this.#waitingBytes += rest.length;
    if (this.#waitingBytes > MAX_MESSAGE_BYTES) {
      // Keep reading to the end of this message, so that the pipe's next client starts with a new one.
      this.#tooLong = true;
      this.#waiting = [];
    } else this.#waiting.push(rest);
  }

  #receive(last: Buffer): void {
    if (this.#tooLong) {
      this.#end('a message was too long');
      return;
    }
    const text =
      this.#waiting.length === 0 ? last.toString('utf8') : Buffer.concat([...this.#waiting, last]).toString('utf8');
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#listener.message(text);
  }

  #end(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#waiting = [];
    this.#reading.destroy();
    this.#writing.destroy();
    this.#listener.closed(reason, this.#tooLong);
  }
}

function isTooLong(error: Error | undefined): boolean {
  return errorCode(error) === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
}
