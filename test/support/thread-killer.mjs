// Loaded into a service before anything of it (`node --import`): SIGUSR2 ends its session threads, and SIGURG the Playwright
// threads that these have started, as a fault in one of them would.
import { syncBuiltinESMExports } from 'node:module';
import workerThreads from 'node:worker_threads';

const threads = { sessions: new Set(), playwright: new Set() };
const { Worker, BroadcastChannel, isMainThread } = workerThreads;

workerThreads.Worker = class extends Worker {
  constructor(entry, options) {
    const kind = options?.name?.startsWith('sessions')
      ? 'sessions'
      : options?.name === 'troupe-playwright'
        ? 'playwright'
        : null;
    // Playwright's threads are started by session threads, which load this file too.
    super(entry, kind === 'sessions' ? { ...options, execArgv: [`--import=${import.meta.url}`] } : options);
    if (kind === null) return;
    threads[kind].add(this);
    this.once('exit', () => threads[kind].delete(this));
  }
};
syncBuiltinESMExports();

const kill = (kind) => {
  for (const thread of threads[kind]) void thread.terminate();
};
const channel = new BroadcastChannel('troupe-test-thread-killer');
channel.unref();
if (isMainThread) {
  process.on('SIGUSR2', () => kill('sessions'));
  process.on('SIGURG', () => channel.postMessage('playwright'));
} else {
  channel.onmessage = () => kill('playwright');
}
