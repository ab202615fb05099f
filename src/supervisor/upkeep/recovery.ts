import { assertNever } from '../../base/assert-never.js';
import { sentenceOf } from '../../base/system-fault.js';
import type { BrowserLease } from '../../containers/driver.js';
import type { DamagedSession, Journal, StoredSession, WaitingSession } from '../../journal/journal.js';
import { type ErrorBody, encodeError, TroupeError } from '../../protocol/errors.js';
import { eventRow } from '../../protocol/event-row.js';
import { AutoRequest, LiveRequest, SessionId } from '../../protocol/session.js';
import { journaledEvents } from '../events/index.js';
import { beginsAgain, type Resumed, retriesLeft } from '../jobs/index.js';
import {
  acceptedRecord,
  type EndParts,
  endStored,
  flowsEnd,
  interruptedEnd,
  lostEnd,
  readProgress,
  type SessionDependencies,
  type SessionEnd,
  waitingRecord,
} from '../sessions/index.js';
import { type Adoption, adoptBrowser, NOTHING_ADOPTED } from './adopt-browser.js';

/** What recovery needs to look at what was left, and to end what cannot go on. */
export interface RecoveryParts extends Omit<SessionDependencies, 'supervision' | 'webhooks'>, EndParts {
  readonly journal: Journal;
}

/** What the journal has of a session that ran; without a request where that cannot be read any more. */
type Left = StoredSession & { readonly request?: unknown; readonly caller: string };

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

