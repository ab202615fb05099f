import type { BrowserLease } from '../containers/driver.js';
import type { Journal, StoredSession, WaitingSession } from '../journal/journal.js';
import { assertNever } from '../protocol/assert-never.js';
import type { ErrorBody } from '../protocol/errors.js';
import { AutoRequest, LiveRequest } from '../protocol/session.js';
import type { AcceptedSession } from './accepted-session.js';
import { type EndParts, endStored } from './end-stored.js';
import { flowsEnd } from './flows-end.js';
import { journaledEvents } from './journaled-events.js';
import { newEvent } from './new-event.js';
import { beginsAgain, retriesLeft } from './retry.js';
import { interruptedEnd, type SessionEnd } from './session-end.js';
import { waitingRecord } from './session-record.js';
import type { SessionSurroundings } from './session-surroundings.js';
import { type OpenPhase, readProgress, type TaskProgress } from './task-phase.js';

/** What recovery needs to look at what was left, and to end what cannot go on. */
export interface RecoveryParts extends SessionSurroundings, EndParts {
  readonly journal: Journal;
}

/** What the journal has of a session that ran; without a request where that cannot be read any more. */
type Left = StoredSession & { readonly request?: unknown; readonly caller: string };

/** A session that can go on. */
export interface Resumed extends AcceptedSession {
  /** Where a job is; null for a live session. */
  readonly phase: OpenPhase | null;
  readonly progress: TaskProgress;
}

/** What becomes of a session that ran. */
type Fate =
  /** It goes on with its browser; a job without it, in another one. */
  | { readonly kind: 'goes-on'; readonly resumed: Resumed }
  /** It can only end, or begin again where its request says so. */
  | { readonly kind: 'ends'; readonly end: SessionEnd; readonly request: AutoRequest | null };

/** Where sessions go that go on. */
export interface Recovered {
  /** @throws what keeps the session from going on; its browser is given back then */
  resume(session: Resumed, lease: BrowserLease): Promise<void>;
  queue(job: WaitingSession): void;
}

/** All at once they would keep one another from being ready in time. */
const TAKEN_UP_AT_ONCE = 4;

/**
 * Takes up what an earlier service left, however it ended:
 *
 * - a live session whose browser answers goes on with its page
 * - a job that waited waits again, in its order; what it was asked for is read when it has its place
 * - a job that a model works on goes on from the journaled conversation: with its page, or where that is gone in a fresh
 *   browser, which the model is told
 * - a job in its flow is over, or begins again where it says `retries`: a flow that was cut has no continuation
 * - a browser that belongs to no session that goes on is removed
 */
export async function recoverSessions(parts: RecoveryParts, recovered: Recovered): Promise<void> {
  const { journal, driver, vault, log } = parts;
  // Before those that ran come to wait beside them.
  const waiting = await journal.waiting();
  const running = await Promise.all(
    (await journal.running()).map(async (stored): Promise<Left> => {
      const asked = await journal.request(stored.record.id);
      return { ...stored, caller: asked?.caller ?? '', ...vault.unseal(asked?.request) };
    }),
  );
  const fates = await Promise.all(running.map((stored) => fateOf(journal, stored)));
  const found = await Promise.all(
    running.map(({ lease }, index) =>
      lease === null || fates[index]?.kind !== 'goes-on' ? null : driver.adopt(lease),
    ),
  );
  const removed = await driver.sweep(new Set(found.flatMap((lease) => lease?.identity.leaseId ?? [])));
  if (removed.length > 0) log(`removed ${removed.length} browsers that an earlier service left`);
  const left = running.entries();
  const takeUpNext = async () => {
    for (const [index, stored] of left) {
      const fate = fates[index];
      if (fate !== undefined) await takeUp(parts, recovered, stored, { fate, lease: found[index] ?? null });
    }
  };
  await Promise.all(Array.from({ length: TAKEN_UP_AT_ONCE }, takeUpNext));
  for (const job of waiting) recovered.queue(job);
}

async function takeUp(
  parts: RecoveryParts,
  recovered: Recovered,
  stored: Left,
  { fate, lease }: { readonly fate: Fate; readonly lease: BrowserLease | null },
): Promise<void> {
  const { record } = stored;
  if (lease !== null && fate.kind === 'goes-on') {
    try {
      await recovered.resume(fate.resumed, lease);
      return;
    } catch (error) {
      parts.log(`cannot go on with its browser: ${String(error)}`, { session: record.id });
    }
  }
  await lease?.release();
  if (fate.kind === 'goes-on') {
    const { request } = fate.resumed;
    if (request.mode === 'auto') return waitAgain(parts, recovered, stored, { request, failed: null });
    return endStored(parts, stored, interruptedEnd('live'));
  }
  const { end, request } = fate;
  if (request !== null && end.error !== null && beginsAgain(request, record, end)) {
    return waitAgain(parts, recovered, stored, { request, failed: end.error });
  }
  await endStored(parts, stored, end);
}

async function fateOf(journal: Journal, { record, request, caller }: Left): Promise<Fate> {
  const end = interruptedEnd(record.mode);
  if (record.mode === 'live') {
    const live = LiveRequest.safeParse(request);
    if (!live.success) return { kind: 'ends', end, request: null };
    const progress = await readProgress(live.data, journaledEvents(journal, record.id));
    return { kind: 'goes-on', resumed: { request: live.data, record, caller, phase: null, progress } };
  }
  const auto = AutoRequest.safeParse(request);
  if (!auto.success) return { kind: 'ends', end, request: null };
  const progress = await readProgress(auto.data, journaledEvents(journal, record.id));
  const phase = progress.phase(record.maxIterations ?? 0);
  switch (phase.kind) {
    case 'flows':
    case 'model':
      return { kind: 'goes-on', resumed: { request: auto.data, record, caller, phase, progress } };
    case 'cut':
      return { kind: 'ends', end, request: auto.data };
    case 'over':
      return { kind: 'ends', end: flowsEnd(phase.outcome), request: auto.data };
    default:
      return assertNever(phase);
  }
}

/** A job that ran waits for a place, and a browser, once more. */
async function waitAgain(
  { hub, clock }: RecoveryParts,
  recovered: Recovered,
  stored: Left,
  { request, failed }: { readonly request: AutoRequest; readonly failed: ErrorBody | null },
): Promise<void> {
  const { attempt } = stored.record;
  const record = waitingRecord(stored.record, failed === null ? attempt : attempt + 1, clock.now());
  const left = { retriesLeft: retriesLeft(request, stored.record) - 1 };
  const data = failed === null ? null : { attempt, error: failed, ...left };
  const events = data === null ? [] : [newEvent(record.id, { type: 'AttemptFailed', data }, clock.now())];
  await hub.write({ records: [{ record, lease: null }], events });
  recovered.queue({ id: record.id, batch: record.batch, caller: stored.caller });
}
