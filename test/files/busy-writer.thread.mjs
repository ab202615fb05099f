// Writes, appends and reads without end, in four files of a folder, and says each time that it has gone around.
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { appendFile, readFile, writeFile } from '#troupe/files/thread-files.js';

const DATA = Buffer.alloc(80_000, 'x');

async function work(file) {
  for (;;) {
    await writeFile(file, DATA);
    await appendFile(file, 'more');
    await readFile(file);
    parentPort.postMessage('around');
  }
}

for (const name of ['a', 'b', 'c', 'd']) void work(join(workerData.folder, name));
