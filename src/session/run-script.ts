import type { Agent } from '../agent-js/agent.js';
import { type ErrorBody, encodeError } from '../protocol/errors.js';
import type { SessionEvent, StepKind } from '../protocol/events.js';
import type { Sandbox } from '../script/sandbox.js';
import { errorWithPage } from './error-with-page.js';

/** Longer results are replaced by their length in the transcript. */
const LOGGED_RESULT_CHARS = 16_384;

/** A script to run. */
export interface ScriptRequest {
  readonly source: string;
  readonly kind: StepKind;
  readonly timeoutMs: number;
}

/**
 * Runs a script, and emits its start and end.
 * @param number the script's number within the session
 * @returns the JSON text of its result
 * @throws the script's error with the page's location; the signal's reason
 */
export async function runScript(
  {
    sandbox,
    agent,
    emit,
  }: {
    readonly sandbox: Sandbox;
    readonly agent: Agent;
    readonly emit: (event: SessionEvent) => void;
  },
  number: number,
  { source, kind, timeoutMs }: ScriptRequest,
  signal: AbortSignal,
): Promise<string> {
  emit({ type: 'ScriptStarted', data: { script: number, kind, js: source } });
  const startedAt = performance.now();
  const finish = (end: { result?: unknown; error?: ErrorBody }) => {
    const durationMs = Math.round((performance.now() - startedAt) * 100) / 100;
    emit({ type: 'ScriptFinished', data: { script: number, durationMs, ...end } });
  };
  try {
    const json = await sandbox.run({ source, name: `script-${number}.js`, kind, timeoutMs, signal });
    finish({ result: loggedResult(json) });
    return json;
  } catch (thrown) {
    const error = signal.aborted ? signal.reason : await errorWithPage(thrown, agent);
    finish({ error: encodeError(error) });
    throw error;
  }
}

function loggedResult(json: string): unknown {
  return json.length <= LOGGED_RESULT_CHARS ? JSON.parse(json) : `[${json.length} characters of JSON]`;
}
