import { setTimeout as pause } from 'node:timers/promises';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { encodeError, TroupeError } from '../protocol/errors.js';
import type { JournalReply, JournalRequest, ReadRequest, WriteRequest } from './messages.js';
import type { Store } from './store.js';

/** Requests per transaction at most, so that the first does not wait long for the last. */
const REQUESTS_PER_COMMIT = 2_000;
/** How often the database is asked again while it is away, in milliseconds. */
const AWAY_PAUSE_MS = 250;
/** How long a write is kept, in milliseconds. How many are kept is bounded by what may wait at the owner. */
const KEEP_MS = 600_000;

/** What a group of writes came to. */
interface Committed {
  readonly replies: readonly JournalReply[];
  /** The database went away: nobody knows whether `tried` were written; `others`, which follow, were not. */
  readonly away: {
    readonly error: unknown;
    readonly tried: readonly WriteRequest[];
    readonly others: readonly WriteRequest[];
  } | null;
}

/**
 * Answers a port's requests from the store until one asks to close. Group commit: requests that arrive during a commit
 * wait in the port, and all writes among them share the next transaction. A failing request does not affect the others.
 *
 * While the database is away, writes that are to be kept stay at the head of the line, so that they are written before
 * anything that came later, and everything else is rejected after each try.
 */
export function serveRequests(port: MessagePort, store: Store): void {
  let waiting: JournalRequest[] = [];
  const reading = new Set<Promise<void>>();
  let running = false;
  /** How many of the first in the line were tried before, and since when the first of them waits. */
  let tried = 0;
  let awaySinceMs = 0;

  // Takes messages that have arrived but were not delivered yet: they form the next group.
  const gather = () => {
    for (let more = receiveMessageOnPort(port); more !== undefined; more = receiveMessageOnPort(port)) {
      waiting.push(...more.message);
      if (waiting.length >= REQUESTS_PER_COMMIT) return;
    }
  };

  const failedBecause = (error: unknown, request: JournalRequest): JournalReply => {
    const reply = failed(store, request.id, error);
    return isWrite(request) ? { ...reply, wrote: true } : reply;
  };

  const write = async (group: readonly WriteRequest[]) => {
    const { replies, away } = await commitGroup(store, group, (done) => port.postMessage(done));
    port.postMessage(replies);
    if (tried === 0) awaySinceMs = performance.now();
    const isTooLong = performance.now() - awaySinceMs > KEEP_MS;
    tried = 0;
    if (away === null) return;
    gather();
    const isKept = (request: JournalRequest) => !isTooLong && 'isKept' in request && request.isKept === true;
    const all: readonly JournalRequest[] = [...away.tried, ...away.others, ...waiting];
    tried = away.tried.filter(isKept).length;
    const stays = (request: JournalRequest) => request.op === 'close' || isKept(request);
    waiting = all.filter(stays);
    const [first] = waiting;
    port.postMessage([
      ...all.filter((request) => !stays(request)).map((request) => failedBecause(away.error, request)),
      ...(first === undefined ? [] : [{ ...failedBecause(away.error, first), waits: true } as const]),
    ]);
    if (waiting.length > 0) await pause(AWAY_PAUSE_MS);
  };

  const run = async () => {
    running = true;
    for (gather(); waiting.length > 0; gather()) {
      const firstOther = waiting.findIndex((request) => !isWrite(request));
      const most = tried > 0 ? tried : REQUESTS_PER_COMMIT;
      const group = waiting.splice(0, Math.min(firstOther === -1 ? waiting.length : firstOther, most));
      if (group.length > 0) {
        await write(group.filter(isWrite));
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

/**
 * One transaction for all. If it fails, one for each, so that only the faulty write is rejected. These are answered one
 * by one with `post`: whoever is left without an answer by the end of this thread can then count on the order of the
 * writes.
 */
async function commitGroup(
  store: Store,
  group: readonly WriteRequest[],
  post: (replies: readonly JournalReply[]) => void,
): Promise<Committed> {
  try {
    const outcomes = await store.commit(group);
    const replies = group.map(({ id }, index): JournalReply => {
      const outcome = outcomes[index] ?? 0;
      return outcome instanceof TroupeError ? failed(store, id, outcome) : { id, value: outcome, wrote: true };
    });
    return { replies, away: null };
  } catch (error) {
    if (store.isAway(error)) return { replies: [], away: { error, tried: group, others: [] } };
    if (group.length === 1 || store.concernsAll(error)) {
      return { replies: group.map(({ id }) => ({ ...failed(store, id, error), wrote: true })), away: null };
    }
    for (const [index, request] of group.entries()) {
      const one = await commitGroup(store, [request], post);
      post(one.replies);
      if (one.away !== null) return { replies: [], away: { ...one.away, others: group.slice(index + 1) } };
    }
    return { replies: [], away: null };
  }
}

async function answer(store: Store, { id, name, args, isKept }: ReadRequest): Promise<JournalReply> {
  const untilMs = performance.now() + KEEP_MS;
  for (;;) {
    try {
      // The owner takes name and arguments from the same table; messages carry no types.
      const read = store.reads[name] as (...args: readonly unknown[]) => Promise<unknown>;
      return { id, value: await read(...args) };
    } catch (error) {
      if (!isKept || !store.isAway(error) || performance.now() > untilMs) return failed(store, id, error);
    }
    await pause(AWAY_PAUSE_MS);
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
