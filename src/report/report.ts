import { assertNever } from '../base/assert-never.js';
import { flowOfFile } from '../base/flow-file.js';
import type { ErrorDetails } from '../protocol/errors.js';
import type { EventData, JournalEvent, StepKind } from '../protocol/events.js';
import type { Failure } from '../protocol/report/failure.js';
import type { Report, VideoFailure } from '../protocol/report/report.js';
import type { SessionRecord } from '../protocol/session.js';
import { recordText, stateOfRecord } from '../protocol/state-text.js';
import { queuedMs, ranMs } from '../protocol/times.js';
import { TRACE } from '../protocol/trace/trace.js';
import { type Evidence, failureOf, type Occurrence, type PageError } from './failure-evidence.js';
import type { NotedRequests } from './har.js';
import { ModelCalls } from './model-calls.js';

/** Console lines and page errors in a report: the newest. */
const MAX_LINES = 1_000;
/** Longer results of steps are truncated, in characters of JSON; the transcript has them in full. */
const MAX_RESULT_CHARACTERS = 16_384;

type Flow = Report['flows'][number];

interface OpenFlow {
  readonly path: string;
  readonly startedAt: string;
  /** The flow was continued where it had failed. */
  readonly resumed: boolean;
}

type Origin = Pick<EventData<'FlowFinished'>, 'path' | 'line' | 'column'> & { readonly error: FlowError };
type FlowError = NonNullable<Flow['error']>;

/**
 * Builds a session's report from its events, in order. Deterministic: the same events make the same report.
 *
 * `flows` lists the outermost flows, which the job was asked to run, in the order of their start. Flows that they call
 * appear in the steps, in `flow`, and in the position of a failure. A flow that was started and never ended is
 * `interrupted`.
 */
export class ReportBuilder {
  readonly #record: SessionRecord;
  #flows: Flow[] = [];
  readonly #attempts: Report['attempts'] = [];
  /** Flows that have started and not ended, outermost first. */
  #open: OpenFlow[] = [];
  /** The innermost flow that failed since the outermost one started: the origin of its error, unless it was caught. */
  #origin: Origin | null = null;
  readonly #steps: Report['steps'] = [];
  readonly #modelCalls = new ModelCalls();
  readonly #assertions: Report['assertions'] = [];
  readonly #deviations: Report['deviations'] = [];
  #console: Report['console'] = [];
  #pageErrors: PageError[] = [];
  /** Why flows failed. The event of the step that failed may come later: it waits for its picture. */
  readonly #failed = new Map<Flow, Occurrence>();
  /** Files of flows by their paths: those that were requested, then those that ran. */
  readonly #flowFiles: Map<string, string>;
  #script: { readonly script: number; readonly kind: StepKind; readonly at: string } | null = null;
  #failedScript: Occurrence | null = null;
  readonly #startedAt: string;
  /** When the newest attempt got its browser. */
  #attemptAt: string;
  #lastAt: string;

  constructor(record: SessionRecord) {
    this.#record = record;
    this.#flowFiles = new Map(record.flowFiles.map((file) => [flowOfFile(file), file]));
    this.#startedAt = record.startedAt ?? record.createdAt;
    this.#lastAt = this.#startedAt;
    this.#attemptAt = this.#startedAt;
  }

  add(event: JournalEvent): void {
    this.#lastAt = event.at;
    const { at } = event;
    switch (event.type) {
      case 'FlowStarted':
        if (event.data.file !== undefined) this.#flowFiles.set(event.data.path, event.data.file);
        this.#open.push({ path: event.data.path, startedAt: at, resumed: event.data.resumed === true });
        return;
      case 'FlowFinished':
        this.#flowFinished(event.data, at);
        return;
      case 'StepFinished':
        this.#steps.push({ ...event.data, ...shortResult(event.data.result), at, ...this.#inAttempt() });
        return;
      case 'AssertionChecked':
        this.#assertions.push({ ...event.data, at });
        return;
      case 'ConsoleWritten':
        this.#console = newest(this.#console, { ...event.data, at });
        return;
      case 'PageErrorLogged':
        this.#pageErrors = newest(this.#pageErrors, { ...event.data, at });
        return;
      case 'ScriptStarted':
        this.#script = { script: event.data.script, kind: event.data.kind, at };
        return;
      case 'ScriptFinished':
        this.#scriptFinished(event.data, at);
        return;
      case 'ModelCallFinished':
        this.#modelCalls.finished(event.data, at, this.#inAttempt());
        return;
      case 'ToolAnswered':
        this.#modelCalls.answered(event.data);
        return;
      case 'ModelNudged':
        this.#modelCalls.nudged(event.data);
        return;
      case 'FlowDeviated':
        this.#deviations.push(deviationOf(event.data));
        return;
      case 'FlowHealed':
        for (const deviation of this.#deviations) {
          if (deviation.flow === event.data.flow) {
            deviation.healed = `healed-flows/${event.data.file ?? `${event.data.flow}.js`}`;
          }
        }
        return;
      case 'SessionStarted':
        this.#attemptAt = at;
        this.#interrupt(at);
        return;
      case 'SessionRestarted':
      case 'SessionEnded':
        // No flow outlives its browser: a retried job starts its flows again.
        this.#interrupt(at);
        return;
      case 'BrowserLost':
        if (event.data.session === undefined) this.#interrupt(at);
        return;
      case 'AttemptFailed':
        this.#attemptFailed(event.data, at);
        return;
      case 'SessionAccepted':
      case 'ControlTaken':
      case 'ControlReturned':
      case 'HandoffRequested':
      case 'HandoffEnded':
      case 'StateCollected':
      case 'BrowserRequested':
      case 'ScreenshotTaken':
      case 'DialogOpened':
      case 'DownloadFinished':
      case 'VideoFailed':
      case 'NodeDraining':
      case 'ModelStarted':
      case 'ModelCallStarted':
      case 'ModelTextReceived':
        return;
      default:
        assertNever(event);
    }
  }

