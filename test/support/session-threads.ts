import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Worker } from 'node:worker_threads';
import { startTestService, type Teardown, type TestService } from './service.js';

/** A service, and the workers that it started: the journal's is the first, those of sessions come next. */
export async function startWithThreads(
  t: Teardown,
  settings: object = {},
  home?: string,
): Promise<{ service: TestService; sessionThreads: () => readonly Worker[] }> {
  const workers: Worker[] = [];
  const onWorker = (message: unknown) => {
    if (typeof message !== 'object' || message === null || !('worker' in message)) return;
    workers.push(message.worker as Worker); // What Node documents for this channel.
  };
  subscribe('worker_threads', onWorker);
  t.teardown(() => unsubscribe('worker_threads', onWorker));
  const service = await startTestService(t, settings, home);
  return { service, sessionThreads: () => workers.slice(1) };
}
