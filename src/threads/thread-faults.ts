import { BroadcastChannel, isMainThread } from 'node:worker_threads';

/** A part of the service whose thread could not start when it was last needed. */
export interface ThreadFault {
  /** In the words of docs/http-api.md, such as `reports`. */
  readonly part: string;
  /** A sentence for people: which thread, and why. */
  readonly reason: string;
  /** The first failure since the part last worked, ISO 8601. */
  readonly since: string;
}

/** What one thread reports of a part; `reason` is null if it works. */
interface Report {
  readonly part: string;
  readonly reason: string | null;
}

const CHANNEL = 'troupe-thread-faults';

const faults = new Map<string, ThreadFault>();
let toMainThread: BroadcastChannel | null = null;

/**
 * Records that a part's thread could not start, or with null that it did. May be called on any thread of the process;
 * the main thread lists it.
 */
export function noteThread(part: string, reason: string | null): void {
  if (isMainThread) {
    record({ part, reason });
    return;
  }
  if (toMainThread === null) {
    toMainThread = new BroadcastChannel(CHANNEL);
    toMainThread.unref();
  }
  const report: Report = { part, reason };
  toMainThread.postMessage(report);
}

/** The parts that do not work now, those that failed first before the others. Called on the main thread. */
export function threadFaults(): readonly ThreadFault[] {
  return [...faults.values()];
}

/**
 * Listens to what other threads report until the returned function is called, which forgets all of it. Called on the main
 * thread.
 */
export function watchThreads(): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.unref();
  channel.onmessage = (message: unknown) => {
    const data: unknown = Reflect.get(Object(message), 'data');
    const [part, reason]: unknown[] = [Reflect.get(Object(data), 'part'), Reflect.get(Object(data), 'reason')];
    if (typeof part === 'string' && (reason === null || typeof reason === 'string')) record({ part, reason });
  };
  return () => {
    channel.close();
    faults.clear();
  };
}

function record({ part, reason }: Report): void {
  if (reason === null) {
    faults.delete(part);
    return;
  }
  const since = faults.get(part)?.since ?? new Date().toISOString();
  faults.set(part, { part, reason, since });
}
