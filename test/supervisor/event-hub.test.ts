import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Journal } from '#troupe/journal/journal.js';
import { eventRow } from '#troupe/protocol/event-row.js';
import { SessionId } from '#troupe/protocol/session.js';
import { EventHub } from '#troupe/supervisor/event-hub.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const ID = SessionId.parse('s00000000001');
const AT = '2026-01-02T03:04:05.678Z';

const line = (n: number, characters: number) =>
  eventRow(ID, { type: 'ConsoleWritten', data: { level: 'log', text: `${n} `.padEnd(characters, '.') } }, AT);

async function hubOf(t: Test): Promise<EventHub> {
  const journal = await Journal.open({ file: join(t.testdir(), 'troupe.db') });
  t.teardown(() => journal.close());
  return new EventHub(journal);
}

/** The numbers in the lines that a reader gets who has seen the first `after` events. */
async function readAfter(hub: EventHub, after: number): Promise<number[]> {
  const read: number[] = [];
  const selection = { after, upTo: hub.lastSeq(), signal: new AbortController().signal };
  for await (const event of hub.stream(selection, () => true)) {
    if (event.type === 'ConsoleWritten') read.push(Number.parseInt(event.data.text, 10));
  }
  return read;
}

for (const [kind, count, characters] of [
  ['many', 10_000, 20],
  ['large', 40, 1_000_000],
] as const) {
  t.test(`Of ${kind} events every reader gets all, in order, wherever it begins`, async (t) => {
    const hub = await hubOf(t);
    const numbers = Array.from({ length: count }, (_, n) => n);
    for (let from = 0; from < count; from += count / 10) {
      await hub.write({ events: numbers.slice(from, from + count / 10).map((n) => line(n, characters)) });
    }
    for (const after of [0, 1, count / 2, count - 2]) t.same(await readAfter(hub, after), numbers.slice(after));
  });
}
