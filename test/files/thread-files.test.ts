import { once } from 'node:events';
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { appendFile, readFile, withFile, writeFile } from '#troupe/files/thread-files.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const THREADS = 30;

const folder = mkdtempSync(join(tmpdir(), 'files-'));
t.teardown(() => rmSync(folder, { recursive: true }));

/** What this process has open below the folder. */
function openFiles(): readonly string[] {
  const links = readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return [readlinkSync(join('/proc/self/fd', descriptor))];
    } catch {
      return [];
    }
  });
  return links.filter((path) => path.startsWith(folder));
}

t.test('a file is replaced, made longer and read; what the file system refuses is thrown', async (t) => {
  const file = join(folder, 'notes');
  await writeFile(file, 'one, and more of it');
  await writeFile(file, 'one');
  await appendFile(file, ', two');
  t.equal((await readFile(file)).toString(), 'one, two');
  await t.rejects(readFile(join(file, 'below')), { code: 'ENOTDIR' });
  await t.rejects(writeFile(folder, 'x'), { code: 'EISDIR' });
  await t.rejects(
    withFile(file, 'wx', async () => 1),
    { code: 'EEXIST' },
  );
  await t.rejects(
    withFile(file, 'r', async () => {
      throw new Error('in the middle');
    }),
    /in the middle/,
  );
  t.same(openFiles(), []);
});

t.test('a thread that is terminated while it writes and reads leaves no file open', async (t) => {
  const workerData = { folder };
  for (let turn = 0; turn < THREADS; turn += 1) {
    const worker = new Worker(new URL('./busy-writer.thread.mjs', import.meta.url), { workerData, execArgv: [] });
    for (let rounds = 0; rounds <= turn % 5; rounds += 1) await once(worker, 'message');
    await worker.terminate();
  }
  t.same(openFiles(), []);
});
