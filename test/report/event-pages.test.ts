import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import t from 'tap';
import type { JournalEvent } from '#troupe/protocol/events.js';
import { receivePages, sendPages } from '#troupe/report/event-pages.js';
import { guardLeaks } from '../support/leaks.js';
import { asStream, passingEvents } from './sample-session.js';

guardLeaks(t);

t.test('A page crosses when it is asked for, and the stream ends after the last', async (t) => {
  const { port1, port2 } = new MessageChannel();
  const sent = sendPages(port1, asStream(passingEvents), new AbortController().signal);
  const received = [];
  for await (const page of receivePages(port2)) received.push(...page);
  await sent;
  t.same(received, passingEvents);
});

t.test('A sender that goes while a page is being written fails the next page', async (t) => {
  const { port1, port2 } = new MessageChannel();
  const pages = receivePages(port2);
  port1.once('message', () => port1.postMessage(passingEvents));
  t.same((await pages.next()).value, passingEvents);
  port2.ref();
  const closed = once(port2, 'close');
  port1.close();
  await closed;
  await t.rejects(pages.next(), { code: 'UNAVAILABLE' });
});

t.test('A sender that fails before anybody listens fails the first page', async (t) => {
  const { port1, port2 } = new MessageChannel();
  const broken = async function* (): AsyncGenerator<JournalEvent> {
    yield* passingEvents;
    throw new RangeError('the journal is gone');
  };
  await t.rejects(sendPages(port1, broken(), new AbortController().signal), { message: 'the journal is gone' });
  // As a thread has it that is still loading.
  port1.close();
  await new Promise((resolve) => setImmediate(resolve));
  await t.rejects(receivePages(port2).next(), { code: 'UNAVAILABLE' });
});
