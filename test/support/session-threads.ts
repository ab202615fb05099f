import { syncBuiltinESMExports } from 'node:module';
import workerThreads, { type Worker, type WorkerOptions } from 'node:worker_threads';
import { startTestService, type Teardown, type TestService } from './service.js';

/**
 * A service, and how its session threads are lost, as by a fault in each of them: all that run now, and no other thread.
 * The journal, and the gate through which browsers reach the network, go on.
 */
export async function startWithThreads(
  t: Teardown,
  settings: object = {},
  home?: string,
): Promise<{ service: TestService; loseSessionThreads: () => Promise<void> }> {
  const threads = watchSessionThreads(t);
  const service = await startTestService(t, settings, home);
  const loseSessionThreads = async () => {
    if (threads.size === 0) throw new Error('No session thread is running');
    await Promise.all([...threads].map((thread) => thread.terminate()));
  };
  return { service, loseSessionThreads };
}

/** The session threads that run; those that start later are added. Only the name that a thread is started with tells which it is. */
function watchSessionThreads(t: Teardown): ReadonlySet<Worker> {
  const threads = new Set<Worker>();
  const Original = workerThreads.Worker;
  const replaceWorker = (replacement: typeof Worker) => {
    Object.assign(workerThreads, { Worker: replacement });
    syncBuiltinESMExports();
  };
  replaceWorker(
    class extends Original {
      constructor(entry: string | URL, options?: WorkerOptions) {
        super(entry, options);
        if (options?.name?.startsWith('sessions-') !== true) return;
        threads.add(this);
        this.once('exit', () => threads.delete(this));
      }
    },
  );
  t.teardown(() => replaceWorker(Original));
  return threads;
}