  /**
   * @param requests what its pages asked of the network
   * @param videoFailures why its videos are not whole
   */
  build(
    artifacts: Report['artifacts'],
    { failed, long }: NotedRequests = { failed: [], long: [] },
    videoFailures: readonly VideoFailure[] = [],
  ): Report {
    const record = this.#record;
    const end = record.endedAt ?? this.#lastAt;
    this.#interrupt(end);
    const evidence = {
      steps: this.#steps,
      pageErrors: this.#pageErrors,
      requests: failed,
      longRequests: long,
      flowFiles: this.#flowFiles,
      trace: traceOf(record, artifacts),
    };
    const flows = this.#withFailures(this.#flows, evidence);
    const attempts = this.#attempts.map((one) => ({ ...one, flows: this.#withFailures(one.flows, evidence) }));
    const failure = this.#failure(flows, end, evidence);
    const ms = ranMs({ ...record, endedAt: end }, 0) ?? 0;
    return {
      schemaVersion: 1,
      sessionId: record.id,
      name: record.name,
      mode: record.mode,
      prompt: record.prompt,
      model: record.model,
      status: record.status,
      outcome: stateOfRecord(record),
      stateText: recordText(record, 0, { failure: failure ?? repairedFailure(flows), ms }),
      summary: record.summary,
      error: record.error,
      failure,
      startedAt: record.startedAt,
      endedAt: record.endedAt,
      durationMs: ms,
      queuedMs: queuedMs({ ...record, endedAt: end }, 0),
      pausedMs: record.pausedMs ?? 0,
      iterations: record.iterations,
      tokens: record.tokens,
      flows,
      attempts,
      modelCalls: [...this.#modelCalls.all],
      steps: [...this.#steps],
      assertions: [...this.#assertions],
      deviations: [...this.#deviations],
      console: this.#console.slice(-MAX_LINES),
      pageErrors: this.#pageErrors.slice(-MAX_LINES).map(({ text, url }) => ({ text, url })),
      ...(videoFailures.length === 0 ? {} : { videoFailures: [...videoFailures] }),
      artifacts: [...artifacts],
    };
  }

  #flowFinished(data: EventData<'FlowFinished'>, at: string): void {
    // Flows nest, so this is the newest open one with that path; any inside it were interrupted.
    const index = this.#open.findLastIndex(({ path }) => path === data.path);
    if (index > 0) {
      this.#open.length = index;
      // An error that propagates through callers keeps its origin.
      if (data.error !== undefined && !sameError(this.#origin?.error, data.error)) {
        this.#origin = { ...data, error: data.error };
      }
      return;
    }
    const [outermost] = this.#open;
    const resumed = outermost?.resumed === true;
    this.#open = [];
    const origin = this.#origin;
    this.#origin = null;
    const line = data.line ?? lineOf(data.error?.details);
    // A continued flow is one flow, whose last result counts.
    const earlier = resumed ? this.#flows.findLastIndex(({ path }) => path === data.path) : -1;
    const [before] = earlier === -1 ? [] : this.#flows.splice(earlier, 1);
    const flow = {
      path: data.path,
      status: resumed && data.status === 'passed' ? ('repaired' as const) : data.status,
      startedAt: before?.startedAt ?? outermost?.startedAt ?? at,
      durationMs: data.durationMs + (before?.durationMs ?? 0),
      ...(data.error === undefined ? {} : { error: withOrigin(data.error, origin) }),
      ...(line === undefined ? {} : { line }),
    };
    this.#flows.push(flow);
    const from = outermost?.startedAt ?? at;
    const repaired = before === undefined || flow.status !== 'repaired' ? undefined : this.#failed.get(before);
    if (repaired !== undefined) this.#failed.set(flow, repaired);
    if (flow.error === undefined) return;
    const error = { ...flow.error, details: { ...placeOf(data), ...flow.error.details } };
    this.#failed.set(flow, { error, kind: 'flow', from, to: at, since: from, ...this.#attempt() });
  }

  #scriptFinished({ script, error }: EventData<'ScriptFinished'>, at: string): void {
    const started = this.#script?.script === script ? this.#script : null;
    if (error === undefined) return;
    const from = started?.at ?? this.#startedAt;
    const kind = started?.kind === 'model' ? 'model' : null;
    this.#failedScript = { error, kind, from, to: at, since: this.#startedAt, ...this.#attempt() };
  }

  #withFailures(flows: readonly Flow[], evidence: Evidence): Flow[] {
    return flows.map((flow) => {
      const occurrence = this.#failed.get(flow);
      if (occurrence === undefined) return flow;
      const isRepaired = flow.status === 'failed' && this.#record.outcome === 'repaired';
      return {
        ...flow,
        ...(isRepaired ? { status: 'repaired' as const } : {}),
        failure: failureOf(occurrence, evidence),
      };
    });
  }

  /** Why the session failed. A job that completed did not, whatever a model had to do by hand. */
  #failure(flows: readonly Flow[], end: string, evidence: Evidence): Failure | null {
    const { error, status } = this.#record;
    if (status === 'completed') return null;
    const ofFlow = flows.findLast(({ status, failure }) => status === 'failed' && failure !== undefined)?.failure;
    if (error?.code === 'FLOW_FAILED' && ofFlow !== undefined) return ofFlow;
    if (error !== null) {
      const occurrence = { error, kind: null, from: this.#startedAt, to: end, since: this.#startedAt };
      return failureOf({ ...occurrence, ...this.#attempt() }, evidence);
    }
    if (this.#failedScript !== null) return failureOf(this.#failedScript, evidence);
    return ofFlow ?? null;
  }

  #attempt(): { readonly attempt: number | undefined } {
    return { attempt: this.#inAttempt().attempt };
  }

  #attemptFailed({ attempt, error }: EventData<'AttemptFailed'>, at: string): void {
    this.#interrupt(at);
    this.#attempts.push({ attempt, endedAt: at, durationMs: between(this.#attemptAt, at), error, flows: this.#flows });
    this.#flows = [];
    this.#origin = null;
  }

  #inAttempt(): { attempt?: number } {
    return this.#attempts.length === 0 ? {} : { attempt: this.#attempts.length + 1 };
  }

  #interrupt(at: string): void {
    const [outermost] = this.#open;
    this.#open = [];
    if (outermost === undefined) return;
    this.#flows.push({
      path: outermost.path,
      status: 'interrupted',
      startedAt: outermost.startedAt,
      durationMs: between(outermost.startedAt, at),
    });
  }
}

