// Loaded into a service before anything of it (`node --import`): SIGUSR2 ends its session threads, as a fault in one of
// them would.
import { syncBuiltinESMExports } from 'node:module';
import workerThreads from 'node:worker_threads';

const sessionThreads = new Set();
const { Worker } = workerThreads;

workerThreads.Worker = class extends Worker {
  constructor(entry, options) {
    super(entry, options);
    if (!options?.name?.startsWith('sessions')) return;
    sessionThreads.add(this);
    this.once('exit', () => sessionThreads.delete(this));
  }
};
syncBuiltinESMExports();

process.on('SIGUSR2', () => {
  for (const thread of sessionThreads) void thread.terminate();
});
