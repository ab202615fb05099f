import { sentenceOf } from '../../base/system-fault.js';
import type { BrowserLease, Driver, LeaseOptions } from '../../containers/driver.js';
import { TroupeError } from '../../protocol/errors.js';
import type { LiveRequest, SessionId } from '../../protocol/session.js';
import type { Log } from '../../telemetry/log.js';
import { type OpenBounds, type OpenBrowser, type SessionStart, startSessionActor } from '../sessions/index.js';

/** What opening a browser needs. */
export interface OpenDependencies extends Readonly<Parameters<typeof startSessionActor>[0]> {
  readonly driver: Driver;
  readonly log: Log;
}

/** For whom an actor is started. */
export type ActorStart = Pick<SessionStart, 'id' | 'restart' | 'task'>;

const DEFAULT_VIEWPORT = { width: 1280, height: 720 };

/** What of a request a browser must be started with; it cannot be given later. */
export type LaunchWishes = Pick<LiveRequest, 'viewport' | 'locale' | 'proxy'>;

export function leaseOptions(leaseId: SessionId, wishes: LaunchWishes): LeaseOptions {
  const { viewport = DEFAULT_VIEWPORT, locale, proxy } = wishes;
  return { leaseId, viewport, locale, proxy };
}

/** Whether a browser that was started without a request will do. */
export function fitsAnyBrowser({ viewport, locale, proxy }: LaunchWishes): boolean {
  const { width, height } = viewport ?? DEFAULT_VIEWPORT;
  const plain = width === DEFAULT_VIEWPORT.width && height === DEFAULT_VIEWPORT.height;
  return plain && locale === undefined && proxy === undefined;
}

/** Starts a browser and an actor for it. @throws as {@link BrowserOpening} */
export async function openBrowser(
  around: OpenDependencies,
  options: LeaseOptions,
  start: ActorStart,
  { signal, deadlineMs }: OpenBounds,
): Promise<OpenBrowser> {
  const startedAt = performance.now();
  const lease = await around.driver.lease(options, { signal, deadlineMs });
  try {
    return await startActorOn(around, lease, start, {
      signal,
      deadlineMs: deadlineMs - (performance.now() - startedAt),
    });
  } catch (error) {
    await releaseLease(lease, around.log);
    throw error;
  }
}

/** Starts an actor for a browser that has none and that nobody has used. The lease stays the caller's when it throws. */
export async function startActorOn(
  around: OpenDependencies,
  lease: BrowserLease,
  start: ActorStart,
  { signal, deadlineMs }: OpenBounds,
): Promise<OpenBrowser> {
  signal.throwIfAborted();
  lease.permit(start.task().request);
  const timeoutMs = Math.round(deadlineMs);
  if (timeoutMs < 1) throw new TroupeError('UNAVAILABLE', 'No browser was ready in time');
  const opening = { ...start, lease, timeoutMs, signal, takesOver: false };
  return { lease, child: await startSessionActor(around, opening) };
}

/** Never rejects: what cannot be removed now is removed by the reaper. */
export async function releaseLease(lease: BrowserLease, log: (line: string) => void): Promise<void> {
  const { leaseId } = lease.identity;
  await lease.release().catch((error) => log(`the browser of ${leaseId} could not be removed: ${sentenceOf(error)}`));
}
