import type { ServiceReachOptions } from '#request-client';
import type { ActorKind } from '../actors/actor.js';
import type { GivenAnswer } from '../agent-js/handoff.js';
import type { CastUser } from '../agent-js/pictures/screencast.js';
import type { CollectedState, SaveOutcome } from '../agent-js/state/saved-states.js';
import type { StepScreenshotPolicy } from '../agent-js/steps.js';
import type { TaskEnd } from '../autonomy/loop.js';
import type { ConnectionSettings } from '../config/connection-settings.js';
import type { BrowserEndpoint, DevToolsAddress } from '../containers/driver.js';
import type { PageInput } from '../protocol/control.js';
import type { ErrorBody } from '../protocol/errors.js';
import type { EventRow } from '../protocol/event-row.js';
import type { SessionId } from '../protocol/session.js';
import type { DevToolsMessages } from './connection/devtools-clients.js';
import type { ModelTask } from './model-phase.js';
import type { FrameRequest, ScreenFrame } from './screen.js';
import type { BrowserOptions } from './session-options.js';

/** A browser that a session has got. */
export interface GivenBrowser {
  readonly endpoint: BrowserEndpoint;
  /** Used by one actor only. */
  readonly devTools: DevToolsAddress;
  readonly page: BrowserOptions;
}

/** Everything that a session actor needs, given once when it is created. Paths are absolute. */
export interface SessionArgs extends GivenBrowser {
  readonly id: SessionId;
  readonly flowsDir: string;
  /** The folder of collections for `Request.run`. */
  readonly requestsDir: string;
  /** The destinations that `Request.run` may reach. */
  readonly reach: ServiceReachOptions;
  /** Proxies and certificates of `Request.run`, from the home's settings; contains secrets. */
  readonly connection: ConnectionSettings;
  readonly screenshotsDir: string;
  /** The file that network entries are written to. */
  readonly networkLog: string;
  /** Whether the network log keeps bodies. */
  readonly networkBodies: boolean;
  /** The file that stands while rules of `page.route` do. */
  readonly rulesMark: string;
  /** What the session's trace needs is written to this file; null: it is to have none. */
  readonly traceLog: string | null;
  /** The folder for proposed repaired flows. */
  readonly healedDir: string;
  /** The global `args` of the session's scripts. */
  readonly args: { readonly [name: string]: unknown };
  /** By name; see `Secrets`. */
  readonly secrets: { readonly [name: string]: string };
  /** The number of the session's next step: above 1 if it has run before. */
  readonly firstStep: number;
  readonly stepScreenshots: StepScreenshotPolicy;
  /** The browser's window is filmed. */
  readonly isFilmed: boolean;
  /** How long an act waits for its element to become actionable. */
  readonly actMs: number;
  /** What pages are compared with: the folder for copies of new ones, driver and system, whether they are to be written. */
  readonly baselines: { readonly artifactsDir: string; readonly platform: string; readonly updating: boolean };
  /** When a flow has failed, a person is waited for. */
  readonly pausesOnFailure: boolean;
  /** A `SharedDeadline` after which the session must not act; undefined if it may for as long as it lives. */
  readonly actsUntil?: SharedArrayBuffer | undefined;
  /** Who has control: a person may have it when the actor is restarted. */
  readonly controller: 'agent' | 'person';
}

/**
 * The outcome of a run of flows. `error` is FLOW_FAILED or HARD_TIMEOUT with flow, line, column, url, title, and cause.
 */
export type FlowsOutcome =
  | {
      readonly status: 'passed';
      readonly flows: number;
      /** Of these, those whose tests were all skipped. */
      readonly skipped: number;
      /** The JSON text of what a `_setup` flow returned. */
      readonly value?: string;
    }
  | {
      readonly status: 'failed';
      readonly flow: string;
      readonly error: ErrorBody;
      /** There is nothing in it for a model to continue. */
      readonly isBeyondRepair: boolean;
    };

