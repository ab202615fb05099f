import { onAbort, stretched } from '../../base/deadline.js';
import { AcceptedBatch, type BatchRequest } from '../../protocol/batches/batch.js';
import { isEnded, SessionRecord } from '../../protocol/session.js';
import type { ServiceClient } from '../service-client.js';
import { patiently } from './patiently.js';
import { webhookProblem } from './webhook-delivery.js';

/** A batch that was cancelled waits this long for the ends of its jobs. */
const CANCEL_MS = stretched(15_000);

/** What the caller hears of a batch, by the index of the job. */
export interface BatchListener {
  started(index: number, session: string): void;
  /** A job waits for a person, or no longer; `data` is the event's. */
  waits(index: number, session: string, data: unknown): void;
  resumed(session: string): void;
  /** @returns whether the rest of the batch is to be stopped */
  ended(index: number, record: SessionRecord): boolean;
  /** The caller cancelled, and the jobs are being stopped. */
  cancelling(): void;
  /** Stopping the batch failed. */
  stopFailed(error: unknown): void;
  /** The message to the batch's webhook was not delivered. */
  notNotified(problem: string): void;
}

/**
 * Submits a batch and follows it until all of its jobs have ended. If it is cancelled, its jobs are stopped and waited
 * for.
 * @param cancelled aborts with the reason
 * @param hurried settles if the caller will not wait for the jobs' ends
 * @throws what the service answered; the reason of `cancelled` if the ends are not waited for. The batch is then stopped
 */
export async function runBatch(
  client: ServiceClient,
  request: BatchRequest,
  listener: BatchListener,
  { cancelled, hurried }: { readonly cancelled: AbortSignal; readonly hurried: Promise<unknown> },
): Promise<void> {
  cancelled.throwIfAborted();
  const batch = AcceptedBatch.parse(await client.json('POST', '/api/batches', request));
  // Not its links: with "publicUrl" they name the service by another address than the one that is used here.
  const path = `/api/batches/${batch.id}`;
  const indexes = new Map(batch.jobs.map((id, index) => [id, index]));
  const given = new AbortController();
  const unended = new Set(batch.jobs);
  let stopping: Promise<unknown> | undefined;
  const stop = async () => {
    // A DELETE removes a batch whose jobs have all ended, with their reports.
    if (unended.size > 0) stopping ??= client.json('DELETE', path);
    await stopping;
  };
  const forget = onAbort(cancelled, () => {
    listener.cancelling();
    void stop().catch((error: unknown) => listener.stopFailed(error));
    setTimeout(() => given.abort(cancelled.reason), CANCEL_MS).unref();
    void hurried.then(() => given.abort(cancelled.reason));
  });
  try {
    for await (const { type, sessionId, data } of client.events(`${path}/events`, given.signal)) {
      const index = indexes.get(sessionId);
      if (index === undefined) continue;
      if (type === 'SessionStarted') listener.started(index, sessionId);
      if (type === 'HandoffRequested') listener.waits(index, sessionId, data);
      if (type === 'HandoffEnded') listener.resumed(sessionId);
      if (type !== 'SessionEnded') continue;
      const record = SessionRecord.parse(
        await patiently(() => client.json('GET', `/api/sessions/${sessionId}`), given.signal),
      );
      if (!isEnded(record.status)) continue;
      unended.delete(sessionId);
      if (listener.ended(index, record)) await stop();
    }
    if (request.webhook !== undefined) {
      const problem = await webhookProblem(client, path);
      if (problem !== null) listener.notNotified(problem);
    }
  } catch (error) {
    if (!given.signal.aborted) await stop().catch(() => undefined);
    throw error;
  } finally {
    forget();
  }
}
