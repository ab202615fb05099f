import { Readable } from 'node:stream';
import { TroupeError } from '../../protocol/errors.js';
import type { BodyMemory } from './body-memory.js';
import { clientGone } from './client-gone.js';
import type { Reply } from './reply.js';

/**
 * A refused body is read and discarded up to this size, so that a client that sends before it reads gets the answer.
 */
const DISCARD_BYTES = 16 * 1024 * 1024;

/** The server discards the rest of a body of declared length by itself; for a longer one the connection is closed. */
const DECLARED_DISCARD_BYTES = 256 * 1024 * 1024;

/** Bytes of a streamed body held in memory before the client has to wait. */
const STREAM_BYTES = 256 * 1024;

/** How long the rest of a failed upload is discarded before the answer is sent. */
const DISCARD_MS = 10_000;

/**
 * Receives the complete body as a copy, since servers reuse their buffers. The server closes the connection of a client
 * that sends less than 16 KiB/s on average over 10 s: that is the deadline.
 * @param declaredBytes the Content-Length; null if there is none
 * @param memory shared by all bodies that are being received
 * @throws BODY_TOO_LARGE beyond `maxBytes`, whatever the Content-Length says; UNAVAILABLE if the memory is used up or
 *   the client disconnects
 */
export function readBody(
  reply: Reply,
  maxBytes: number,
  declaredBytes: number | null,
  memory: BodyMemory,
): Promise<Buffer> {
  const share = memory.share();
  const whole = new Promise<Buffer>((resolve, reject) => {
    if (declaredBytes !== null && declaredBytes > maxBytes) {
      reject(refuseDeclared(reply, maxBytes, declaredBytes));
      return;
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    let refusal: TroupeError | null = null;
    reply.onGone(() => reject(clientGone()));
    reply.onData((chunk, last) => {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) refusal ??= tooLarge(maxBytes);
      else if (refusal === null && !share.take(chunk.byteLength)) refusal = memory.full();
      if (refusal === null) {
        if (chunk.byteLength > 0) chunks.push(Buffer.from(chunk));
        if (last) resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
        return;
      }
      chunks.length = 0;
      share.release();
      if (bytes > DISCARD_BYTES) reply.closeAfter();
      if (last || bytes > DISCARD_BYTES) reject(refusal);
    });
  });
  return whole.finally(() => share.release());
}

/**
 * A body as a stream, read only as fast as it is consumed. It fails with BODY_TOO_LARGE beyond `maxBytes` and with
 * UNAVAILABLE when the client disconnects. Its owner calls {@link BodyStream.settle} before answering.
 */
export class BodyStream extends Readable {
  readonly #reply: Reply;
  readonly #maxBytes: number;
  #bytes = 0;
  #complete = false;
  #discarded = 0;
  #onDiscarded: (() => void) | null = null;

  /** @throws BODY_TOO_LARGE if the Content-Length is beyond `maxBytes`; UNAVAILABLE if the memory is used up */
  constructor(reply: Reply, maxBytes: number, declaredBytes: number | null, memory: BodyMemory) {
    super({ highWaterMark: STREAM_BYTES });
    if (declaredBytes !== null && declaredBytes > maxBytes) throw refuseDeclared(reply, maxBytes, declaredBytes);
    const share = memory.share();
    // Reserved at once: how much of the stream is buffered here is up to the client.
    if (!share.take(declaredBytes === null ? STREAM_BYTES : Math.min(declaredBytes, STREAM_BYTES))) {
      share.release();
      reply.closeAfter();
      throw memory.full();
    }
    this.once('close', () => share.release());
    this.#reply = reply;
    this.#maxBytes = maxBytes;
    // The consumer of the stream gets its error; without a consumer it must not end the process.
    this.on('error', () => undefined);
    reply.onGone(() => this.destroy(clientGone()));
    reply.onData((chunk, last) => this.#take(chunk, last));
  }

  override _read(): void {
    this.#reply.resumeBody();
  }

  /** Destroys the stream and discards the rest of the body within bounds; beyond them the connection is closed. */
  async settle(): Promise<void> {
    this.destroy();
    if (this.#complete || !this.#reply.open) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#onDiscarded = resolve;
      timer = setTimeout(resolve, DISCARD_MS);
      this.#reply.onGone(resolve);
      this.#reply.resumeBody();
    });
    clearTimeout(timer);
    if (!this.#complete) this.#reply.closeAfter();
  }

  #take(chunk: Uint8Array, last: boolean): void {
    this.#complete ||= last;
    if (this.destroyed) {
      this.#discarded += chunk.byteLength;
      if (last || this.#discarded > DISCARD_BYTES) this.#onDiscarded?.();
      return;
    }
    this.#bytes += chunk.byteLength;
    if (this.#bytes > this.#maxBytes) {
      this.destroy(tooLarge(this.#maxBytes));
      return;
    }
    const room = chunk.byteLength === 0 || this.push(Buffer.from(chunk));
    if (last) this.push(null);
    else if (!room) this.#reply.pauseBody();
  }
}

function refuseDeclared(reply: Reply, maxBytes: number, declaredBytes: number): TroupeError {
  if (declaredBytes > DECLARED_DISCARD_BYTES) reply.closeAfter();
  return tooLarge(maxBytes);
}

function tooLarge(maxBytes: number): TroupeError {
  return new TroupeError('BODY_TOO_LARGE', `The body is larger than ${maxBytes} bytes`, { maxBytes });
}