/** The messages of a session actor. */
export type SessionMessages = {
  /**
   * Connects to the browser and starts the script thread. Sent once, before all others. An actor that takes over uses
   * the
   * browser as the last one left it; `pageLost` means that a page did not answer, or had lost its rules of `page.route`, and was closed, and the first script
   * fails with that.
   */
  Open: {
    readonly payload: { readonly timeoutMs: number; readonly takesOver: boolean };
    readonly reply: { readonly pageLost: boolean };
  };
  /** Applies a session's options to a browser that was opened in advance. Sent before the first script. */
  ApplyOptions: { readonly payload: BrowserOptions; readonly reply: null };
  /** Waits for an answer of the page and of the script thread. WAIT_TIMEOUT, EVAL_TIMEOUT, WORKER_LOST. */
  Probe: { readonly payload: { readonly timeoutMs: number }; readonly reply: null };
  /**
   * Emits the last step now instead of when idle, and without its picture if that takes longer than `pictureMs`. All of
   * its events arrive before the reply.
   */
  Settle: { readonly payload: { readonly pictureMs: number }; readonly reply: null };
  /**
   * Replies with the JSON text of the script's result. Scripts run one after another; 64 may wait. If the caller gives
   * up,
   * a running script continues, or stops with `onDisconnect: 'stop'`.
   */
  RunScript: {
    readonly payload: {
      readonly source: string;
      readonly kind: 'script' | 'model';
      readonly timeoutMs: number;
      readonly onDisconnect?: 'continue' | 'stop';
      /** A script of the person who has control runs in its own scope and does not wait for the agent's. */
      readonly by?: 'agent' | 'person';
    };
    readonly reply: string;
  };
  /** Gives control to a person, or back to the agent. Replies when the agent's calls have finished, within 3 s. */
  GiveControl: { readonly payload: { readonly to: 'agent' | 'person' }; readonly reply: null };
  /** A person's answer to the open handoff. NOT_FOUND if it is not open. */
  AnswerHandoff: { readonly payload: GivenAnswer; readonly reply: null };
  /** The login state that a script has collected and waits to see saved. NOT_FOUND if none waits. */
  CollectState: { readonly payload: { readonly state: string }; readonly reply: CollectedState };
  /** What became of it. */
  SettleState: {
    readonly payload: { readonly state: string; readonly outcome: SaveOutcome };
    readonly reply: null;
  };
  /** A browser for the script that has asked for it. NOT_FOUND if none waits any more; why it cannot be used. */
  GiveBrowser: {
    readonly payload: { readonly browser: string; readonly given: GivenBrowser; readonly timeoutMs: number };
    readonly reply: null;
  };
  /** There is none. */
  RefuseBrowser: { readonly payload: { readonly browser: string; readonly error: ErrorBody }; readonly reply: null };
  /** A person's input for the active page. WAIT_TIMEOUT if the page does not process it. */
  SendInput: { readonly payload: { readonly inputs: readonly PageInput[] }; readonly reply: null };
  /** The selection of the active page, at most 65,536 characters. */
  CopySelection: { readonly payload: null; readonly reply: string };
  /** Runs flow files one after another until one fails. Paths are relative to the flows folder. */
  RunFlows: {
    readonly payload: { readonly paths: readonly string[]; readonly timeoutMs: number };
    readonly reply: FlowsOutcome;
  };
  /** Runs a model on the task until the task ends. Scripts of other callers may run in between. */
  RunModel: { readonly payload: ModelTask; readonly reply: TaskEnd };
  /** A picture of the active page, once it is newer than the caller's; null if there is none in time. */
  NextFrame: {
    readonly payload: FrameRequest & { readonly user: CastUser };
    readonly reply: ScreenFrame | null;
  };
  /** Connects another DevTools client to the browser, and replies with its number. CAPACITY, WORKER_LOST. */
  AttachDevTools: { readonly payload: null; readonly reply: number };
  /** A client's command: a JSON object as text, and the DevTools session that it names. */
  SendDevTools: {
    readonly payload: { readonly client: number; readonly text: string; readonly sessionId: string | undefined };
    readonly reply: null;
  };
  /** The browser's next messages for a client; none if there are none within `timeoutMs`. */
  NextDevTools: {
    readonly payload: { readonly client: number; readonly timeoutMs: number };
    readonly reply: DevToolsMessages;
  };
  /**
   * A step of a client that acts by other means than scripts begins; the reply, its number, says that it may act. `js`
   * is shown in the transcript.
   */
  BeginStep: { readonly payload: { readonly method: string; readonly js: string }; readonly reply: number };
  /** The step has ended; with an error, it has failed. */
  EndStep: { readonly payload: { readonly step: number; readonly error: ErrorBody | null }; readonly reply: null };
  DetachDevTools: { readonly payload: { readonly client: number }; readonly reply: null };
  /** The model's answer with this number is on disk, or why it cannot be. Its tool calls are not executed before. */
  ModelAnswerRecorded: {
    readonly payload: { readonly call: number; readonly error: ErrorBody | null };
    readonly reply: null;
  };
};

/** A session actor emits its events in batches, in order. It crashes with WORKER_LOST if its browser is gone. */
export const SessionActor: ActorKind<SessionMessages, SessionArgs, readonly EventRow[]> = { name: 'session' };