/** Why a flow failed that a model repaired. */
function repairedFailure(flows: readonly Flow[]): Failure | null {
  return flows.findLast(({ status }) => status === 'repaired')?.failure ?? null;
}

function deviationOf({ flow, line, failed, error, how, did }: EventData<'FlowDeviated'>): Report['deviations'][number] {
  const instead = how === 'replace' ? `Instead of ${failed}` : `Before ${failed}`;
  const text = did.length === 0 ? `${failed} was repeated` : `${instead}: ${did.join('; ')}`;
  return { flow, line, text, error, did, healed: null };
}

/** A flow's error with its origin, if a flow that it called threw the same error. */
function withOrigin(error: FlowError, origin: Origin | null): FlowError {
  if (origin === null || !sameError(origin.error, error)) return error;
  const { path: flow, line, column } = origin;
  const frame = origin.error.details?.frame;
  return { ...error, details: { ...error.details, flow, line, column, ...(frame === undefined ? {} : { frame }) } };
}

/** The trace's path, or why there is none. */
function traceOf({ trace }: SessionRecord, artifacts: Report['artifacts']): Evidence['trace'] {
  if (artifacts.some(({ path }) => path === TRACE)) return { trace: TRACE };
  return {
    noTrace:
      trace === undefined
        ? 'not recorded; "trace": "on-failure" or --trace on-failure records one'
        : 'it could not be written',
  };
}

function placeOf({ path, line, column }: EventData<'FlowFinished'>): ErrorDetails {
  return line === undefined ? { flow: path } : { flow: path, line, column };
}

function sameError(one: FlowError | undefined, other: FlowError): boolean {
  return one?.code === other.code && one.error === other.error;
}

/** Adds a line, and drops the oldest in bulk at twice the limit. */
function newest<T>(lines: T[], line: T): T[] {
  const kept = lines.length < MAX_LINES * 2 ? lines : lines.slice(-MAX_LINES);
  kept.push(line);
  return kept;
}

function shortResult(result: unknown): { result?: unknown } {
  const json = result === undefined ? undefined : JSON.stringify(result);
  if (json === undefined || json.length <= MAX_RESULT_CHARACTERS) return {};
  return {
    result: `${json.slice(0, MAX_RESULT_CHARACTERS)}… (${json.length} characters; the transcript has them all)`,
  };
}

function lineOf(details: { readonly [key: string]: unknown } | undefined): number | undefined {
  const line = details?.line;
  return typeof line === 'number' && Number.isInteger(line) ? line : undefined;
}

function between(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from));
}
