import type { JoinedFlow } from '../../protocol/batches/joined.js';
import type { Failure } from '../../protocol/report/failure.js';
import type { FlowResult } from './suite-result.js';

/** The part of a flow's result that a joined batch knows, whatever machine ran it. */
export type JoinedPart = Pick<FlowResult, 'outcome' | 'failure' | 'earlier' | 'startedAt' | 'durationMs' | 'sessionId'>;

/** What a joined batch says of a flow. @param at a failure with the file where the reader has it */
export function joinedPart(
  { state, attempts }: Pick<JoinedFlow, 'state' | 'attempts'>,
  at: (failure: Failure) => Failure = (failure) => failure,
): JoinedPart {
  const failures = attempts.map(({ result, machine }) =>
    result === null ? lostOn(machine) : result.failure === null ? null : at(result.failure),
  );
  const ended = state === 'completed' || state === 'failed';
  const last = ended ? (attempts.at(-1)?.result ?? null) : null;
  return {
    outcome: state === 'completed' ? (last?.outcome ?? 'passed') : state === 'failed' ? 'failed' : 'stopped',
    failure: ended ? (failures.at(-1) ?? null) : null,
    earlier: failures
      .slice(0, ended ? -1 : undefined)
      .flatMap((one, attempt) => (one === null ? [] : [{ attempt: attempt + 1, failure: one }])),
    startedAt: last?.startedAt ?? null,
    durationMs: last?.durationMs ?? 0,
    sessionId: last?.sessionId ?? null,
  };
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
