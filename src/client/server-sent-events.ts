import { LineSplitter } from '../base/lines.js';
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
  const splitter = new LineSplitter({ ends: 'any', maxChars: MAX_CHARS });
  let [id, type, data]: [string, string, string[]] = ['', '', []];
  let chars = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const line of splitter.push(decoder.decode(value, { stream: true }))) {
        if (line === '') {
          if (data.length > 0) yield { id, type, data: data.join('\n') };
          [id, type, data, chars] = ['', '', [], 0];
          continue;
        }
        chars += line?.length ?? 0;
        if (line === null || chars > MAX_CHARS) throw tooLong();
        const [field, text] = fieldOf(line);
        // Of an id with NUL, a browser takes nothing either.
        if (field === 'id' && !text.includes('\0')) id = text;
        else if (field === 'event') type = text;
        else if (field === 'data') data.push(text);
      }
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation */
function fieldOf(line: string): readonly [field: string, value: string] {
  const colon = line.indexOf(':');
  if (colon === -1) return [line, ''];
  const value = line.slice(colon + 1);
  return [line.slice(0, colon), value.startsWith(' ') ? value.slice(1) : value];
}

function tooLong(): TroupeError {
  return new TroupeError('BODY_TOO_LARGE', `An event of the stream is longer than ${MAX_CHARS} characters`);
}
