import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { encodeError } from '../protocol/errors.js';
import type { JournalReply, JournalRequest, ReadRequest, WriteRequest } from './messages.js';
import { explainSqliteError } from './sqlite-errors.js';
import type { Store } from './store.js';

/** A transaction takes in so many requests at most, so that the first does not wait long for the last. */
const REQUESTS_PER_COMMIT = 2_000;

/**
 * Answers a port's requests from the store until one asks to close. Group commit: while a transaction is being put on
 * disk new requests gather in the port; all writes among them become the next transaction. A request that fails takes
 * no other with it.
 */
export function serveRequests(port: MessagePort, store: Store, file: string): void {
  const waiting: JournalRequest[] = [];
  let running = false;

  // Messages that are already here but not yet delivered: the port's queue is the group that gathered.
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
      if (request !== undefined && !isWrite(request)) port.postMessage([await answer(store, file, request)]);
    }
    running = false;
  };

  port.on('message', (requests: readonly JournalRequest[]) => {
    waiting.push(...requests);
    if (!running) void run();
  });
}

/** One transaction for all; where that fails, one for each, so that only the faulty write is refused. */
function commitGroup(store: Store, file: string, group: readonly WriteRequest[]): readonly JournalReply[] {
  try {
    const firstSeqs = store.commit(group);
    return group.map(({ id }, index) => ({ id, kind: 'done', firstSeq: firstSeqs[index] ?? 0 }));
  } catch (error) {
    const [only, ...others] = group;
    if (only !== undefined && others.length === 0) return [{ ...failed(file, only.id, error), write: true }];
    return group.flatMap((request) => commitGroup(store, file, [request]));
  }
}

async function answer(store: Store, file: string, request: ReadRequest): Promise<JournalReply> {
  const { id } = request;
  try {
    switch (request.op) {
      case 'get':
        return { id, kind: 'sessions', rows: await store.get(request.sessionId) };
      case 'list':
        return { id, kind: 'sessions', rows: await store.list(request.query) };
      case 'running':
        return { id, kind: 'sessions', rows: await store.running() };
      case 'waiting':
        return { id, kind: 'waiting', rows: await store.requests.waiting() };
      case 'request':
        return { id, kind: 'requests', rows: await store.requests.get(request.sessionId) };
      case 'statusCounts':
        return { id, kind: 'statusCounts', ...(await store.statusCounts(request.failedSince)) };
      case 'submission':
        return { id, kind: 'submissions', rows: await store.submission(request.key) };
      case 'kept':
        return { id, kind: 'kept', rows: await store.kept(request.kind, request.prefix) };
      case 'events':
        return { id, kind: 'events', ...store.events.list(request.query) };
      case 'endedBefore':
        return { id, kind: 'sessions', rows: await store.endedBefore(request.instant, request.limit) };
      case 'openBatches':
        return { id, kind: 'openBatches', rows: await store.batches.open() };
      case 'batchCounts':
        return { id, kind: 'counts', ...(await store.batches.count(request.batchId)) };
      case 'batchEnds':
        return { id, kind: 'number', value: await store.batches.ends(request.batchId, request.upTo) };
      case 'flowRuns':
        return { id, kind: 'flowRuns', rows: await store.flowRuns.list(request.query) };
    }
  } catch (error) {
    return failed(file, id, error);
  }
}

function close(store: Store, file: string, id: number): JournalReply {
  try {
    store.close();
    return { id, kind: 'done', firstSeq: 0 };
  } catch (error) {
    return failed(file, id, error);
  }
}

function failed(file: string, id: number, error: unknown): JournalReply & { readonly kind: 'failed' } {
  return { id, kind: 'failed', error: encodeError(explainSqliteError(file, error)) };
}

const WRITES: ReadonlySet<JournalRequest['op']> = new Set(['write', 'remove', 'removeBatch', 'prune']);

function isWrite(request: JournalRequest): request is WriteRequest {
  return WRITES.has(request.op);
}
