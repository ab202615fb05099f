import { z } from 'zod';
import { ControlEnd } from './control.js';
import { MODEL_EVENT_DATA } from './model.js';
import { HandoffEnd } from './person/handoff.js';
import { ElementBox } from './report/element-box.js';
import { BrowserRequest } from './second-browser.js';
import { EndReason, ErrorBodySchema, type SessionId, SessionStatus, TaskOutcome } from './session.js';

/** The position in the scripts. `flow` is a path under `flows/`, without extension. */
const Where = {
  flow: z.string().optional(),
  line: z.int().optional(),
  column: z.int().optional(),
};

/** The browser of `agent.session(name)`; absent for the session's first one. */
const Whose = { session: z.string().optional() };

/** The author of a step's script. */
export const StepKind = z.enum(['flow', 'model', 'script']);
export type StepKind = z.infer<typeof StepKind>;

/** A timer of a page: in how many milliseconds it is due, or how often it repeats. */
export const PendingTimer = z.object({ ms: z.number(), repeats: z.boolean() });

/** A go or act (or an explicit screenshot). `js` is the call as source text. */
export const Step = z.object({
  /** 1-based within the session. */
  index: z.int(),
  kind: StepKind,
  js: z.string(),
  result: z.unknown().optional(),
  error: ErrorBodySchema.optional(),
  url: z.string(),
  title: z.string(),
  /** ISO 8601. The event itself is emitted when the picture is ready, after events that followed the step. */
  startedAt: z.string().optional(),
  durationMs: z.number(),
  /**
   * The file under `screenshots/` that shows the page after the step. It is an earlier step's file if the step only read,
   * or if the page looks as it did. Null if there is no picture.
   */
  screenshot: z.string().nullable(),
  /** Why a step that failed has no picture. */
  noScreenshot: z.string().optional(),
  /** Of a step that failed: timers of the page that were still to come, and when; at most 5. */
  timers: z.array(PendingTimer).optional(),
  /**
   * In journals of earlier versions: a later step whose effects the screenshot may show, so it is not this step's own.
   */
  screenshotStep: z.int().optional(),
  /** Of a step that failed on an element which its screenshot shows. */
  box: ElementBox.optional(),
  ...Whose,
  ...Where,
});
export type Step = z.infer<typeof Step>;

/** The data of each event, by type. Types are in the past tense; the list is complete. */
export const EVENT_DATA = {
  SessionAccepted: z.object({ mode: z.string(), prompt: z.string().nullable(), flowFiles: z.array(z.string()) }),
  /**
   * `waitedMs`: until it got a slot; `openMs`: from then until its browser was ready; `warm`: it got a warm browser.
   */
  SessionStarted: z.object({
    driver: z.string(),
    browser: z.string(),
    thread: z.int(),
    node: z.string().optional(),
    mode: z.string().optional(),
    waitedMs: z.number().optional(),
    openMs: z.number().optional(),
    warm: z.boolean().optional(),
  }),
  /**
   * A new actor took over, after a fault of the last one (`attempt` 1 and up) or in a restarted service (0): the page
   * is the
   * same, the scripts and their scope are lost. `pageLost`: a page hung or had a dialog open, and was closed.
   */
  SessionRestarted: z.object({ thread: z.int(), attempt: z.int(), pageLost: z.boolean().optional() }),
  /** An attempt at a job failed, and the job is queued again for a fresh browser. */
  AttemptFailed: z.object({ attempt: z.int(), retriesLeft: z.int(), error: ErrorBodySchema }),
  SessionEnded: z.object({
    status: SessionStatus,
    endReason: EndReason,
    summary: z.string().nullable(),
    error: ErrorBodySchema.nullable(),
    outcome: TaskOutcome.optional(),
  }),
  ScriptStarted: z.object({ script: z.int(), kind: StepKind, js: z.string() }),
  ScriptFinished: z.object({
    script: z.int(),
    durationMs: z.number(),
    result: z.unknown().optional(),
    error: ErrorBodySchema.optional(),
  }),
  /** `resumed`: the flow is continued where it failed. */
  FlowStarted: z.object({
    path: z.string(),
    depth: z.int(),
    /** In the flows folder: `shop/login.ts`. */
    file: z.string().optional(),
    resumed: z.literal(true).optional(),
  }),
  FlowFinished: z.object({
    path: z.string(),
    depth: z.int(),
    /** `skipped`: all of its tests were. */
    status: z.enum(['passed', 'failed', 'skipped']),
    durationMs: z.number(),
    error: ErrorBodySchema.optional(),
    ...Where,
  }),
  StepFinished: Step,
  AssertionChecked: z.object({
    ok: z.boolean(),
    message: z.string().optional(),
    failures: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    /** Only if it failed: the error's text, the line of the call, its author, and what was compared, as text. */
    error: z.string().optional(),
    js: z.string().optional(),
    kind: StepKind.optional(),
    expected: z.string().optional(),
    received: z.string().optional(),
    ...Whose,
    ...Where,
  }),
  ConsoleWritten: z.object({ level: z.enum(['log', 'info', 'warn', 'error', 'debug']), text: z.string(), ...Where }),
  PageErrorLogged: z.object({ text: z.string(), url: z.string(), ...Whose }),
  ScreenshotTaken: z.object({ file: z.string(), title: z.string(), width: z.int(), height: z.int(), ...Whose }),
  DialogOpened: z.object({ kind: z.string(), message: z.string(), ...Whose }),
  DownloadFinished: z.object({ name: z.string(), bytes: z.int(), url: z.string(), ...Whose }),
  /**
   * A person has control, and the agent waits, until ControlReturned, or SessionRestarted after a restart of the
   * service.
   */
  ControlTaken: z.object({ by: z.string() }),
  ControlReturned: z.object({ reason: ControlEnd }),
  /** A script waits for a person, at most `timeoutMs`, until HandoffEnded, SessionRestarted, or the session's end. */
  HandoffRequested: z.object({ handoff: z.string(), text: z.string(), timeoutMs: z.number() }),
  HandoffEnded: z.object({
    handoff: z.string(),
    outcome: HandoffEnd,
    waitedMs: z.number(),
    /** Who answered. */
    by: z.string().optional(),
    note: z.string().optional(),
  }),
  /** `agent.saveState` has collected cookies and local storage, which the service saves under this name. */
  StateCollected: z.object({ state: z.string(), name: z.string(), cookies: z.int(), origins: z.array(z.string()) }),
  /** `agent.session` asks for a further browser, which the service gives or refuses. */
  BrowserRequested: BrowserRequest,
  BrowserLost: z.object({ reason: z.string(), ...Whose }),
  /** The video of the session has ended before the session, or never began. */
  VideoFailed: z.object({ reason: z.string() }),
  /** The session's node is to leave: a live session should end soon, and begin anew at another node. */
  NodeDraining: z.object({ node: z.string() }),
  ...MODEL_EVENT_DATA,
} as const;

export type EventType = keyof typeof EVENT_DATA;
export type EventData<T extends EventType> = z.infer<(typeof EVENT_DATA)[T]>;

/** An event before the journal has numbered it. `at` is ISO 8601. */
export type NewEvent = {
  [T in EventType]: {
    readonly sessionId: SessionId;
    readonly at: string;
    readonly type: T;
    readonly data: EventData<T>;
  };
}[EventType];

/** An event on disk. `seq` increases over the whole service, has gaps within a session, and is never reused. */
export type JournalEvent = NewEvent & { readonly seq: number };

/** An event as a session's components emit it; the session actor adds the id and the time. */
export type SessionEvent = { [T in EventType]: { readonly type: T; readonly data: EventData<T> } }[EventType];
