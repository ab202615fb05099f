import type { AccessTokens } from '../../auth/access-tokens.js';
import { RateLimit, tooManyStarts } from '../../auth/rate-limit.js';
import type { Clock } from '../../base/clock.js';
import { pause } from '../../base/deadline.js';
import type { ClusterNode } from '../../cluster/cluster-node.js';
import { counted } from '../../protocol/counted.js';
import { TroupeError } from '../../protocol/errors.js';

/** How often a live create looks whether its caller may have another session, in milliseconds. */
const LOOK_EVERY_MS = 500;
const RETRY_JOB_SECONDS = 30;
const RETRY_LIVE_SECONDS = 5;

export interface CallerLimitsParts {
  readonly tokens: Pick<AccessTokens, 'limitsOf'>;
  readonly clock: Clock;
  readonly cluster?: Pick<ClusterNode, 'callers'> | undefined;
}

/**
 * The limits of tokens beyond those that `Admission` keeps for one service: starts per minute, and, if several nodes
 * share the database, running sessions and queued jobs over all of them. Two nodes that accept something at the same
 * instant may together exceed those of live sessions and queued jobs; that of running jobs is exact.
 */
export class CallerLimits {
  readonly #parts: CallerLimitsParts;
  readonly #rate: RateLimit;

  constructor(parts: CallerLimitsParts) {
    this.#parts = parts;
    this.#rate = new RateLimit(parts.clock);
  }

  /** @throws CAPACITY if the caller has reached its limit per minute */
  async start(caller: string, count = 1): Promise<void> {
    const { perMinute } = this.#parts.tokens.limitsOf(caller);
    if (perMinute === undefined) return;
    const { cluster } = this.#parts;
    if (cluster === undefined) return this.#rate.take(caller, perMinute, count);
    const retryAfterSeconds = await cluster.callers.takeStarts(caller, perMinute, count);
    if (retryAfterSeconds !== null) throw tooManyStarts(perMinute, retryAfterSeconds);
  }

  /** @throws CAPACITY if so many more jobs of the caller may not wait */
  async queue(caller: string, count = 1): Promise<void> {
    const { queued } = this.#parts.tokens.limitsOf(caller);
    const { cluster } = this.#parts;
    if (queued === undefined || cluster === undefined) return;
    const own = await cluster.callers.queued(caller);
    if (own + count <= queued) return;
    const details = { queued: own, retryAfterSeconds: RETRY_JOB_SECONDS };
    throw new TroupeError('CAPACITY', `This token already has ${counted(own, 'queued job')}`, details);
  }

  /**
   * Waits until the caller may have another session.
   * @throws CAPACITY at the deadline; the signal's reason
   */
  async live(caller: string, { signal, deadlineMs }: { readonly signal: AbortSignal; readonly deadlineMs: number }) {
    const { running } = this.#parts.tokens.limitsOf(caller);
    const { cluster, clock } = this.#parts;
    if (running === undefined || cluster === undefined) return;
    const end = performance.now() + deadlineMs;
    while ((await cluster.callers.running(caller)) >= running) {
      if (performance.now() >= end) {
        const message = `All sessions of this token were in use for ${Math.round(deadlineMs / 1000)} s`;
        throw new TroupeError('CAPACITY', message, { running, retryAfterSeconds: RETRY_LIVE_SECONDS });
      }
      await pause(LOOK_EVERY_MS, { signal, clock });
    }
  }
}
