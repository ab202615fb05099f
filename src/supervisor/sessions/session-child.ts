import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Child } from '../../actors/child.js';
import type { Config } from '../../config.js';
import type { BrowserLease } from '../../containers/driver.js';
import type { EventRow } from '../../protocol/event-row.js';
import { MAX_HANDOFF_MS } from '../../protocol/person/handoff.js';
import type { AutoRequest, LiveRequest, SessionId } from '../../protocol/session.js';
import { NETWORK_LOG } from '../../report/har.js';
import { TRACE_LOG } from '../../report/trace/trace-log-file.js';
import { SessionActor, type SessionArgs, type SessionMessages } from '../../session/messages.js';
import { type OptionsFor, optionsFor } from '../../session/session-options.js';
import { flowsDirOf, requestsDirOf } from '../artifacts/index.js';
import type { SessionDependencies } from './session-dependencies.js';

/** Scripts that an actor may have queued, and how much longer than its time limit each may take. */
const SCRIPTS_AHEAD = 65;
export const SCRIPT_GRACE_MS = 1_500;

/** When the answer to a script arrives at the latest: the others go first, and one may wait for a person. */
export function scriptDeadlineMs(timeoutMs: number): number {
  return SCRIPTS_AHEAD * (timeoutMs + SCRIPT_GRACE_MS) + MAX_HANDOFF_MS;
}

/** How long a session actor may take to stop, in milliseconds. */
export const STOP_MS = 700;
/** A browser that does not answer a restarted actor within this time fails this attempt. */
export const REOPEN_MS = 5_000;
/** How much longer, on a busy machine, until scripts can run in a session that is taken over. */
const SCRIPTS_READY_MS = 15_000;

/** A session's actor across its restarts. */
export type SessionChild = Child<SessionMessages, readonly EventRow[]>;

/** What an actor works for; requested again at each of its starts. */
export interface SessionTask {
  readonly request: LiveRequest | AutoRequest;
  /** The batch of the job; null if it has none. */
  readonly batch: string | null;
  /** The number of steps emitted so far: a restarted actor continues the count. */
  readonly stepsDone: number;
  readonly controller: 'agent' | 'person';
  /** Called at each start, with whether it lost a page. */
  opened(pageLost: boolean): void;
}

/** The session that an actor is started for. */
export interface SessionStart {
  readonly id: SessionId;
  readonly restart: 'transient' | 'temporary';
  readonly lease: Pick<BrowserLease, 'endpoint' | 'devTools' | 'identity'>;
  readonly timeoutMs: number;
  /** Aborted if the session ends while it starts. */
  readonly signal: AbortSignal;
  /** The browser was used by an earlier run of the service. (A restarted actor takes over in any case.) */
  readonly takesOver: boolean;
  task(): SessionTask;
}

/**
 * Starts a session's actor and waits until it is connected to its browser.
 *
 * A live session's actor is `transient`: it is restarted if it or its thread dies, since the browser and its page are
 * still there. So is the actor of a job with a model, which can continue. The actor of a job with flows only is
 * `temporary`, since an interrupted flow cannot be continued. A lost browser ends all of them.
 */
