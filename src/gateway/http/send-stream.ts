import type { Readable } from 'node:stream';
import type { Reply } from './reply.js';
import type { ReplyHead } from './reply-head.js';

/** A blocked connection leaves at most one slice in memory. */
const SLICE_BYTES = 64 * 1024;

/**
 * Sends a stream only as fast as the client takes it: between two slices the source is not read. The source is
 * destroyed when the client disconnects or stalls, or if its length differs from the announced one; then, and if the
 * source fails, the connection is cut, so that an incomplete file never looks complete.
 * @param bytes the exact length if known; else the body is chunked
 * @throws what the source failed with, after the connection was cut
 */
export async function sendStream(
  reply: Reply,
  head: ReplyHead,
  source: Readable,
  bytes: number | undefined,
): Promise<void> {
  reply.onGone(() => source.destroy());
  // A source may still fail after it was destroyed; ignored.
  source.on('error', () => undefined);
  try {
    if (reply.head || !reply.open || bytes === 0) {
      reply.endHead(head, bytes);
      return;
    }
    reply.begin(head, bytes);
    const sent = bytes === undefined ? await sendChunked(reply, source) : await sendSized(reply, source, bytes);
    if (!sent) reply.cut();
  } catch (error) {
    const gone = !reply.open;
    reply.cut();
    // Destroyed because the client disconnected: not a failure.
    if (!gone) throw error;
  } finally {
    source.destroy();
  }
}

async function sendChunked(reply: Reply, source: Readable): Promise<boolean> {
  for await (const slice of slices(source)) {
    if (!reply.write(slice) && !(await reply.writable())) return false;
  }
  reply.finish();
  return true;
}

async function sendSized(reply: Reply, source: Readable, bytes: number): Promise<boolean> {
  let left = bytes;
  for await (const slice of slices(source)) {
    if (slice.byteLength > left) return false;
    left -= slice.byteLength;
    let rest = slice;
    // Repeats with an empty rest if the head of the answer is still buffered: only a write sends it.
    for (;;) {
      const { ok, taken } = reply.tryEnd(rest, bytes);
      if (ok) break;
      rest = rest.subarray(taken);
      if (!(await reply.writable())) return false;
    }
  }
  return left === 0;
}

async function* slices(source: Readable): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    const buffer: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
    for (let at = 0; at < buffer.byteLength; at += SLICE_BYTES) yield buffer.subarray(at, at + SLICE_BYTES);
  }
}
