import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { encodeError } from '#troupe/protocol/errors.js';
import { TaskThreads } from '#troupe/threads/task-threads.js';
import { threadFaults } from '#troupe/threads/thread-faults.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const SPECIMEN = new URL('./specimen.thread.mjs', import.meta.url);

function open(t: Test, entry = SPECIMEN, size = 1): TaskThreads<unknown, unknown> {
  const threads = new TaskThreads<unknown, unknown>({
    entry,
    name: 'specimen',
    part: 'specimens',
    size,
    idleMs: 60_000,
    maxWaiting: 3,
    heapMb: 24,
  });
  t.teardown(() => threads.close());
  return threads;
}

const reasons = () => threadFaults().map(({ part, reason }) => `${part}: ${reason}`);

// What ends a thread before it has loaded. Each differs in what Node reports of it.
const UNLOADABLE = [
  // The file was removed: an error of the loader. Null: there is no such file.
  { name: 'its file is gone', code: null, reason: /Cannot find module .*thread\.mjs/ },
  // Its file is there, a package that it imports is not: `npm ci` under a running service.
  { name: 'a package is gone', code: "import 'a-package-that-is-gone';", reason: /Cannot find package 'a-package/ },
  // The package is there, and is another version.
  {
    name: 'an export is gone',
    code: "import { gone } from 'node:fs';",
    // Piscina tries to require the module first, which changes what Node says.
    reason: /could not start: ./,
  },
  // A file that was written halfway.
  { name: 'its file is cut', code: 'export const half = (', reason: /Unexpected end of input/ },
  // A native module of another build: an error of the system's loader.
  {
    name: 'a native module is gone',
    code: "process.dlopen({ exports: {} }, '/nowhere/binding.node');",
    reason: /nowhere\/binding\.node/,
  },
  { name: 'it throws', code: "throw new RangeError('not today');", reason: /not today/ },
  // An `error` event without an error.
  { name: 'it throws nothing', code: 'throw null;', reason: /it ended before it had loaded/ },
  // No `error` event at all.
  { name: 'it exits', code: 'process.exit(7);', reason: /it ended before it had loaded/ },
  // It loads, and is another file than this version's.
  { name: 'it has nothing to do', code: '', reason: /No handler function exported/ },
  // Ended by Node.
  {
    name: 'it fills its memory',
    code: 'const kept = []; for (;;) kept.push(Array.from({ length: 10_000 }, (_, index) => ({ index })));',
    reason: /it needed more than 24 MB of memory/,
  },
];

for (const { name, code, reason } of UNLOADABLE) {
  t.test(`A thread that cannot load fails every task that waits for it, by name: ${name}`, async (t) => {
    const dir = t.testdir(code === null ? {} : { 'thread.mjs': code });
    const entry = pathToFileURL(join(dir, 'thread.mjs'));
    const threads = open(t, entry);
    const failures = await Promise.all(
      [1, 2, 3].map((task) => threads.run(task, { call: 'answer' }).catch((error: unknown) => encodeError(error))),
    );
    for (const failure of failures) {
      t.match(failure, { code: 'UNAVAILABLE', details: { thread: 'specimen', started: false } });
      t.match(Reflect.get(Object(failure), 'error'), /^The specimen thread could not start: /);
      t.match(Reflect.get(Object(failure), 'error'), reason);
    }
    t.match(reasons(), [reason]);
    // The next task finds the file that is there by then.
    await writeFile(entry, `export * from ${JSON.stringify(SPECIMEN.href)};`);
    t.equal(await threads.run('again', { call: 'answer' }), 'again');
    t.same(reasons(), [], 'it works again');
  });
}

// What ends a thread during its task.
const DEADLY = [
  { call: 'exit', task: 3, reason: 'worker exited with code: 3' },
  // A clean exit is no answer either.
  { call: 'exit', task: 0, reason: 'worker exited with code: 0' },
  { call: 'fillMemory', task: null, reason: 'it needed more than 24 MB of memory' },
  // A promise that the task does not wait for.
  { call: 'rejectElsewhere', task: null, reason: 'elsewhere' },
];

for (const { call, task, reason } of DEADLY) {
  t.test(`A thread that ends during ${call}(${task}) fails that task alone, and what waits is done`, async (t) => {
    const threads = open(t);
    const [failure, ...others] = await Promise.all([
      threads.run(task, { call }).catch((error: unknown) => encodeError(error)),
      threads.run('second', { call: 'answer' }),
      threads.run('third', { call: 'answer' }),
    ]);
    t.match(failure, { code: 'UNAVAILABLE', error: `The specimen thread ended: ${reason}` });
    t.same(others, ['second', 'third']);
    t.same(reasons(), [], 'it can do what it is asked, so nothing is reported');
  });
}

t.test('An error of the task is its own, and the thread goes on', async (t) => {
  const threads = open(t);
  await t.rejects(threads.run(null, { call: 'reject' }), { code: 'INTERNAL', message: 'too far' });
  await t.rejects(
    threads.run(() => undefined, { call: 'answer' }),
    { message: /could not be cloned/ },
  );
  t.equal(await threads.run('on', { call: 'answer' }), 'on');
});

t.test('A thread that dies without a task is replaced', async (t) => {
  const threads = open(t);
  t.equal(await threads.run(null, { call: 'answerThenDie' }), 'last words');
  const answers = async () => (await threads.run('next', { call: 'answer' }).catch(() => '')) === 'next';
  await eventually('another thread answers', answers);
});

t.test('A task that is given up ends with its thread, and what waits is done', async (t) => {
  for (const call of ['hang', 'loop']) {
    const threads = open(t);
    await threads.run(null, { call: 'answer' });
    const giveUp = new AbortController();
    const hung = t.rejects(threads.run(null, { call, signal: giveUp.signal }), { message: 'enough' });
    const waits = threads.run('next', { call: 'answer' });
    const unwanted = new AbortController();
    const dropped = t.rejects(threads.run('dropped', { call: 'answer', signal: unwanted.signal }), { message: 'no' });
    unwanted.abort(new Error('no'));
    await dropped;
    giveUp.abort(new Error('enough'));
    await hung;
    t.equal(await waits, 'next');
  }
});

t.test('What waits is bounded, and closing fails all of it', async (t) => {
  const threads = open(t, undefined, 2);
  const ends = Array.from({ length: 5 }, () => t.rejects(threads.run(null, { call: 'hang' }), { code: 'UNAVAILABLE' }));
  await t.rejects(threads.run(null, { call: 'hang' }), { code: 'UNAVAILABLE', message: /Too many tasks wait/ });
  await threads.close();
  await Promise.all(ends);
  await t.rejects(threads.run(null, { call: 'answer' }), { code: 'UNAVAILABLE', message: /has been closed/ });
  t.same(reasons(), []);
});
