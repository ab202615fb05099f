import type { BrowserLease } from '../containers/driver.js';
import type { Journal, StoredSession } from '../journal/journal.js';
import { encodeError, TroupeError } from '../protocol/errors.js';
import { AutoRequest, LiveRequest, type SessionId } from '../protocol/session.js';
import type { AcceptedSession } from './accepted-session.js';
import type { ArtifactKeeper } from './artifact-keeper.js';
import { journaledEvents } from './journaled-events.js';
import { newEvent } from './new-event.js';
import { interruptedEnd, type SessionEnd } from './session-end.js';
import { endedRecord } from './session-record.js';
import type { SessionSurroundings } from './session-surroundings.js';
import { phaseOf, type TaskPhase } from './task-run.js';

/** What recovery needs to look at what was left, and to end what cannot go on. */
export interface RecoveryParts extends SessionSurroundings {
  readonly journal: Journal;
  readonly artifacts: ArtifactKeeper;
}

/** What the journal has of a session that has not ended; without a request where that cannot be read any more. */
type Left = Omit<StoredSession, 'request'> & { readonly request?: unknown; readonly caller: string };

/** A session that can go on. */
export interface Resumed extends AcceptedSession {
  /** Where a job is; null for a live session. */
  readonly phase: TaskPhase | null;
}

/** Where sessions go that go on. */
export interface Recovered {
  /** @throws what keeps the session from going on; its browser is given back then */
  resume(session: Resumed, lease: BrowserLease, stepsDone: number): Promise<void>;
  queue(session: AcceptedSession & { readonly request: AutoRequest }): void;
}

/** All at once they would keep one another from being ready in time. */
const TAKEN_UP_AT_ONCE = 4;

/**
 * Takes up what an earlier service left, however it ended:
 *
 * - a live session whose browser answers goes on with its page
 * - a job that waited waits again, in its order
 * - a job that a model works on goes on with its page, from the journaled conversation
 * - a job in its flow is over: a flow that was cut has no continuation
 * - a browser that belongs to no session that goes on is removed
 */
export async function recoverSessions(parts: RecoveryParts, recovered: Recovered): Promise<void> {
  const { journal, driver, vault, log } = parts;
  const unended = (await journal.unended()).map(
    ({ request, ...stored }): Left => ({ ...stored, caller: '', ...vault.unseal(request) }),
  );
  const running = unended.filter(({ record }) => record.status === 'running');
  const resumable = await Promise.all(running.map((stored) => resumableOf(journal, stored)));
  const found = await Promise.all(
    running.map(({ lease }, index) => (lease === null || !resumable[index] ? null : driver.adopt(lease))),
  );
  const removed = await driver.sweep(new Set(found.flatMap((lease) => lease?.identity.leaseId ?? [])));
  if (removed.length > 0) log(`removed ${removed.length} browsers that an earlier service left`);
  const left = running.entries();
  const takeUpNext = async () => {
    for (const [index, stored] of left) {
      await takeUp(parts, recovered, stored, { resumed: resumable[index] ?? null, lease: found[index] ?? null });
    }
  };
  await Promise.all(Array.from({ length: TAKEN_UP_AT_ONCE }, takeUpNext));
  for (const stored of unended) if (stored.record.status === 'queued') await requeue(parts, recovered, stored);
}

async function takeUp(
  parts: RecoveryParts,
  recovered: Recovered,
  stored: Left,
  { resumed, lease }: { readonly resumed: Resumed | null; readonly lease: BrowserLease | null },
): Promise<void> {
  const { record } = stored;
  if (lease !== null && resumed !== null) {
    try {
      await recovered.resume(resumed, lease, await stepsOf(parts.journal, record.id));
      return;
    } catch (error) {
      parts.log(`session ${record.id} cannot go on: ${String(error)}`);
    }
  }
  await lease?.release();
  await endStored(parts, stored, interruptedEnd(record.mode));
}

/** Null for a session that has no continuation. */
async function resumableOf(journal: Journal, { record, request, caller }: Left): Promise<Resumed | null> {
  if (record.mode === 'live') {
    const live = LiveRequest.safeParse(request);
    return live.success ? { request: live.data, record, caller, phase: null } : null;
  }
  const auto = AutoRequest.safeParse(request);
  if (!auto.success) return null;
  const phase = await phaseOf(auto.data, record.maxIterations ?? 0, journaledEvents(journal, record.id));
  return phase === null ? null : { request: auto.data, record, caller, phase };
}

async function requeue(parts: RecoveryParts, recovered: Recovered, stored: Left): Promise<void> {
  const request = AutoRequest.safeParse(stored.request);
  if (request.success) {
    recovered.queue({ request: request.data, record: stored.record, caller: stored.caller });
    return;
  }
  const error = new TroupeError(
    'INTERNAL',
    'The request was accepted by another version, or under another key, and cannot be read',
  );
  await endStored(parts, stored, { ...interruptedEnd('auto'), error: encodeError(error) });
}

async function stepsOf(journal: Journal, id: SessionId): Promise<number> {
  let steps = 0;
  for await (const event of journaledEvents(journal, id)) {
    if (event.type === 'StepFinished') steps = event.data.index;
  }
  return steps;
}

/** Ends a session that no living one stands for. */
async function endStored(
  { hub, clock, artifacts, log }: RecoveryParts,
  { record }: Left,
  end: SessionEnd,
): Promise<void> {
  const ended = endedRecord(record, end, clock.now());
  const { status, reason: endReason, summary, error } = end;
  const event = newEvent(record.id, { type: 'SessionEnded', data: { status, endReason, summary, error } }, clock.now());
  await hub.write({ records: [{ record: ended, request: null, lease: null }], events: [event] });
  // They can be made again at any time; what keeps them from being made now keeps no service from starting.
  artifacts.write(ended).catch((error) => log(`session ${record.id}: no artifacts: ${String(error)}`));
}
