import { once } from 'node:events';
import type { MessagePort } from 'node:worker_threads';
import { TroupeError } from '../protocol/errors.js';
import type { JournalEvent } from '../protocol/events.js';

/** Events in one message to the other thread. */
const EVENTS_PER_PAGE = 500;

/** A page of events. An empty page is the end; null means that reading failed. */
type Page = readonly JournalEvent[] | null;

/**
 * The sending side of a stream of events to another thread. A page is sent when the other side requests it, so at most
 * one
 * is in transit. Resolves when the last page was requested, or `signal` is aborted; rejects if `events` does.
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
    // After the last page there is no further request.
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
    // Sent as a message, which waits until it is read: a closed port is noticed only by a listener that exists by then.
    port.postMessage(null);
    throw error;
  }
}

/**
 * The receiving side of {@link sendPages}. Must be called as soon as the port arrives.
 * @throws UNAVAILABLE if the other side ends early
 */
export function receivePages(port: MessagePort): AsyncGenerator<readonly JournalEvent[], void> {
  // Listen throughout: the other side may end while a page is being written, when no request is pending.
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
  throw new TroupeError('UNAVAILABLE', 'The events of the session could not be read; try again');
}

function pageOf([page]: unknown[]): readonly JournalEvent[] {
  return Array.isArray(page) ? page : lost();
}
