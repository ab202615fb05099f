import type { GiveUpSignal } from '../../actors/actor.js';
import type { AccessTokens } from '../../auth/access-tokens.js';
import type { LoginStates } from '../../auth/login-states.js';
import type { SetupValues } from '../../auth/setup-values.js';
import type { ShareLinks } from '../../auth/share-links.js';
import type { BrowserKind } from '../../containers/driver.js';
import type { ModelInfo, OwnHealth } from '../../protocol/answers.js';
import type {
  AutoRequest,
  ListQuery,
  LiveRequest,
  SessionId,
  SessionRecord,
  SessionStatus,
} from '../../protocol/session.js';
import type { FrameRequest, ScreenFrame } from '../../session/screen.js';
import type { Outbox } from '../../webhooks/outbox.js';
import type { Artifacts } from './artifacts.js';
import type { Batches } from './batches.js';
import type { Connections } from './connections.js';
import type { Flows } from './flows.js';
import type { Nodes } from './nodes.js';
import type { EventStreams } from './streams.js';
import type { Submitter } from './submitter.js';

export type { ModelInfo, OwnHealth } from '../../protocol/answers.js';
export type { Submitter } from './submitter.js';

/** What happens to a running script when its client disconnects. */
export type OnDisconnect = 'continue' | 'stop';

/** How many sessions have each status, and how many failed recently. */
export interface SessionCounts {
  readonly of: { readonly [Status in SessionStatus]: number };
  readonly failed: number;
}

/** Options of a script run. */
export interface RunOptions {
  readonly onDisconnect: OnDisconnect;
  /** The key of the person with control, for their scripts. */
  readonly control?: string | undefined;
}

/**
 * The gateway's interface to the supervisor. Calls reject with a TroupeError whose code is in the error table; an
 * unknown
 * or malformed id is NOT_FOUND.
 */
export interface Sessions {
  /** Access tokens, beside the token of the configuration. */
  readonly tokens: AccessTokens;
  /** Login states that scripts have saved. */
  readonly states: LoginStates;
  readonly setupValues: SetupValues;
  readonly links: ShareLinks;
  /** Links to the traces of sessions, for the viewer. */
  readonly traceLinks: ShareLinks;
  /** Links that give people control of a session while a handoff is open. */
  readonly handoffLinks: ShareLinks;
  /** Webhook messages and their delivery. */
  readonly webhooks: Outbox;
  readonly batches: Batches;
  /** Resolves when the browser is ready. CAPACITY after `createTimeout`; aborting the signal releases the browser. */
  createLive(request: LiveRequest, submitter: Submitter): Promise<SessionRecord>;
  /**
   * Resolves when the job is on disk. INVALID_REQUEST, FLOW_NOT_FOUND, errors of the model choice, CAPACITY (queue
   * full).
   */
  submit(request: AutoRequest, submitter: Submitter): Promise<SessionRecord>;
  /**
   * The record once the session has ended, or its current one after `timeoutMs`. Aborting `signal` only ends the wait.
   */
  waitForEnd(id: string, bounds: { readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<SessionRecord>;
  list(query: ListQuery): Promise<readonly SessionRecord[]>;
  get(id: string): Promise<SessionRecord>;
  /** A running session's activity, as a line of script or the name of a flow; null for others. */
  activity(id: SessionId): string | null;
  /** Counts all sessions by status, and those that failed since an ISO instant. */
  counts(failedSince: string): Promise<SessionCounts>;
  /**
   * Stops a running or queued session. Removes the record and artifacts of an ended one, unless a call within the last
   * minute stopped it. With `purge` it does both at once; with `never`, an ended one stays.
   */
  remove(id: string, purge: boolean | 'never'): Promise<void>;
  /**
   * Returns the result's JSON text. Aborting `signal` drops a waiting script. A running script continues, since its
   * effects
   * cannot be undone, or stops if `onDisconnect` is 'stop'. SESSION_BUSY in a job, except for the person with control.
   */
  /** What is left of a session's time, and how long it may be left alone, in milliseconds; null for one that does not run. */
  timeLeft(id: string): { readonly hardMs: number; readonly idleMs: number } | null;
  runScript(id: string, source: string, signal: GiveUpSignal, options?: RunOptions): Promise<string>;
  /** Connections to running sessions, for people and for clients that do not use scripts. */
  readonly connections: Connections;
  readonly artifacts: Artifacts;
  readonly flows: Flows;
  /** Null if the service shares its database with no other. */
  readonly nodes: Nodes | null;
  readonly streams: EventStreams;
  /** A picture of the session's active page, once there is a newer one; null if there is none in time. */
  nextFrame(id: string, order: FrameRequest, signal: AbortSignal): Promise<ScreenFrame | null>;
  health(): OwnHealth;
  /** The browsers of sessions, without starting one. Null while no container has said what its browser is. */
  browserKind(): BrowserKind | null;
  /** In the order of the configuration. */
  models(): readonly ModelInfo[];
}
