import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { encodeError } from '../protocol/errors.js';
import type { JournalReply, JournalRequest, ReadRequest, WriteRequest } from './messages.js';
import { explainSqliteError } from './sqlite-errors.js';
import type { Store } from './store.js';

/** Requests per transaction at most, so that the first does not wait long for the last. */
const REQUESTS_PER_COMMIT = 2_000;

/**
 * Answers a port's requests from the store until one asks to close. Group commit: requests that arrive during a commit
 * wait in the port, and all writes among them share the next transaction. A failing request does not affect the others.
 */
export function serveRequests(port: MessagePort, store: Store, file: string): void {
  const waiting: JournalRequest[] = [];
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
        port.postMessage(commitGroup(store, file, group.filter(isWrite)));
        continue;
      }
      const request = waiting.shift();
      if (request?.op === 'close') {
        port.postMessage([close(store, file, request.id)]);
        port.close();
        return;
      }
      if (request?.op === 'read') port.postMessage([await answer(store, file, request)]);
    }
    running = false;
  };

  port.on('message', (requests: readonly JournalRequest[]) => {
    waiting.push(...requests);
    if (!running) void run();
  });
}

/** One transaction for all. If it fails, one for each, so that only the faulty write is rejected. */
function commitGroup(store: Store, file: string, group: readonly WriteRequest[]): readonly JournalReply[] {
  try {
    const firstSeqs = store.commit(group);
    return group.map(({ id }, index) => ({ id, value: firstSeqs[index] ?? 0, wrote: true }));
  } catch (error) {
    const [only, ...others] = group;
    if (only !== undefined && others.length === 0) return [{ ...failed(file, only.id, error), wrote: true }];
    return group.flatMap((request) => commitGroup(store, file, [request]));
  }
}

async function answer(store: Store, file: string, { id, name, args }: ReadRequest): Promise<JournalReply> {
  try {
    // The owner takes name and arguments from the same table; messages carry no types.
    const read = store.reads[name] as (...args: readonly unknown[]) => Promise<unknown>;
    return { id, value: await read(...args) };
  } catch (error) {
    return failed(file, id, error);
  }
}

function close(store: Store, file: string, id: number): JournalReply {
  try {
    store.close();
    return { id, value: null };
  } catch (error) {
    return failed(file, id, error);
  }
}

function failed(file: string, id: number, error: unknown): JournalReply {
  return { id, error: encodeError(explainSqliteError(file, error)) };
}

function isWrite(request: JournalRequest): request is WriteRequest {
  return request.op !== 'read' && request.op !== 'close';
}
