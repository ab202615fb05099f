import { TroupeError } from '../protocol/errors.js';

/** One event of a stream. */
export interface ServerSentEvent {
  /** '' if the event has none. */
  readonly id: string;
  /** '' for a message, the default. */
  readonly type: string;
  readonly data: string;
}

/** A longer event is refused; the longest that the service sends has 10 MB of pictures. */
const MAX_CHARS = 64 * 1024 * 1024;

/**
 * The events of an answer of the type text/event-stream, until it ends. Comments are left out. The answer is cancelled when
 * the caller stops reading.
 * @throws BODY_TOO_LARGE for an event over 64 Mi characters; what broke the connection
 */
export async function* serverSentEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let [id, type, data]: [string, string, string[]] = ['', '', []];
  let chars = 0;
  // The pieces of a line that has not ended: joined once, so that a long line costs no more than its length.
  let pieces: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const [first = '', ...more] = decoder.decode(value, { stream: true }).split('\n');
      pieces.push(first);
      chars += value.length;
      if (chars > MAX_CHARS) {
        throw new TroupeError('BODY_TOO_LARGE', `An event of the stream is longer than ${MAX_CHARS} characters`);
      }
      for (const next of more) {
        const line = pieces.join('').replace(/\r$/, '');
        pieces = [next];
        if (line !== '') {
          const [, field, text = ''] = /^(id|event|data): ?(.*)$/.exec(line) ?? [];
          if (field === 'id') id = text;
          else if (field === 'event') type = text;
          else if (field === 'data') data.push(text);
          continue;
        }
        if (data.length > 0) yield { id, type, data: data.join('\n') };
        [id, type, data, chars] = ['', '', [], next.length];
      }
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
