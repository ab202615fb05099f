import { assertNever } from '../../base/assert-never.js';
import { sentenceOf } from '../../base/system-fault.js';
import type { BrowserLease } from '../../containers/driver.js';
import type { DamagedSession, Journal, StoredSession, WaitingSession } from '../../journal/journal.js';
import { counted } from '../../protocol/counted.js';
import { type ErrorBody, encodeError, TroupeError } from '../../protocol/errors.js';
import { eventRow } from '../../protocol/event-row.js';
import { AutoRequest, LiveRequest, SessionId } from '../../protocol/session.js';
import { withPause } from '../../protocol/times.js';
import { journaledEvents } from '../events/index.js';
import { beginsAgain, type ResumableSession, retriesLeft } from '../jobs/index.js';
import {
  acceptedRecord,
  type EndParts,
  endStored,
  flowsEnd,
  interruptedEnd,
  lostEnd,
  nodeLostEnd,
  readProgress,
  type SessionDependencies,
  type SessionEnd,
  waitingRecord,
} from '../sessions/index.js';
import { type Adoption, adoptBrowser, NOTHING_ADOPTED } from './adopt-browser.js';

/** What recovery needs to inspect sessions, and to end those that cannot continue. */
export interface RecoveryParts
  extends Omit<SessionDependencies, 'supervision' | 'webhooks' | 'videos' | 'states' | 'setupValues'>,
    EndParts {
  readonly journal: Journal;
}

/** A session that was running, from the journal; without a request if that cannot be read. */
type StoredWork = StoredSession & {
  readonly request?: unknown;
  readonly caller: string;
  /** It ran in an earlier start on this home, where its browser may still be. */
  readonly wasHere: boolean;
};

/** What happens to a session that was running. */
type RecoveryPlan =
  /** It continues with its browser; a job continues in another one if its own is lost. */
  | { readonly kind: 'resume'; readonly resumed: ResumableSession }
  /** It ends, unless it is a job whose request allows a retry. */
  | {
      readonly kind: 'end';
      readonly end: SessionEnd;
      readonly request: AutoRequest | null;
      /** When a job's newest event was emitted; null if that is not known. */
      readonly lastAt: string | null;
    };

/** Receives the sessions that continue. */
export interface Recovered {
  /** @throws why the session cannot continue; its browser is then released */
  resume(session: ResumableSession, lease: BrowserLease): Promise<void>;
  queue(job: WaitingSession): void;
  /** A job that was running is queued again, on disk. By default as {@link queue}. */
  requeued?(job: WaitingSession): void;
}

/** What was left. */
export interface LeftSessions {
  readonly waiting: readonly WaitingSession[];
  /** Those that were running. */
  readonly sessions: readonly StoredSession[];
  readonly damaged: readonly DamagedSession[];
}

/** What all earlier runs of a service left that has the journal for itself. */
export async function leftSessions(journal: Journal): Promise<LeftSessions> {
  // Read before the sessions that were running are queued again.
  const waiting = await journal.waiting();
  return { waiting, ...(await journal.running()) };
}

/** A session that was running, what happens to it, and its adopted browser. */
interface Recoverable {
  readonly stored: StoredWork;
  readonly plan: RecoveryPlan;
  readonly adoption: Adoption;
}

/** What becomes of a session is decided once, so it waits for a database that is away. */
const KEPT = { isKept: true } as const;
/** Limited, because resuming all at once would delay each beyond its deadline. */
const RECOVERED_AT_ONCE = 4;

/**
 * Recovers what an earlier run of the service left, however it ended:
 *
 * - a live session whose browser answers continues with its page
 * - a queued job is queued again, in order; its request is read when it gets a slot
 * - a job with a model continues from the journaled conversation: with its page, or, if the browser is gone, in a fresh
 *  browser, which the model is notified of
 * - a job that was in a flow ends, or is retried if it has `retries`: an interrupted flow cannot be continued
 * - a browser whose session does not continue is removed
 *
 * An error ends only its own session. Rejects only if the journal cannot be read.
 *
 * @param options.sweeps at the start: adopts browsers, and removes all others. Later, no session that is found has one
 */
