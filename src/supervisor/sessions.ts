import type { Readable } from 'node:stream';
import type { GiveUpSignal } from '../actors/actor.js';
import type { FrameOrder, ScreenFrame } from '../actors/session/screen.js';
import type { FlowEntry } from '../agent-js/flow-catalog.js';
import type { Health, ModelInfo, SessionFile } from '../protocol/answers.js';
import type { EventPage } from '../protocol/event-row.js';
import type { JournalEvent } from '../protocol/events.js';
import type { FlowNode } from '../protocol/flow-tree.js';
import type {
  AutoRequest,
  ListQuery,
  LiveRequest,
  SessionId,
  SessionRecord,
  SessionStatus,
} from '../protocol/session.js';
import type { Stats, StatsQuery } from '../protocol/stats.js';
import type { Outbox } from '../webhooks/outbox.js';
import type { AccessTokens } from './access-tokens.js';
import type { Batches } from './batches.js';
import type { Doors } from './doors.js';
import type { ShareLinks } from './share-links.js';
import type { Submitter } from './submitter.js';

export type { Health, ModelInfo, SessionFile } from '../protocol/answers.js';
export type { Submitter } from './submitter.js';

/** What becomes of a running script whose asker is gone. */
export type WhenGone = 'go on' | 'stop';

/** How many sessions there are in each status, and how many of them failed lately. */
export interface SessionCounts {
  readonly of: { readonly [Status in SessionStatus]: number };
  readonly failed: number;
}

/** How a script is run. */
export interface ScriptManner {
  readonly whenGone: WhenGone;
  /** The key of who has control, for a script of theirs. */
  readonly control?: string | undefined;
}

/** A file as it is read; whoever takes it reads or destroys the stream. */
export interface OpenFile {
  readonly bytes: number;
  readonly stream: Readable;
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
   * cannot be taken back; or it stops where `whenGone` says so. SESSION_BUSY in a job, but for who has its control.
   */
  runScript(id: string, js: string, signal: GiveUpSignal, manner?: ScriptManner): Promise<string>;
  /** The ways into a session that runs, for people and for other clients than scripts. */
  readonly doors: Doors;
  /** The flows that scripts can run. */
  flowCatalog(signal: AbortSignal): Promise<readonly FlowEntry[]>;
  /** What is in the flows folder. */
  flowTree(signal: AbortSignal): Promise<readonly FlowNode[]>;
  /** The text of a flow or task file, by its path in the flows folder. */
  flowSource(path: string): Promise<string>;
  /** How flows went over time. */
  stats(query: StatsQuery): Promise<Stats>;
  /** What the session's active page shows, once there is a newer frame; null where none comes in time. */
  nextFrame(id: string, order: FrameOrder, signal: AbortSignal): Promise<ScreenFrame | null>;
  /** The artifact zip as it is made. Destroying the stream ends the work. */
  archive(id: string): Promise<Readable>;
  files(id: string): Promise<readonly SessionFile[]>;
  readFile(id: string, name: string): Promise<OpenFile>;
  /** A screenshot, by the name that its step has. */
  screenshot(id: string, name: string): Promise<OpenFile>;
  /** The HTML report as the journal has it now. */
  report(id: string): Promise<OpenFile>;
  /**
   * Names are one path segment. INVALID_REQUEST for any other; BODY_TOO_LARGE past `maxUploadBytes`; SESSION_BUSY for a
   * session that waits; SESSION_ENDED for one that has ended, whose browser may be there a moment longer.
   */
  writeFile(id: string, name: string, content: Readable): Promise<SessionFile>;
  /**
   * Every event after `after` (0: from the beginning), of one session or of all, without gap or repeat, for as long as
   * `signal` lasts. A session's own stream ends after its SessionEnded. Slow readers are fed from the journal, so
   * nothing is buffered for them. With `upTo` it ends when all up to that number was shown.
   */
  events(selection: {
    readonly id?: string;
    readonly after: number;
    readonly upTo?: number;
    readonly signal: AbortSignal;
  }): AsyncIterable<JournalEvent>;
  /** The same in pages, which readers of the same events share: for many who only send them on. */
  eventPages(selection: {
    readonly id?: string;
    readonly after: number;
    readonly signal: AbortSignal;
  }): AsyncIterable<EventPage>;
  /** The newest event's number: where a stream begins that wants only what comes next. */
  lastSeq(): number;
  health(): Health;
  /** In the order of the configuration. */
  models(): readonly ModelInfo[];
}
