import type { StepScreenshotPolicy } from '../../agent-js/steps.js';
import type { TaskEnd } from '../../autonomy/loop.js';
import type { BrowserEndpoint, DevToolsAddress } from '../../containers/driver.js';
import type { PageInput } from '../../protocol/control.js';
import type { ErrorBody } from '../../protocol/errors.js';
import type { EventRow } from '../../protocol/event-row.js';
import type { SessionId } from '../../protocol/session.js';
import type { ServiceReachOptions } from '../../request-client/flow/service-reach.js';
import type { ActorKind } from '../actor.js';
import type { BrowserOptions } from './browser-options.js';
import type { DevToolsMail } from './connection/devtools-clients.js';
import type { ModelOrder } from './model-phase.js';
import type { FrameOrder, ScreenFrame } from './screen.js';

/** Everything a session actor needs to know, given once when it is made. Paths are absolute. */
export interface SessionArgs {
  readonly id: SessionId;
  readonly endpoint: BrowserEndpoint;
  /** This actor's alone. */
  readonly devTools: DevToolsAddress;
  readonly page: BrowserOptions;
  readonly flowsDir: string;
  /** Collections for `Request.run`. */
  readonly requestsDir: string;
  /** Where `Request.run` may go. */
  readonly reach: ServiceReachOptions;
  readonly screenshotsDir: string;
  /** The file that the network's entries are gathered in. */
  readonly networkLog: string;
  /** Where mended flows are proposed. */
  readonly healedDir: string;
  /** The global `args` of its scripts. */
  readonly args: { readonly [name: string]: unknown };
  /** By name; see `Secrets`. */
  readonly secrets: { readonly [name: string]: string };
  /** The number of its next step: above 1 where the session has run before. */
  readonly firstStep: number;
  readonly stepScreenshots: StepScreenshotPolicy;
  /** How long an act waits until its element can take it. */
  readonly actMs: number;
  /** Who drives: an actor that is started again may find a person at it. */
  readonly driver: 'agent' | 'person';
}

/** How a run of flows ended. `error` is FLOW_FAILED or HARD_TIMEOUT with flow, line, column, url, title and the cause. */
export type FlowsOutcome =
  | { readonly status: 'passed'; readonly flows: number }
  | { readonly status: 'failed'; readonly flow: string; readonly error: ErrorBody };

/** What a session actor can be asked. */
export type SessionMessages = {
  /**
   * Connects to the browser and starts the script thread. First, and once. An actor that takes over finds the browser as
   * another left it; `pageLost` says that a page did not answer and was closed, and the first script is told so.
   */
  Open: {
    readonly payload: { readonly timeoutMs: number; readonly takesOver: boolean };
    readonly reply: { readonly pageLost: boolean };
  };
  /** Gives the pages of a browser that was opened ahead what its session wants of them. Before the first script. */
  ApplyOptions: { readonly payload: BrowserOptions; readonly reply: null };
  /** Answered by the page itself and by the script thread. WAIT_TIMEOUT, EVAL_TIMEOUT, WORKER_LOST. */
  Probe: { readonly payload: { readonly timeoutMs: number }; readonly reply: null };
  /** Tells of the last step without waiting for a spare moment; all its events arrive before the answer. */
  Settle: { readonly payload: null; readonly reply: null };
  /**
   * Answers the JSON text of the script's result. Scripts run one after another; 64 may wait. One that runs while its
   * asker gives up goes on, or stops with `onDisconnect: 'stop'`.
   */
  RunScript: {
    readonly payload: {
      readonly source: string;
      readonly kind: 'script' | 'model';
      readonly timeoutMs: number;
      readonly onDisconnect?: 'continue' | 'stop';
      /** A person's, who has control, runs in a scope of its own and waits for no agent. */
      readonly by?: 'agent' | 'person';
    };
    readonly reply: string;
  };
  /** Gives control to a person, or to the agent again. Settles when the agent has come to rest, within 3 s. */
  GiveControl: { readonly payload: { readonly to: 'agent' | 'person' }; readonly reply: null };
  /** What a person does with hands on the active page. WAIT_TIMEOUT where the page does not take it. */
  HandsOn: { readonly payload: { readonly inputs: readonly PageInput[] }; readonly reply: null };
  /** What is selected on the active page, at most 65,536 characters. */
  CopySelection: { readonly payload: null; readonly reply: string };
  /** Runs flow files one after another, until one fails. Paths are relative to the flows folder. */
  RunFlows: {
    readonly payload: { readonly paths: readonly string[]; readonly timeoutMs: number };
    readonly reply: FlowsOutcome;
  };
  /** Lets a model work on the task until it ends it. Scripts of others may come in between. */
  RunModel: { readonly payload: ModelOrder; readonly reply: TaskEnd };
  /** What the active page shows, once there is a newer frame than the asker has; null where none comes in time. */
  NextFrame: { readonly payload: FrameOrder; readonly reply: ScreenFrame | null };
  /** Connects another DevTools client to the browser, and answers its number. CAPACITY, WORKER_LOST. */
  AttachDevTools: { readonly payload: null; readonly reply: number };
  /** A command of a client: a JSON object as text, and the DevTools session that it names. */
  SendDevTools: {
    readonly payload: { readonly client: number; readonly text: string; readonly sessionId: string | undefined };
    readonly reply: null;
  };
  /** What the browser has for a client, once there is something; nothing where it takes longer than `timeoutMs`. */
  NextDevTools: {
    readonly payload: { readonly client: number; readonly timeoutMs: number };
    readonly reply: DevToolsMail;
  };
  DetachDevTools: { readonly payload: { readonly client: number }; readonly reply: null };
  /** The model's answer of that number is on disk; what it asks for is not done before. */
  ModelAnswerRecorded: { readonly payload: { readonly call: number }; readonly reply: null };
};

/** A session actor emits its events in batches, in order. It crashes with WORKER_LOST when its browser is gone. */
export const SessionActor: ActorKind<SessionMessages, SessionArgs, readonly EventRow[]> = { name: 'session' };
