import { flowFailed } from '../../../actors/session/flow-failed.js';
import type { FlowsOutcome } from '../../../actors/session/messages.js';
import { type Conversation, converse, EMPTY_CONVERSATION } from '../../../autonomy/conversation.js';
import type { ErrorBody } from '../../../protocol/errors.js';
import type { EventData, JournalEvent } from '../../../protocol/events.js';
import type { AutoRequest, LiveRequest } from '../../../protocol/session.js';
import { activityOf } from './activity.js';

/** A flow of a job that failed, by its file. */
export interface FailedFlow {
  readonly flow: string;
  readonly error: ErrorBody;
}

/** Where an attempt at a task is. */
export type TaskPhase =
  /** It has not begun. */
  | { readonly kind: 'flows' }
  /** In a flow, or may be in one: that has no continuation. */
  | { readonly kind: 'cut' }
  /** All flows have run, of those that were to run without a model. */
  | { readonly kind: 'over'; readonly outcome: FlowsOutcome }
  /** With the model, and what was said so far. */
  | { readonly kind: 'model'; readonly known: Conversation; readonly failed: FailedFlow | null };

/** A phase that a living session can be in at its beginning. */
export type OpenPhase = Extract<TaskPhase, { kind: 'flows' | 'model' }>;

/** A session's progress by all that was told of it. */
export async function readProgress(
  request: LiveRequest | AutoRequest,
  events: AsyncIterable<JournalEvent>,
): Promise<TaskProgress> {
  const progress = new TaskProgress(request.mode === 'auto' ? flowsOf(request) : []);
  for await (const event of events) progress.add(event);
  return progress;
}

export function flowsOf({ flowFiles = [] }: AutoRequest): readonly string[] {
  return flowFiles.filter((file) => file.endsWith('.js'));
}

/**
 * How far a session has come, as a fold of its events. What a flow does may be ahead of what is told, so a job is past its
 * flows only when the end of the last one was told. What a model wants is told before it is done.
 */
export class TaskProgress {
  readonly #files: readonly string[];
  #steps = 0;
  #doing: string | null = null;
  #startedAt: string | null = null;
  #known = EMPTY_CONVERSATION;
  #begun = false;
  #passed = 0;
  #failed: FailedFlow | null = null;
  /** The innermost flow that failed. */
  #innermost: ErrorBody | null = null;

  /** @param files the flows of its request */
  constructor(files: readonly string[]) {
    this.#files = files;
  }

  /** The number of the last step. */
  get steps(): number {
    return this.#steps;
  }

  /** What it did last; see {@link activityOf}. */
  get doing(): string | null {
    return this.#doing;
  }

  /** When the newest attempt got its browser; null before the first. */
  get startedAt(): string | null {
    return this.#startedAt;
  }

  add(event: JournalEvent): void {
    this.#known = converse(this.#known, event);
    this.#doing = activityOf(event) ?? this.#doing;
    switch (event.type) {
      case 'AttemptFailed':
        this.#begun = false;
        this.#passed = 0;
        this.#failed = null;
        this.#innermost = null;
        return;
      case 'SessionStarted':
        this.#begun = true;
        this.#startedAt = event.at;
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

  /** @param maxIterations 0 for flows alone */
  phase(maxIterations: number): TaskPhase {
    const failed = this.#failed;
    if (this.#known.start !== null) return { kind: 'model', known: this.#known, failed };
    if (!this.#begun) return { kind: 'flows' };
    if (failed === null && this.#passed < this.#files.length) return { kind: 'cut' };
    if (maxIterations > 0) return { kind: 'model', known: this.#known, failed };
    if (failed === null) return { kind: 'over', outcome: { status: 'passed', flows: this.#passed } };
    const error = flowFailed(failed.flow, failed.error, false);
    return { kind: 'over', outcome: { status: 'failed', flow: failed.flow, error } };
  }

  #flowFinished({ path, depth, status, error, flow, line, column }: EventData<'FlowFinished'>): void {
    if (error !== undefined && this.#innermost?.error !== error.error) {
      const place = { flow: flow ?? path, line: line ?? null, column: column ?? null };
      this.#innermost = { ...error, details: { ...error.details, ...place } };
    }
    const file = this.#files[this.#passed];
    if (depth !== 1 || file !== `${path}.js`) return;
    if (status === 'passed') this.#passed += 1;
    else if (this.#innermost !== null) this.#failed = { flow: file, error: this.#innermost };
    this.#innermost = null;
  }
}
