import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { encodeError } from '../protocol/errors.js';
import type { JournalReply, JournalRequest, ReadRequest, WriteRequest } from './messages.js';
import type { Store } from './store.js';

/** Requests per transaction at most, so that the first does not wait long for the last. */
const REQUESTS_PER_COMMIT = 2_000;

/**
 * Answers a port's requests from the store until one asks to close. Group commit: requests that arrive during a commit
 * wait in the port, and all writes among them share the next transaction. A failing request does not affect the others.
 */
export function serveRequests(port: MessagePort, store: Store): void {
  const waiting: JournalRequest[] = [];
  const reading = new Set<Promise<void>>();
  let running = false;

  // Takes messages that have arrived but were not delivered yet: they form the next group.
  const gather = () => {
    for (let more = receiveMessageOnPort(port); more !== undefined; more = receiveMessageOnPort(port)) {
      waiting.push(...more.message);
      if (waiting.length >= REQUESTS_PER_COMMIT) return;
    }
  };

  const run = async () => {
    running = true;
    for (gather(); waiting.length > 0; gather()) {
      const firstOther = waiting.findIndex((request) => !isWrite(request));
      const group = waiting.splice(0, Math.min(firstOther === -1 ? waiting.length : firstOther, REQUESTS_PER_COMMIT));
      if (group.length > 0) {
        port.postMessage(await commitGroup(store, group.filter(isWrite)));
        continue;
      }
      const request = waiting.shift();
      if (request?.op === 'close') {
        await Promise.all(reading);
        port.postMessage([await close(store, request.id)]);
        port.close();
        return;
      }
      if (request?.op !== 'read') continue;
      const answered = answer(store, request).then((reply) => port.postMessage([reply]));
      if (!store.readsInParallel) {
        await answered;
        continue;
      }
      const settled = answered.finally(() => reading.delete(settled));
      reading.add(settled);
    }
    running = false;
  };

  port.on('message', (requests: readonly JournalRequest[]) => {
    waiting.push(...requests);
    if (!running) void run();
  });
}

/** One transaction for all. If it fails, one for each, so that only the faulty write is rejected. */
async function commitGroup(store: Store, group: readonly WriteRequest[]): Promise<readonly JournalReply[]> {
  try {
    const firstSeqs = await store.commit(group);
    return group.map(({ id }, index) => ({ id, value: firstSeqs[index] ?? 0, wrote: true }));
  } catch (error) {
    if (group.length === 1 || store.concernsAll(error)) {
      return group.map(({ id }) => ({ ...failed(store, id, error), wrote: true }));
    }
    const replies: JournalReply[] = [];
    for (const request of group) replies.push(...(await commitGroup(store, [request])));
    return replies;
  }
}

async function answer(store: Store, { id, name, args }: ReadRequest): Promise<JournalReply> {
  try {
    // The owner takes name and arguments from the same table; messages carry no types.
    const read = store.reads[name] as (...args: readonly unknown[]) => Promise<unknown>;
    return { id, value: await read(...args) };
  } catch (error) {
    return failed(store, id, error);
  }
}

async function close(store: Store, id: number): Promise<JournalReply> {
  try {
    await store.close();
    return { id, value: null };
  } catch (error) {
    return failed(store, id, error);
  }
}

function failed(store: Store, id: number, error: unknown): JournalReply {
  return { id, error: encodeError(store.explain(error)) };
}

function isWrite(request: JournalRequest): request is WriteRequest {
  return request.op !== 'read' && request.op !== 'close';
}
