import type { JoinedFlow, JoinedResult } from '../../protocol/batches/joined.js';
import { isLost } from '../../protocol/errors.js';
import type { Failure } from '../../protocol/report/failure.js';
import type { FlowResult } from './suite-result.js';

/** The part of a flow's result that a joined batch knows, whatever machine ran it. */
export type JoinedPart = Pick<
  FlowResult,
  'outcome' | 'failure' | 'notRun' | 'earlier' | 'startedAt' | 'durationMs' | 'queuedMs' | 'pausedMs' | 'sessionId'
>;

const NOT_RUN_WHY: Partial<Record<JoinedFlow['state'], string>> = {
  queued: 'no machine has started it',
  running: 'the machine that runs it has not ended it',
  stopped: 'it was stopped before it ended',
};

/** What a joined batch says of a flow. @param at a failure with the file where the reader has it */
export function joinedPart(
  { state, attempts }: Pick<JoinedFlow, 'state' | 'attempts'>,
  at: (failure: Failure) => Failure = (failure) => failure,
): JoinedPart {
  const failures = attempts.map(({ result, machine }) =>
    result === null ? lostOn(machine) : result.failure === null ? null : at(result.failure),
  );
  const results = attempts.flatMap(({ result }) => result ?? []);
  const ended = state === 'completed' || state === 'failed';
  const last = ended ? (attempts.at(-1)?.result ?? null) : null;
  const failure = ended ? (failures.at(-1) ?? null) : null;
  const lost = state === 'failed' && !isLost(failure) ? 'failed' : 'stopped';
  const outcome = state === 'completed' ? (last?.outcome ?? 'passed') : lost;
  return {
    outcome,
    failure,
    notRun: outcome === 'stopped' ? (failure?.message ?? NOT_RUN_WHY[state] ?? null) : null,
    earlier: failures
      .slice(0, ended ? -1 : undefined)
      .flatMap((one, attempt) =>
        one === null ? [] : [{ attempt: attempt + 1, failure: one, durationMs: attempts[attempt]?.result?.durationMs }],
      ),
    startedAt: results.find((result) => result.startedAt !== null)?.startedAt ?? null,
    durationMs: results.reduce((total, { durationMs }) => total + durationMs, 0),
    queuedMs: 0,
    pausedMs: pausesOf(results),
    sessionId: last?.sessionId ?? null,
  };
}

/** The time between the attempts, on whatever machines. */
function pausesOf(results: readonly JoinedResult[]): number {
  return results.reduce((total, { startedAt, durationMs }, index) => {
    const next = results[index + 1]?.startedAt ?? null;
    if (startedAt === null || next === null) return total;
    return total + Math.max(0, Date.parse(next) - Date.parse(startedAt) - durationMs);
  }, 0);
}

/** The folder of an attempt below that of its flow; attempts from 0. */
export function attemptFolder(folder: string, attempt: number): string {
  return attempt === 0 ? folder : `${folder}/retry-${attempt}`;
}

function lostOn(machine: string): Failure {
  return {
    code: 'INTERRUPTED',
    message: `The machine ${machine} was lost while it ran the flow: its claim was not renewed`,
  };
}
