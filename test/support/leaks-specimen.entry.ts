import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { guardLeaks } from './leaks.js';

const leave = process.argv[2] === 'leave';
// What it leaves stays, however long is waited.
guardLeaks(t, leave ? { graceMs: 500 } : {});

t.test('It holds one of everything', async (t) => {
  const file = join(tmpdir(), 'kept.txt');
  writeFileSync(file, 'kept');
  const fd = openSync(file, 'r');
  const worker = new Worker('setInterval(() => {}, 1000)', { eval: true });
  const server = createServer().listen(0, '127.0.0.1');
  const timer = setInterval(() => undefined, 1_000);
  const child = spawn('sleep', ['97'], { stdio: 'ignore' });
  // A browser whose service died: no child of ours, and known by its profile only.
  const orphan = `sleep 98 --user-data-dir=${tmpdir()}/profile`;
  const parent = spawn('bash', ['-c', `(exec -a "${orphan}" sleep 98) & echo $!`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const pid = await firstLine(parent);
  t.ok(pid > 0);
  if (leave) return;
  // Each is told to end and takes its time.
  clearInterval(timer);
  server.close();
  void worker.terminate();
  child.kill();
  process.kill(pid);
  closeSync(fd);
  rmSync(file);
});

function firstLine(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => child.stdout?.once('data', (data) => resolve(Number(String(data)))));
}
