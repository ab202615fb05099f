import type { GiveUpSignal } from '../../actors/actor.js';
import type { FrameOrder, ScreenFrame } from '../../actors/session/screen.js';
import type { AccessTokens } from '../../auth/access-tokens.js';
import type { ShareLinks } from '../../auth/share-links.js';
import type { ModelInfo, OwnHealth } from '../../protocol/answers.js';
import type {
  AutoRequest,
  ListQuery,
  LiveRequest,
  SessionId,
  SessionRecord,
  SessionStatus,
} from '../../protocol/session.js';
import type { Outbox } from '../../webhooks/outbox.js';
import type { Artifacts } from './artifacts.js';
import type { Batches } from './batches.js';
import type { Connections } from './connections.js';
import type { Flows } from './flows.js';
import type { EventStreams } from './streams.js';
import type { Submitter } from './submitter.js';

export type { ModelInfo, OwnHealth } from '../../protocol/answers.js';
export type { Submitter } from './submitter.js';

/** What becomes of a running script whose asker is gone. */
export type OnDisconnect = 'continue' | 'stop';

/** How many sessions there are in each status, and how many of them failed lately. */
export interface SessionCounts {
  readonly of: { readonly [Status in SessionStatus]: number };
  readonly failed: number;
}

/** How a script is run. */
export interface RunOptions {
  readonly onDisconnect: OnDisconnect;
  /** The key of who has control, for a script of theirs. */
  readonly control?: string | undefined;
}

/**
 * What the gateway may ask of the supervisor. Every call rejects with a TroupeError whose code is in the table; an id
 * that is unknown, or not of an id's form, is NOT_FOUND.
 */
export interface Sessions {
  /** Who may enter, beside the token of the configuration. */
  readonly tokens: AccessTokens;
  readonly links: ShareLinks;
  /** Messages to those who asked to be told. */
  readonly webhooks: Outbox;
  readonly batches: Batches;
  /** Settles when the browser is ready. CAPACITY after `createTimeout`; aborting the signal gives the browser back. */
  createLive(request: LiveRequest, submitter: Submitter): Promise<SessionRecord>;
  /** Settles when the job is on disk. INVALID_REQUEST, FLOW_NOT_FOUND, what is wrong with the model, CAPACITY (full). */
  submit(request: AutoRequest, submitter: Submitter): Promise<SessionRecord>;
  /** The record once the session has ended, or as it is after `timeoutMs`. Aborting `signal` ends the waiting only. */
  waitForEnd(id: string, bounds: { readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<SessionRecord>;
  list(query: ListQuery): Promise<readonly SessionRecord[]>;
  get(id: string): Promise<SessionRecord>;
  /** What a session that runs does, as a line of script or the name of a flow; null for any other. */
  doing(id: SessionId): string | null;
  /** Of all sessions, and of those that failed since an ISO instant. */
  counts(failedSince: string): Promise<SessionCounts>;
  /**
   * Stops a session that runs or waits; removes record and artifacts of one that has ended, unless a call within the last
   * minute stopped it. With `purge` it does both, at any time.
   */
  remove(id: string, purge: boolean): Promise<void>;
  /**
   * The result's JSON text. Aborting `signal` drops the script while it waits. One that runs goes on, since its effects
   * cannot be taken back; or it stops where `onDisconnect` says so. SESSION_BUSY in a job, but for who has its control.
   */
  /** What is left of a session's time, and how long it may be left alone, in milliseconds; null for one that does not run. */
  timeLeft(id: string): { readonly hardMs: number; readonly idleMs: number } | null;
  runScript(id: string, source: string, signal: GiveUpSignal, options?: RunOptions): Promise<string>;
  /** The ways into a session that runs, for people and for other clients than scripts. */
  readonly connections: Connections;
  readonly artifacts: Artifacts;
  readonly flows: Flows;
  readonly streams: EventStreams;
  /** What the session's active page shows, once there is a newer frame; null where none comes in time. */
  nextFrame(id: string, order: FrameOrder, signal: AbortSignal): Promise<ScreenFrame | null>;
  health(): OwnHealth;
  /** In the order of the configuration. */
  models(): readonly ModelInfo[];
}
