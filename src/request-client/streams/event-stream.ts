import { Readable } from 'node:stream';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { type LiveHead, type LiveMessage, MAX_SHOWN_CHARS } from '../../protocol/requests/live-streams.js';
import type { LiveWatcher } from './live-watcher.js';

/** Characters of one event; of a longer one, and what follows, only the body is kept. */
const MAX_EVENT_CHARS = 16 * 1024 * 1024;

export function isEventStream(contentType: string): boolean {
  return /^\s*text\/event-stream\s*(?:;|$)/i.test(contentType);
}

/**
 * The body of an event stream, unchanged, whose events are told to the watcher as they come. It ends when the server or
 * the watcher ends it.
 */
export function watchedEvents(body: Readable, head: LiveHead, watcher: LiveWatcher): Readable {
  let stopped = false;
  const stop = (): void => {
    stopped = true;
    body.destroy();
  };
  watcher.opened({ head, stop, send: null });
  return Readable.from(passedOn());

  async function* passedOn(): AsyncGenerator<Buffer> {
    const events: LiveMessage[] = [];
    const parser = createParser({
      maxBufferSize: MAX_EVENT_CHARS,
      onEvent: (event) => void events.push(messageOf(event)),
    });
    const decoder = new TextDecoder();
    let isReadable = true;
    try {
      for await (const chunk of body) {
        yield chunk;
        if (!isReadable) continue;
        try {
          parser.feed(decoder.decode(chunk, { stream: true }));
        } catch {
          isReadable = false;
        }
        if (events.length > 0) await watcher.messages(events.splice(0));
        if (stopped) return;
      }
    } catch (error) {
      if (!stopped) throw error;
    }
  }
}

function messageOf({ event, data, id }: EventSourceMessage): LiveMessage {
  return {
    at: Date.now(),
    from: 'server',
    type: event ?? 'message',
    data: data.slice(0, MAX_SHOWN_CHARS),
    bytes: Buffer.byteLength(data),
    id: id ?? '',
  };
}
