import type { Reply } from '../http/reply.js';
import type { ReplyHead } from '../http/reply-head.js';
import type { McpAnswer } from './mcp-session.js';

/** Headers that the service's replies set themselves, or that the server adds. */
const LEFT_OUT = new Set(['cache-control', 'connection', 'content-length']);

/** Bytes that the connection did not take, also the end of the head, are sent with the next write only. */
const COMMENT = ':\n\n';

/**
 * Writes an answer in the form of the fetch standard, a stream as fast as the client takes it. If the client
 * disconnects or stalls, the stream is cancelled at its source.
 */
export async function writeWebAnswer(reply: Reply, { response, pieces }: McpAnswer): Promise<void> {
  const { status, headers, body } = response;
  const head: ReplyHead = { status, headers: [...headers].filter(([name]) => !LEFT_OUT.has(name)) };
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (body === null || !isStream) {
    reply.end(head, body === null ? '' : await response.text());
    return;
  }
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  reply.onGone(() => void reader.cancel().catch(() => undefined));
  if (!reply.open) await reader.cancel();
  reply.begin(head);
  reply.write(COMMENT);
  for (let left = pieces ?? Number.POSITIVE_INFINITY; left > 0 && reply.open; left -= 1) {
    const { done, value } = await reader.read();
    if (done) break;
    if (reply.write(value)) continue;
    if (await reply.writable()) reply.write(COMMENT);
  }
  await reader.cancel();
  reply.finish();
}
