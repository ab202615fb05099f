import { isDeepStrictEqual } from 'node:util';
import { unstretched } from '../../base/deadline.js';
import { sentenceOf } from '../../base/system-fault.js';
import type { BrowserLease, Driver, LeaseOptions } from '../../containers/driver.js';
import { TroupeError } from '../../protocol/errors.js';
import type { AutoRequest, LiveRequest, SessionId } from '../../protocol/session.js';
import { type OptionsFor, optionsFor } from '../../session/session-options.js';
import type { Log } from '../../telemetry/log.js';
import { type OpenBounds, type OpenBrowser, type SessionStart, startSessionActor } from '../sessions/index.js';

/** What opening a browser needs. */
export interface OpenDependencies extends Readonly<Parameters<typeof startSessionActor>[0]> {
  readonly driver: Driver;
  readonly log: Log;
}

/** The session that an actor is started for. */
export type ActorStart = Pick<SessionStart, 'id' | 'restart' | 'task'>;

const DEFAULT_VIEWPORT = { width: 1280, height: 720 };

/** What a browser is started with: it cannot be changed later. */
export function leaseOptions(leaseId: SessionId, request: LiveRequest | AutoRequest): LeaseOptions {
  return { leaseId, ...startOptions(optionsFor('start', request)) };
}

function startOptions(request: OptionsFor<'start'>): Omit<LeaseOptions, 'leaseId'> {
  const { viewport = DEFAULT_VIEWPORT, locale, proxy } = request;
  return { viewport, locale, proxy };
}

/** Whether a browser that was started without a request fits this one. */
export function fitsAnyBrowser(request: LiveRequest | AutoRequest): boolean {
  return isDeepStrictEqual(startOptions(optionsFor('start', request)), startOptions({}));
}

/** Starts a browser and its actor. @throws as {@link BrowserOpening} */
export async function openBrowser(
  dependencies: OpenDependencies,
  options: LeaseOptions,
  start: ActorStart,
  { signal, deadlineMs }: OpenBounds,
): Promise<OpenBrowser> {
  const startedAt = performance.now();
  const lease = await dependencies.driver.lease(options, { signal, deadlineMs });
  try {
    return await startActorOn(dependencies, lease, start, {
      signal,
      deadlineMs: deadlineMs - unstretched(performance.now() - startedAt),
    });
  } catch (error) {
    await releaseLease(lease, dependencies.log);
    throw error;
  }
}

/** Starts an actor for an unused browser without one. If this throws, the caller still owns the lease. */
export async function startActorOn(
  dependencies: OpenDependencies,
  lease: BrowserLease,
  start: ActorStart,
  { signal, deadlineMs }: OpenBounds,
): Promise<OpenBrowser> {
  signal.throwIfAborted();
  lease.permit(optionsFor('network', start.task().request));
  const timeoutMs = Math.round(deadlineMs);
  if (timeoutMs < 1) throw new TroupeError('UNAVAILABLE', 'No browser was ready in time');
  const opening = { ...start, lease, timeoutMs, signal, takesOver: false };
  return { lease, child: await startSessionActor(dependencies, opening) };
}

/** Never rejects: the reaper removes later what cannot be removed now. */
export async function releaseLease(lease: BrowserLease, log: (line: string) => void): Promise<void> {
  const { leaseId } = lease.identity;
  await lease.release().catch((error) => log(`the browser of ${leaseId} could not be removed: ${sentenceOf(error)}`));
}
