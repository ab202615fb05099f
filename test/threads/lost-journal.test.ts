import { renameSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { BroadcastChannel } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { Journal } from '#troupe/journal/journal.js';
import { said, session, textsOf } from '../journal/stored-sessions.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

// Of threads that are started from here on.
setFlagsFromString('--max-old-space-size=64');

/** A journal whose thread ends as it is told, and whose file of the thread can be taken away. */
async function mortal(t: Test) {
  const dir = t.testdir({});
  const entry = join(dir, 'journal.thread.mjs');
  const real = pathToFileURL(join(process.cwd(), 'dist', 'journal', 'journal.thread.js')).href;
  const name = `troupe-test-${dir}`;
  await writeFile(
    entry,
    `import { BroadcastChannel } from 'node:worker_threads';
     const orders = new BroadcastChannel(${JSON.stringify(name)});
     orders.unref();
     orders.onmessage = ({ data }) => {
       if (data === 'exit') process.exit(9);
       if (data === 'throw') throw new RangeError('a fault');
       const kept = [];
       for (;;) kept.push(new Array(1_000_000).fill(data));
     };
     await import(${JSON.stringify(real)});`,
  );
  const orders = new BroadcastChannel(name);
  t.teardown(() => orders.close());
  const log: string[] = [];
  const journal = await Journal.open({
    file: join(dir, 'troupe.db'),
    entry: pathToFileURL(entry),
    log: (line) => log.push(line),
  });
  t.teardown(() => journal.close());
  return { journal, entry, log, order: (what: string) => orders.postMessage(what) };
}

const ENDS = [
  // No error, only an exit.
  { order: 'exit', why: /exited with code 9/ },
  { order: 'throw', why: /a fault/ },
  { order: 'fill', why: /ran out of memory/ },
];

for (const { order, why } of ENDS) {
  t.test(`A thread that ends by ${order} is replaced, and each write is in the file once`, async (t) => {
    const { journal, log, order: tell } = await mortal(t);
    await journal.write({ records: [session(1)], events: [said(1, '0')] });
    const texts = Array.from({ length: 40 }, (_, index) => `${index + 1}`);
    const writes: Promise<number>[] = [];
    for (const [index, text] of texts.entries()) {
      writes.push(journal.write({ events: [said(1, text)] }));
      if (index % 15 === 7) tell(order);
      if (index % 5 === 0) await new Promise((later) => setImmediate(later));
    }
    t.same(
      await Promise.all(writes),
      texts.map((_, index) => index + 2),
    );
    await eventually('it was replaced', () => log.some((line) => /open again/.test(line)));
    t.match(log.join('\n'), why);
    t.same(textsOf(await journal.events({ after: 0, limit: 100 })), ['0', ...texts]);
  });
}

t.test('While the thread cannot start, calls are refused by name; what is to be kept waits', async (t) => {
  const { journal, entry, order } = await mortal(t);
  await journal.write({ records: [session(1)], events: [said(1, 'first')] });
  renameSync(entry, `${entry}.old`);
  order('exit');
  await eventually('it is down', () => journal.writeFault() !== null);
  const reason = /journal's thread exited with code 9, and cannot be started again: Cannot find module/;
  t.match(journal.writeFault()?.message, reason);
  await t.rejects(journal.write({ events: [said(1, 'refused')] }), { code: 'UNAVAILABLE', message: reason });
  await t.rejects(journal.list({ limit: 1 }), { code: 'UNAVAILABLE', message: reason });
  const kept = journal.write({ events: [said(1, 'kept')], isKept: true });
  renameSync(`${entry}.old`, entry);
  t.equal(await kept, 2);
  t.equal(journal.writeFault(), null);
  t.same(textsOf(await journal.events({ after: 0, limit: 10 })), ['first', 'kept']);
});

t.test('A journal can be closed while its thread cannot start', async (t) => {
  const { journal, entry, order } = await mortal(t);
  const text = await readFile(entry, 'utf8');
  await writeFile(entry, 'throw null;');
  order('exit');
  await eventually('it is down', () => journal.writeFault() !== null);
  const kept = t.rejects(journal.write({ events: [said(1, 'kept')], isKept: true }), { code: 'UNAVAILABLE' });
  await journal.close();
  await kept;
  await writeFile(entry, text);
});