export function startSessionActor(
  {
    config,
    supervision,
    closedPorts,
    cluster,
  }: Pick<SessionDependencies, 'config' | 'supervision' | 'closedPorts' | 'cluster'>,
  { id, restart, lease, timeoutMs, signal: wanted, takesOver, task }: SessionStart,
): Promise<SessionChild> {
  return supervision.start({
    id,
    kind: SessionActor,
    args: () => {
      const { request, batch, stepsDone, controller } = task();
      const { egress, hasTrace, hasVideo, updatesBaselines, ...options } = actorOptions(
        optionsFor('actor', request),
        config,
      );
      return {
        ...options,
        id,
        endpoint: lease.endpoint,
        devTools: lease.devTools(),
        page: optionsFor('pages', request),
        flowsDir: flowsDirOf(config, batch, id),
        requestsDir: requestsDirOf(config, id),
        reach: {
          ownPort: config.port,
          closedPorts,
          egress: { service: config.egress ?? {}, session: egress },
        },
        connection: config.requests,
        screenshotsDir: join(config.sessionsDir, id, 'screenshots'),
        // What a container's browser does to its window is in the video of its desktop.
        isFilmed: hasVideo && lease.identity.driver === 'docker',
        networkLog: join(config.sessionsDir, id, NETWORK_LOG),
        rulesMark: join(config.sessionsDir, id, '.routes'),
        traceLog: hasTrace ? join(config.sessionsDir, id, TRACE_LOG) : null,
        healedDir: join(config.sessionsDir, id, 'healed-flows'),
        firstStep: stepsDone + 1,
        baselines: {
          artifactsDir: join(config.sessionsDir, id, 'baselines'),
          // A browser in a container draws as Linux does, whatever runs the container.
          platform: `${lease.identity.driver}-${lease.identity.driver === 'docker' ? 'linux' : process.platform}`,
          updating: updatesBaselines,
        },
        controller,
        actsUntil: cluster?.actsUntil.shared,
      };
    },
    restart,
    finalCodes: ['WORKER_LOST'],
    shutdownMs: STOP_MS,
    thread: 'least-loaded',
    // The ask below has its own deadline.
    readyMs: Math.max(timeoutMs, REOPEN_MS + SCRIPTS_READY_MS) + 1_000,
    ready: async (ref, { attempt, signal }) => {
      const again = takesOver || attempt > 0;
      const openMs = again ? REOPEN_MS : timeoutMs;
      const deadlineMs = openMs + (again ? SCRIPTS_READY_MS : 500);
      const bounds = { deadlineMs, signal: AbortSignal.any([signal, wanted]) };
      const order = { timeoutMs: openMs, takesOver: again };
      task().opened((await ref.ask('Open', order, bounds)).pageLost);
    },
  });
}

/** What a request changes in what an actor is started with. */
interface ActorOptions
  extends Pick<SessionArgs, 'args' | 'secrets' | 'networkBodies' | 'stepScreenshots' | 'actMs' | 'pausesOnFailure'> {
  readonly egress: SessionArgs['reach']['egress']['session'];
  readonly hasTrace: boolean;
  readonly hasVideo: boolean;
  readonly updatesBaselines: boolean;
}

function actorOptions(request: OptionsFor<'actor'>, config: Config): ActorOptions {
  const hasTrace = (request.trace ?? config.trace) !== 'off';
  const screenshots = request.screenshots ?? config.screenshots ?? 'quick';
  // A trace shows the page after each step.
  const unset = request.mode === 'auto' || hasTrace ? 'on' : 'idle';
  return {
    egress: request.egress ?? {},
    hasTrace,
    networkBodies: request.har === 'bodies',
    hasVideo: (request.video ?? config.video) !== 'off',
    stepScreenshots: screenshots === 'quick' ? unset : screenshots === 'exact' ? 'on' : screenshots,
    args: request.args ?? {},
    secrets: request.secrets ?? {},
    actMs: (request.actTimeout ?? config.actTimeout) * 1000,
    updatesBaselines: request.updateBaselines === true,
    pausesOnFailure: request.pauseOnFailure === true,
  };
}

/** Whether an actor that was started without a request does not fit this one. */
export function needsOwnActor(request: LiveRequest | AutoRequest, config: Config): boolean {
  return !isDeepStrictEqual(actorOptions(optionsFor('actor', request), config), actorOptions({}, config));
}

/**
 * Opens a session's browser; used once.
 * @throws INVALID_REQUEST if the browser rejects an option, UNAVAILABLE, WORKER_LOST; everything is then released
 */
export type BrowserOpening = (task: () => SessionTask, bounds: OpenBounds) => Promise<SessionBrowser>;

/** How long opening may take, and the signal that cancels it. */
export interface OpenBounds {
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
}

/** An open browser for a session. */
export interface SessionBrowser extends OpenBrowser {
  /** It was a warm browser. */
  readonly warm: boolean;
}

/** A browser with its actor, connected and ready. Both must be released, the actor first. */
export interface OpenBrowser {
  readonly lease: BrowserLease;
  readonly child: SessionChild;
}
