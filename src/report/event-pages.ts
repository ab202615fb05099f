import { once } from 'node:events';
import type { MessagePort } from 'node:worker_threads';
import { TroupeError } from '../protocol/errors.js';
import type { JournalEvent } from '../protocol/events.js';

/** Events that cross to the other thread in one message. */
const EVENTS_PER_PAGE = 500;

/** A page; an empty one is the end, none at all says that there is no more to be had. */
type Page = readonly JournalEvent[] | null;

/**
 * The sending end of a stream of events to another thread. A page is sent when the other end asks for it, so that one
 * page is under way at most. Settles when the last was asked for, or `signal` is aborted; rejects when `events` does.
 */
export async function sendPages(
  port: MessagePort,
  events: AsyncIterable<JournalEvent>,
  signal: AbortSignal,
): Promise<void> {
  let asked = once(port, 'message', { signal });
  const send = async (page: Page) => {
    await asked;
    asked = once(port, 'message', { signal });
    // The question after the last page never comes.
    asked.catch(() => undefined);
    port.postMessage(page);
  };
  asked.catch(() => undefined);
  try {
    let page: JournalEvent[] = [];
    for await (const event of events) {
      if (page.push(event) < EVENTS_PER_PAGE) continue;
      await send(page);
      page = [];
    }
    if (page.length > 0) await send(page);
    await send([]);
  } catch (error) {
    if (signal.aborted) return;
    // Said in a message, which waits until it is read: that a port was closed is told only to who listens by then.
    port.postMessage(null);
    throw error;
  }
}

/**
 * The receiving end of {@link sendPages}. To be called as soon as the port is there.
 * @throws UNAVAILABLE when the other end is gone before the end
 */
export function receivePages(port: MessagePort): AsyncGenerator<readonly JournalEvent[], void> {
  // From the beginning to the end: the other end may go while a page is being written, when nobody waits for the next.
  const gone = new AbortController();
  port.once('close', () => gone.abort());
  return pages(port, gone.signal);
}

async function* pages(port: MessagePort, gone: AbortSignal): AsyncGenerator<readonly JournalEvent[], void> {
  try {
    for (;;) {
      const answer = once(port, 'message', { signal: gone });
      port.postMessage('next');
      const page = pageOf(await answer.catch(() => lost()));
      if (page.length === 0) return;
      yield page;
    }
  } finally {
    port.close();
  }
}

function lost(): never {
  throw new TroupeError('UNAVAILABLE', 'The events of the session could not be read');
}

function pageOf([page]: unknown[]): readonly JournalEvent[] {
  return Array.isArray(page) ? page : lost();
}
