import type { ActorRef } from '../../../actors/actor.js';
import { MAX_VALUE_BYTES } from '../../../auth/setup-values.js';
import { type Conversation, EMPTY_CONVERSATION } from '../../../autonomy/conversation.js';
import type { TaskEnd } from '../../../autonomy/loop.js';
import { stretched } from '../../../base/deadline.js';
import { chooseModels } from '../../../config/models.js';
import type { Config } from '../../../config.js';
import { type ErrorBody, encodeError, TroupeError } from '../../../protocol/errors.js';
import type { JournalEvent } from '../../../protocol/events.js';
import { MAX_HANDOFF_MS } from '../../../protocol/person/handoff.js';
import type { AutoRequest, SessionRecord } from '../../../protocol/session.js';
import type { SessionMessages } from '../../../session/messages.js';
import { flowsEnd, outOfTimeEnd, type SessionEnd } from '../session-end.js';
import { type FailedFlow, flowsOf, type OpenPhase, readProgress, type TaskPhase } from './task-phase.js';

/** How much later than its own deadline an actor's reply may arrive: that stands still while a script waits for a person. */
const GRACE_MS = 3_000 + MAX_HANDOFF_MS;
const NOTHING_SAID: Pick<Extract<TaskPhase, { kind: 'model' }>, 'known' | 'failed'> = {
  known: EMPTY_CONVERSATION,
  failed: null,
};

/** What a task is run with. */
export interface TaskParts {
  readonly config: Config;
  readonly record: SessionRecord;
  readonly request: AutoRequest;
  readonly actor: ActorRef<SessionMessages>;
  /** All events of the session so far. */
  journaled(): AsyncIterable<JournalEvent>;
  /** The browser is not the one in which the phase was reached. */
  readonly freshBrowser: boolean;
  /** Stores the JSON text of what a `_setup` flow returned. @throws the journal's error */
  keepValue(value: string): Promise<void>;
  /** What is left of the attempt's time limit. */
  timeLeftMs(): number;
  /** Aborted when the attempt ends. */
  readonly signal: AbortSignal;
}

/**
 * Runs a task from a phase to its end: the flows, then the model for the rest. During the model phase it survives a
 * restart of the actor.
 *
 * @throws INTERRUPTED if the actor was lost in a flow; another error that ended the actor; the signal's reason
 */
export async function runTask(parts: TaskParts, phase: OpenPhase): Promise<SessionEnd> {
  const usesModel = (parts.record.maxIterations ?? 0) > 0;
  const flows = flowsOf(parts.request);
  let { known, failed } = phase.kind === 'model' ? phase : NOTHING_SAID;
  if (phase.kind === 'flows' && flows.length > 0) {
    const outcome = await runFlows(parts, flows);
    const fault = outcome.status === 'passed' ? await keepValue(parts, outcome.value) : null;
    if (fault !== null)
      return flowsEnd({ status: 'failed', flow: flows.at(-1) ?? '', error: fault, isBeyondRepair: true });
    const isOver = outcome.status === 'failed' && (outcome.error.code === 'HARD_TIMEOUT' || outcome.isBeyondRepair);
    if (!usesModel || isOver) return flowsEnd(outcome);
    if (outcome.status === 'failed') failed = { flow: outcome.flow, error: outcome.error };
  }
  let { freshBrowser } = parts;
  for (;;) {
    try {
      return endOf(await runModel(parts, { known, failed, freshBrowser }), failed, parts);
    } catch (error) {
      if (parts.signal.aborted || encodeError(error).code !== 'SESSION_RESTARTED') throw error;
      const next = (await readProgress(parts.request, parts.journaled())).phase(parts.record.maxIterations ?? 0);
      if (next.kind !== 'model') throw interrupted(error);
      ({ known, failed } = next);
      freshBrowser = false;
    }
  }
}

/** @returns why the value cannot be stored */
async function keepValue(parts: TaskParts, value: string | undefined): Promise<ErrorBody | null> {
  if (value === undefined) return null;
  const bytes = Buffer.byteLength(value);
  if (bytes > MAX_VALUE_BYTES) {
    const error = `_setup returned ${bytes} bytes, which are arguments of all flows; at most ${MAX_VALUE_BYTES} are possible`;
    return { code: 'FLOW_FAILED', error };
  }
  await parts.keepValue(value);
  return null;
}

async function runFlows({ actor, timeLeftMs, signal }: TaskParts, paths: readonly string[]) {
  const timeoutMs = timeLeftMs();
  try {
    return await actor.ask('RunFlows', { paths, timeoutMs }, { deadlineMs: timeoutMs + GRACE_MS, signal });
  } catch (error) {
    throw encodeError(error).code === 'SESSION_RESTARTED' ? interrupted(error) : error;
  }
}

async function runModel(
  parts: TaskParts,
  where: { readonly known: Conversation; readonly failed: FailedFlow | null; readonly freshBrowser: boolean },
): Promise<TaskEnd> {
  const { known, failed, freshBrowser } = where;
  const { actor, config, record, request, signal } = parts;
  const timeoutMs = parts.timeLeftMs();
  const task = {
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
    freshBrowser,
    timeoutMs,
    evalMs: stretched(config.evalTimeout * 1000),
  };
  return actor.ask('RunModel', task, { deadlineMs: timeoutMs + GRACE_MS, signal });
}

function endOf(end: TaskEnd, failed: FailedFlow | null, { config, request }: TaskParts): SessionEnd {
  if (end.success) {
    const outcome = failed === null ? {} : { outcome: 'repaired' as const };
    return { status: 'completed', reason: 'finished', summary: end.summary, error: null, ...outcome };
  }
  if (end.error.code === 'HARD_TIMEOUT') return outOfTimeEnd(request.hardTimeout ?? config.hardTimeout);
  return { status: 'failed', reason: 'finished', summary: end.summary, error: end.error };
}

function interrupted(cause: unknown): TroupeError {
  return new TroupeError('INTERRUPTED', 'The session was restarted in the middle of a flow', undefined, { cause });
}