/** A session that ran, and what there is of it. */
interface Found {
  readonly stored: Left;
  readonly fate: Fate;
  readonly adoption: Adoption;
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
 *
 * Each for itself: what cannot be read, or fails, ends that session and no other. Rejects only where the journal does not
 * say what there is.
 */
export async function recoverSessions(parts: RecoveryParts, recovered: Recovered): Promise<void> {
  const { journal, vault, log } = parts;
  // Before those that ran come to wait beside them.
  const waiting = await journal.waiting();
  const { sessions, damaged } = await journal.running();
  for (const session of damaged) await endDamaged(parts, session);
  const running = await Promise.all(
    sessions.map(async (session): Promise<Found> => {
      const asked = await journal.request(session.record.id);
      const stored: Left = { ...session, caller: asked?.caller ?? '', ...vault.unseal(asked?.request) };
      const fate = await fateOf(journal, stored).catch((error: unknown): Fate => {
        log(`what it has done cannot be read: ${sentenceOf(error)}`, { session: stored.record.id });
        return { kind: 'ends', end: unreadableEnd(error), request: null };
      });
      const adoption = fate.kind === 'goes-on' ? await adoptBrowser(parts, stored) : NOTHING_ADOPTED;
      return { stored, fate, adoption };
    }),
  );
  const goesOn = running.filter(({ adoption }) => adoption.lease !== null);
  // Who has a browser waits for no removal; who gets another one does: it may be in the place of its old one.
  await Promise.all([
    sweep(
      parts,
      goesOn.map(({ adoption }) => adoption),
    ),
    takeUpAll(parts, recovered, goesOn),
  ]);
  await takeUpAll(
    parts,
    recovered,
    running.filter(({ adoption }) => adoption.lease === null),
  );
  for (const job of waiting) {
    try {
      recovered.queue(job);
    } catch (error) {
      await endWaiting(parts, job, error);
    }
  }
}

/** Never rejects: what is left is removed later, by the reaper. */
async function sweep({ driver, log }: RecoveryParts, adoptions: readonly Adoption[]): Promise<void> {
  try {
    const removed = await driver.sweep(new Set(adoptions.flatMap(({ lease }) => lease?.identity.leaseId ?? [])));
    if (removed.length > 0) log(`removed ${removed.length} browsers that an earlier service left`);
  } catch (error) {
    log(`browsers that an earlier service left are removed later: ${sentenceOf(error)}`);
  }
}

/** Never rejects. */
async function takeUpAll(parts: RecoveryParts, recovered: Recovered, all: readonly Found[]): Promise<void> {
  const left = all.values();
  const takeUpNext = async () => {
    for (const { stored, fate, adoption } of left) {
      await alone(parts, stored, () => takeUp(parts, recovered, stored, { fate, ...adoption }));
    }
  };
  await Promise.all(Array.from({ length: TAKEN_UP_AT_ONCE }, takeUpNext));
}

/** What fails for one session ends it; where not even that can be written, the next start finds it again. */
async function alone(parts: RecoveryParts, stored: Left, work: () => Promise<void>): Promise<void> {
  const { id } = stored.record;
  try {
    await work();
  } catch (error) {
    parts.log(`cannot be taken up again: ${sentenceOf(error)}`, { session: id });
    await endStored(parts, stored, lostEnd(error)).catch((cause) =>
      parts.log(`its end was not written: ${sentenceOf(cause)}`, { session: id }),
    );
  }
}

async function takeUp(
  parts: RecoveryParts,
  recovered: Recovered,
  stored: Left,
  { fate, lease, fault }: { readonly fate: Fate } & Adoption,
): Promise<void> {
  const { record } = stored;
  let why = fault;
  if (lease !== null && fate.kind === 'goes-on') {
    try {
      await recovered.resume(fate.resumed, lease);
      return;
    } catch (cause) {
      parts.log(`cannot go on with its browser: ${sentenceOf(cause)}`, { session: record.id });
      const message = 'The service was started again, and the session could not go on with its browser';
      why = new TroupeError('WORKER_LOST', message, undefined, { cause });
    }
  }
  await lease
    ?.release()
    .catch((error) => parts.log(`its browser is removed later: ${sentenceOf(error)}`, { session: record.id }));
  if (fate.kind === 'goes-on') {
    const { request } = fate.resumed;
    if (request.mode === 'auto') return waitAgain(parts, recovered, stored, { request, failed: null });
    const end = interruptedEnd('live');
    return endStored(parts, stored, why === null ? end : { ...end, error: encodeError(why) });
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
  const events = data === null ? [] : [eventRow(record.id, { type: 'AttemptFailed', data }, clock.now().toISOString())];
  await hub.write({ records: [{ record, lease: null }], events });
  recovered.queue({ id: record.id, batch: record.batch, caller: stored.caller });
}

/** Never rejects. */
async function endWaiting(parts: RecoveryParts, { id }: WaitingSession, error: unknown): Promise<void> {
  parts.log(`cannot wait again: ${sentenceOf(error)}`, { session: id });
  try {
    const stored = await parts.journal.get(id);
    if (stored !== null) await endStored(parts, stored, lostEnd(error));
  } catch (cause) {
    parts.log(`its end was not written: ${sentenceOf(cause)}`, { session: id });
  }
}

function unreadableEnd(cause: unknown): SessionEnd {
  const message = 'What the journal has of the session is damaged, so that it cannot go on';
  return lostEnd(new TroupeError('INTERNAL', message, undefined, { cause }));
}

/** Ends a session of whose row not even the record may be left: from then on it can be read again. Never rejects. */
async function endDamaged(parts: RecoveryParts, damaged: DamagedSession): Promise<void> {
  const { id: text, mode, batch, createdAt, record: known } = damaged;
  const id = SessionId.safeParse(text);
  parts.log(`session ${text} is damaged in the journal and ${id.success ? 'is ended' : 'is left out'}`);
  if (!id.success) return;
  try {
    const { maxIterations, publicUrl } = parts.config;
    const defaults = { maxIterations, publicUrl, model: null, batch: batch ?? undefined, now: new Date(createdAt) };
    const unknown = acceptedRecord(id.data, {}, defaults);
    const record = known ?? { ...unknown, mode: mode === 'auto' ? 'auto' : 'live' };
    await endStored(parts, { record }, unreadableEnd(undefined));
  } catch (error) {
    parts.log(`its end was not written: ${sentenceOf(error)}`, { session: text });
  }
}
