import type { ActorRef } from '../actors/actor.js';
import type { SessionMessages } from '../actors/session/messages.js';
import { type Conversation, converse, EMPTY_CONVERSATION } from '../autonomy/conversation.js';
import type { TaskEnd } from '../autonomy/loop.js';
import { chooseModels } from '../config/models.js';
import type { Config } from '../config.js';
import { type ErrorBody, encodeError, TroupeError } from '../protocol/errors.js';
import type { JournalEvent } from '../protocol/events.js';
import type { AutoRequest, SessionRecord } from '../protocol/session.js';
import { flowsEnd } from './flows-end.js';
import { outOfTimeEnd, type SessionEnd } from './session-end.js';

/** An actor answers so much later than it was told to end, at most. */
const GRACE_MS = 3_000;

/** Where a task is: in its flows, or with the model and what was said so far. */
export type TaskPhase = { readonly kind: 'flows' } | { readonly kind: 'model'; readonly known: Conversation };

/** What a task is run with. */
export interface TaskParts {
  readonly config: Config;
  readonly record: SessionRecord;
  readonly request: AutoRequest;
  readonly actor: ActorRef<SessionMessages>;
  /** Everything that the session has told so far. */
  journaled(): AsyncIterable<JournalEvent>;
  /** Of the session's longest time. */
  timeLeftMs(): number;
  /** Aborted when the session ends. */
  readonly signal: AbortSignal;
}

/** Where a task goes on whose actor was lost; null where it cannot: a flow that was cut has no continuation. */
export async function phaseOf(
  request: AutoRequest,
  maxIterations: number,
  events: AsyncIterable<JournalEvent>,
): Promise<TaskPhase | null> {
  let known = EMPTY_CONVERSATION;
  for await (const event of events) known = converse(known, event);
  const hasFlows = flowsOf(request).length > 0;
  if (maxIterations === 0 || (hasFlows && known.start === null)) return null;
  return { kind: 'model', known };
}

/**
 * Runs a task from a phase to its end: the flows, then the model for what remains. In its model phase it goes on by
 * itself when the actor is started again.
 *
 * @throws INTERRUPTED when the actor was lost in a flow; what else ended the actor; the signal's reason
 */
export async function runTask(parts: TaskParts, phase: TaskPhase): Promise<SessionEnd> {
  let failed: Failed | null = null;
  let known = phase.kind === 'model' ? phase.known : EMPTY_CONVERSATION;
  const flows = flowsOf(parts.request);
  const usesModel = (parts.record.maxIterations ?? 0) > 0;
  if (phase.kind === 'flows' && flows.length > 0) {
    const outcome = await runFlows(parts, flows);
    const outOfTime = outcome.status === 'failed' && outcome.error.code === 'HARD_TIMEOUT';
    if (!usesModel || outOfTime) return flowsEnd(outcome);
    if (outcome.status === 'failed') failed = { flow: outcome.flow, error: outcome.error };
  }
  for (;;) {
    try {
      return endOf(await runModel(parts, known, failed), parts);
    } catch (error) {
      if (parts.signal.aborted || encodeError(error).code !== 'SESSION_RESTARTED') throw error;
      const next = await phaseOf(parts.request, parts.record.maxIterations ?? 0, parts.journaled());
      if (next?.kind !== 'model') throw interrupted(error);
      known = next.known;
    }
  }
}

type Failed = { readonly flow: string; readonly error: ErrorBody };

async function runFlows({ actor, timeLeftMs, signal }: TaskParts, paths: readonly string[]) {
  const timeoutMs = timeLeftMs();
  try {
    return await actor.ask('RunFlows', { paths, timeoutMs }, { deadlineMs: timeoutMs + GRACE_MS, signal });
  } catch (error) {
    throw encodeError(error).code === 'SESSION_RESTARTED' ? interrupted(error) : error;
  }
}

async function runModel(parts: TaskParts, known: Conversation, failed: Failed | null): Promise<TaskEnd> {
  const { actor, config, record, request, signal } = parts;
  const timeoutMs = parts.timeLeftMs();
  const order = {
    models: chooseModels(config.models, record.model),
    outline: {
      prompt: request.prompt,
      flowFiles: request.flowFiles ?? [],
      args: Object.keys(request.args ?? {}),
      secrets: Object.keys(request.secrets ?? {}),
      failed,
    },
    budget: { maxIterations: record.maxIterations ?? 0, maxTokens: request.maxTokens ?? null },
    known,
    timeoutMs,
    evalMs: config.evalTimeout * 1000,
  };
  return actor.ask('RunModel', order, { deadlineMs: timeoutMs + GRACE_MS, signal });
}

function endOf(end: TaskEnd, { config, request }: TaskParts): SessionEnd {
  if (end.success) return { status: 'completed', reason: 'finished', summary: end.summary, error: null };
  if (end.error.code === 'HARD_TIMEOUT') return outOfTimeEnd(request.hardTimeout ?? config.hardTimeout);
  return { status: 'failed', reason: 'finished', summary: end.summary, error: end.error };
}

function interrupted(cause: unknown): TroupeError {
  return new TroupeError('INTERRUPTED', 'The session was restarted in the middle of a flow', undefined, { cause });
}

function flowsOf({ flowFiles = [] }: AutoRequest): readonly string[] {
  return flowFiles.filter((file) => file.endsWith('.js'));
}