export async function recoverSessions(
  parts: RecoveryParts,
  recovered: Recovered,
  { waiting, sessions, damaged }: LeftSessions,
  { sweeps }: { readonly sweeps: boolean },
): Promise<void> {
  const { journal, vault, log } = parts;
  for (const session of damaged) await endDamaged(parts, session);
  const running = await Promise.all(
    sessions.map(async (session): Promise<Recoverable> => {
      const asked = await journal.request(session.record.id);
      const wasHere = sweeps && session.record.node === parts.config.node?.id;
      const stored: StoredWork = { ...session, wasHere, caller: asked?.caller ?? '', ...vault.unseal(asked?.request) };
      const plan = await planOf(journal, stored).catch((error: unknown): RecoveryPlan => {
        log(`its progress cannot be read: ${sentenceOf(error)}`, { session: stored.record.id });
        return { kind: 'end', end: unreadableEnd(error), request: null, lastAt: null };
      });
      const adoption = plan.kind === 'resume' && wasHere ? await adoptBrowser(parts, stored) : NOTHING_ADOPTED;
      return { stored, plan, adoption };
    }),
  );
  const adopted = running.filter(({ adoption }) => adoption.lease !== null);
  // A session with its own browser need not wait for the removal; one that gets a new browser must, to have its slot.
  const adoptions = adopted.map(({ adoption }) => adoption);
  await Promise.all([sweeps ? reap(parts, adoptions) : undefined, recoverAll(parts, recovered, adopted)]);
  await recoverAll(
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

/** Never rejects: the reaper removes the rest later. */
async function reap({ driver, log }: RecoveryParts, adoptions: readonly Adoption[]): Promise<void> {
  try {
    const removed = await driver.sweep(new Set(adoptions.flatMap(({ lease }) => lease?.identity.leaseId ?? [])));
    if (removed.length > 0) log(`removed ${counted(removed.length, 'browser')} that an earlier service left`);
  } catch (error) {
    log(`browsers of an earlier run will be removed later: ${sentenceOf(error)}`);
  }
}

/** Never rejects. */
async function recoverAll(parts: RecoveryParts, recovered: Recovered, all: readonly Recoverable[]): Promise<void> {
  const left = all.values();
  const recoverNext = async () => {
    for (const { stored, plan, adoption } of left) {
      await endingOnError(parts, stored, () => recover(parts, recovered, stored, { plan, ...adoption }));
    }
  };
  await Promise.all(Array.from({ length: RECOVERED_AT_ONCE }, recoverNext));
}

/** Ends the session if `work` fails. If that cannot be written either, the next start finds the session again. */
async function endingOnError(parts: RecoveryParts, stored: StoredWork, work: () => Promise<void>): Promise<void> {
  const { id } = stored.record;
  try {
    await work();
  } catch (error) {
    parts.log(`cannot be recovered: ${sentenceOf(error)}`, { session: id });
    await endStored(parts, stored, lostEnd(error), KEPT).catch((cause) =>
      parts.log(`its end was not written: ${sentenceOf(cause)}`, { session: id }),
    );
  }
}

async function recover(
  parts: RecoveryParts,
  recovered: Recovered,
  left: StoredWork,
  { plan, lease, fault }: { readonly plan: RecoveryPlan } & Adoption,
): Promise<void> {
  let why = fault;
  const { id } = left.record;
  if (lease !== null && plan.kind === 'resume') {
    try {
      await recovered.resume(plan.resumed, lease);
      return;
    } catch (cause) {
      const reason = sentenceOf(cause);
      parts.log(`cannot continue with its browser: ${reason}`, { session: id });
      const message = `The service was restarted, and the session could not continue with its browser: ${reason}`;
      why = new TroupeError('WORKER_LOST', message, undefined, { cause });
    }
  }
  await lease
    ?.release()
    .catch((error) => parts.log(`its browser will be removed later: ${sentenceOf(error)}`, { session: id }));
  // The time of a job's attempt ends with its last event, and not when the service is there again.
  const lastAt = plan.kind === 'end' ? plan.lastAt : plan.resumed.progress.lastAt;
  const isJob = left.record.mode === 'auto';
  const record = isJob && lastAt !== null ? withPause(left.record, lastAt, parts.clock.now()) : left.record;
  const stored = { ...left, record };
  if (plan.kind === 'resume') {
    const { request } = plan.resumed;
    if (request.mode === 'auto') return requeue(parts, recovered, stored, { request, failed: null, lastAt });
    const end = stored.wasHere ? interruptedEnd('live') : nodeLostEnd(record.node);
    return endStored(parts, stored, why === null ? end : { ...end, error: encodeError(why) }, KEPT);
  }
  const { end, request } = plan;
  if (request !== null && end.error !== null && beginsAgain(request, record, end)) {
    return requeue(parts, recovered, stored, { request, failed: end.error, lastAt });
  }
  await endStored(parts, stored, end, KEPT);
}

async function planOf(journal: Journal, { record, request, caller }: StoredWork): Promise<RecoveryPlan> {
  const end = interruptedEnd(record.mode);
  if (record.mode === 'live') {
    const live = LiveRequest.safeParse(request);
    if (!live.success) return { kind: 'end', end, request: null, lastAt: null };
    const progress = await readProgress(live.data, journaledEvents(journal, record.id));
    return { kind: 'resume', resumed: { request: live.data, record, caller, phase: null, progress } };
  }
  const auto = AutoRequest.safeParse(request);
  if (!auto.success) return { kind: 'end', end, request: null, lastAt: null };
  const progress = await readProgress(auto.data, journaledEvents(journal, record.id));
  const phase = progress.phase(record.maxIterations ?? 0);
  switch (phase.kind) {
    case 'flows':
    case 'model':
      return { kind: 'resume', resumed: { request: auto.data, record, caller, phase, progress } };
    case 'cut':
      return { kind: 'end', end, request: auto.data, lastAt: progress.lastAt };
    case 'over':
      return { kind: 'end', end: flowsEnd(phase.outcome), request: auto.data, lastAt: progress.lastAt };
    default:
      return assertNever(phase);
  }
}

/** Queues a job that was running for another slot and browser. */
async function requeue(
  { hub, clock }: RecoveryParts,
  recovered: Recovered,
  stored: StoredWork,
  {
    request,
    failed,
    lastAt,
  }: { readonly request: AutoRequest; readonly failed: ErrorBody | null; readonly lastAt: string | null },
): Promise<void> {
  const { attempt } = stored.record;
  const record = waitingRecord(stored.record, failed === null ? attempt : attempt + 1, clock.now());
  const left = { retriesLeft: retriesLeft(request, stored.record) - 1 };
  const data = failed === null ? null : { attempt, error: failed, ...left };
  const at = lastAt ?? clock.now().toISOString();
  const events = data === null ? [] : [eventRow(record.id, { type: 'AttemptFailed', data }, at)];
  await hub.write({ records: [{ record, lease: null }], events, ...KEPT });
  const job = { id: record.id, batch: record.batch, caller: stored.caller };
  if (recovered.requeued === undefined) recovered.queue(job);
  else recovered.requeued(job);
}

/** Never rejects. */
async function endWaiting(parts: RecoveryParts, { id }: WaitingSession, error: unknown): Promise<void> {
  parts.log(`cannot be queued again: ${sentenceOf(error)}`, { session: id });
  try {
    const stored = await parts.journal.get(id);
    if (stored !== null) await endStored(parts, stored, lostEnd(error), KEPT);
  } catch (cause) {
    parts.log(`its end was not written: ${sentenceOf(cause)}`, { session: id });
  }
}

function unreadableEnd(cause: unknown): SessionEnd {
  const message = "The journal's data of the session is damaged, so the session cannot continue; create a new one";
  return lostEnd(new TroupeError('INTERNAL', message, undefined, { cause }));
}

/** Ends a session whose row is damaged, even if no record is left: it is readable afterwards. Never rejects. */
async function endDamaged(parts: RecoveryParts, damaged: DamagedSession): Promise<void> {
  const { id: text, mode, batch, createdAt, record: known } = damaged;
  const id = SessionId.safeParse(text);
  parts.log(`session ${text} is damaged in the journal and ${id.success ? 'is ended' : 'is ignored'}`);
  if (!id.success) return;
  try {
    const { maxIterations, publicUrl } = parts.config;
    const defaults = { maxIterations, publicUrl, model: null, batch: batch ?? undefined, now: new Date(createdAt) };
    const unknown = acceptedRecord(id.data, {}, defaults);
    const record = known ?? { ...unknown, mode: mode === 'auto' ? 'auto' : 'live' };
    await endStored(parts, { record }, unreadableEnd(undefined), KEPT);
  } catch (error) {
    parts.log(`its end was not written: ${sentenceOf(error)}`, { session: text });
  }
}
