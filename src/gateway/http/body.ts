import { Readable } from 'node:stream';
import { TroupeError } from '../../protocol/errors.js';
import type { BodyMemory } from './body-memory.js';
import { clientGone } from './client-gone.js';
import type { Reply } from './reply.js';

/** A body that is refused is read on and thrown away up to here, so that a client which sends first sees the answer. */
const DISCARD_BYTES = 16 * 1024 * 1024;

/** A server throws the rest of a body of known length away by itself; beyond this we rather close. */
const DECLARED_DISCARD_BYTES = 256 * 1024 * 1024;

/** What a streamed body keeps in memory before its client has to wait. */
const STREAM_BYTES = 256 * 1024;

/** How long an upload that failed may go on being thrown away before it is answered. */
const DISCARD_MS = 10_000;

/**
 * The whole body, copied (servers use their buffers again). The client must send 16 KiB/s on average over 10 s, else the
 * server ends the connection: that is the deadline.
 * @param declaredBytes the Content-Length, null where there is none
 * @param memory what all bodies that are being received share
 * @throws BODY_TOO_LARGE past `maxBytes`, whatever the Content-Length said; UNAVAILABLE where too much is being
 *   received, and when the client went away
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
      share.giveBack();
      if (bytes > DISCARD_BYTES) reply.closeAfter();
      if (last || bytes > DISCARD_BYTES) reject(refusal);
    });
  });
  return whole.finally(() => share.giveBack());
}

/**
 * A body as a stream, read only as fast as it is consumed. It fails with BODY_TOO_LARGE past `maxBytes` and with
 * UNAVAILABLE when the client goes away. Its owner calls {@link BodyStream.settle} before answering.
 */
export class BodyStream extends Readable {
  readonly #reply: Reply;
  readonly #maxBytes: number;
  #bytes = 0;
  #complete = false;
  #discarded = 0;
  #onDiscarded: (() => void) | null = null;

  /** @throws BODY_TOO_LARGE when the Content-Length is past `maxBytes`; UNAVAILABLE where too much is being received */
  constructor(reply: Reply, maxBytes: number, declaredBytes: number | null, memory: BodyMemory) {
    super({ highWaterMark: STREAM_BYTES });
    if (declaredBytes !== null && declaredBytes > maxBytes) throw refuseDeclared(reply, maxBytes, declaredBytes);
    const share = memory.share();
    // All of it at once: how much waits here is the client's choice.
    if (!share.take(declaredBytes === null ? STREAM_BYTES : Math.min(declaredBytes, STREAM_BYTES))) {
      share.giveBack();
      reply.closeAfter();
      throw memory.full();
    }
    this.once('close', () => share.giveBack());
    this.#reply = reply;
    this.#maxBytes = maxBytes;
    // Whoever consumes the stream hears of its failure; where nobody does, it must not end the process.
    this.on('error', () => undefined);
    reply.onGone(() => this.destroy(clientGone()));
    reply.onData((chunk, last) => this.#take(chunk, last));
  }

  override _read(): void {
    this.#reply.resumeBody();
  }

  /** Stops the stream and throws away what the client still sends, within bounds; past them the connection is closed. */
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
