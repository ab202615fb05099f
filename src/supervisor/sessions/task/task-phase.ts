import { type Conversation, converse, EMPTY_CONVERSATION } from '../../../autonomy/conversation.js';
import { flowOfFile, isFlowFile } from '../../../base/flow-file.js';
import type { ErrorBody } from '../../../protocol/errors.js';
import type { EventData, JournalEvent } from '../../../protocol/events.js';
import type { AutoRequest, LiveRequest } from '../../../protocol/session.js';
import { flowFailed, isBeyondRepair } from '../../../session/flow-failed.js';
import type { FlowsOutcome } from '../../../session/messages.js';
import { activityOf } from './activity.js';

/** A job's failed flow, by its file. */
export interface FailedFlow {
  readonly flow: string;
  readonly error: ErrorBody;
}

/** How far an attempt at a task has come. */
export type TaskPhase =
  /** It has not begun. */
  | { readonly kind: 'flows' }
  /** In a flow, or possibly in one. An interrupted flow cannot be continued. */
  | { readonly kind: 'cut' }
  /** All flows have run, in a job without a model. */
  | { readonly kind: 'over'; readonly outcome: FlowsOutcome }
  /** The model is working; `known` is the conversation so far. */
  | { readonly kind: 'model'; readonly known: Conversation; readonly failed: FailedFlow | null };

/** The phases from which a session can start. */
export type OpenPhase = Extract<TaskPhase, { kind: 'flows' | 'model' }>;

/** Computes a session's progress from its events. */
export async function readProgress(
  request: LiveRequest | AutoRequest,
  events: AsyncIterable<JournalEvent>,
): Promise<TaskProgress> {
  const progress = new TaskProgress(request.mode === 'auto' ? flowsOf(request) : []);
  for await (const event of events) progress.add(event);
  return progress;
}

export function flowsOf({ flowFiles = [] }: AutoRequest): readonly string[] {
  return flowFiles.filter(isFlowFile);
}

/**
 * A session's progress, computed from its events. A flow may be ahead of its events, so a job has completed its flows
 * only
 * when the end of the last one was emitted. A model's tool calls are recorded before they are executed.
 */
export class TaskProgress {
  readonly #files: readonly string[];
  #steps = 0;
  #activity: string | null = null;
  #startedAt: string | null = null;
  #lastAt: string | null = null;
  readonly #browsers = new Set<string>();
  #known = EMPTY_CONVERSATION;
  #begun = false;
  #passed = 0;
  /** Of those that passed, the ones whose tests were all skipped. */
  #skipped = 0;
  #failed: FailedFlow | null = null;
  /** The error of the innermost flow that failed. */
  #innermost: ErrorBody | null = null;

  /** @param files the request's flows */
  constructor(files: readonly string[]) {
    this.#files = files;
  }

  /** The number of the last step. */
  get steps(): number {
    return this.#steps;
  }

  /** The last activity; see {@link activityOf}. */
  get activity(): string | null {
    return this.#activity;
  }

  /** When the newest attempt got its browser; null before the first. */
  get startedAt(): string | null {
    return this.#startedAt;
  }

  /** When the newest event was emitted; null if there is none. */
  get lastAt(): string | null {
    return this.#lastAt;
  }

  /** The names of `agent.session` that scripts have asked for since then. */
  get browsers(): ReadonlySet<string> {
    return this.#browsers;
  }

  add(event: JournalEvent): void {
    this.#lastAt = event.at;
    this.#known = converse(this.#known, event);
    this.#activity = activityOf(event) ?? this.#activity;
    switch (event.type) {
      case 'AttemptFailed':
        this.#begun = false;
        this.#browsers.clear();
        this.#passed = 0;
        this.#skipped = 0;
        this.#failed = null;
        this.#innermost = null;
        return;
      case 'SessionStarted':
        this.#begun = true;
        this.#startedAt = event.at;
        this.#browsers.clear();
        return;
      case 'BrowserRequested':
        this.#browsers.add(event.data.name);
        return;
      case 'StepFinished':
        this.#steps = event.data.index;
        return;
      case 'FlowFinished':
        if (this.#known.start === null && this.#failed === null) this.#flowFinished(event.data);
        return;
      default:
    }
  }

  /** @param maxIterations 0 for a job with flows only */
  phase(maxIterations: number): TaskPhase {
    const failed = this.#failed;
    if (this.#known.start !== null) return { kind: 'model', known: this.#known, failed };
    if (!this.#begun) return { kind: 'flows' };
    if (failed === null && this.#passed < this.#files.length) return { kind: 'cut' };
    const forModel = failed === null || !isBeyondRepair(failed.error);
    if (maxIterations > 0 && forModel) return { kind: 'model', known: this.#known, failed };
    if (failed === null)
      return { kind: 'over', outcome: { status: 'passed', flows: this.#passed, skipped: this.#skipped } };
    const error = flowFailed(failed.flow, failed.error, false);
    const isBeyond = isBeyondRepair(failed.error);
    return { kind: 'over', outcome: { status: 'failed', flow: failed.flow, error, isBeyondRepair: isBeyond } };
  }

  #flowFinished({ path, depth, status, error, flow, line, column }: EventData<'FlowFinished'>): void {
    if (error !== undefined && this.#innermost?.error !== error.error) {
      const place = { flow: flow ?? path, line: line ?? null, column: column ?? null };
      this.#innermost = { ...error, details: { ...error.details, ...place } };
    }
    const file = this.#files[this.#passed];
    if (depth !== 1 || file === undefined || flowOfFile(file) !== path) return;
    if (status === 'skipped') this.#skipped += 1;
    if (status !== 'failed') this.#passed += 1;
    else if (this.#innermost !== null) this.#failed = { flow: file, error: this.#innermost };
    this.#innermost = null;
  }
}
