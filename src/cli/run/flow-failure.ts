import { existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Failure } from '../../protocol/report/failure.js';
import { failureOfError } from '../../protocol/report/failure-of-error.js';
import type { Report } from '../../protocol/report/report.js';
import type { SessionRecord } from '../../protocol/session.js';
import type { EarlierAttempt } from '../../report/suite/suite-result.js';

type Flows = Report['flows'];

/** Why a job, or the flow in it that a model repaired, failed: as its report says, else as its record does. */
export function failureOf(record: SessionRecord, report: Report | null): Failure {
  const ofFlow = report === null ? undefined : flowFailure(report.flows);
  const { error } = record;
  const known = error?.code === 'FLOW_FAILED' ? (ofFlow ?? report?.failure) : (report?.failure ?? ofFlow);
  return known ?? (error === null ? withoutReason(record) : failureOfError(error));
}

/** The failed attempts of a job before its last one, which the service retried by itself. */
export function retriedAttempts(report: Report | null): readonly EarlierAttempt[] {
  return (report?.attempts ?? []).map(({ attempt, durationMs, error, flows }) => ({
    attempt,
    durationMs,
    failure: flowFailure(flows) ?? failureOfError(error),
  }));
}

/**
 * A failure whose file is the one in the checkout, so that editors and CI open it.
 * @param root the flows folder
 */
export function inCheckout(failure: Failure, root: string | null, cwd: string): Failure {
  if (root === null || failure.flow === undefined) return failure;
  const bare = join(root, failure.flow);
  const script = `${bare}.ts`;
  return {
    ...failure,
    file: pathFrom(cwd, existsSync(script) ? script : `${bare}.js`),
  };
}

/** A file as a person in `cwd` names it: relative if it is below it, with forward slashes. */
export function pathFrom(cwd: string, file: string): string {
  const path = relative(cwd, file);
  return (path.startsWith('..') ? file : path).split(sep).join('/');
}

function flowFailure(flows: Flows): Failure | undefined {
  return flows.findLast(({ failure }) => failure !== undefined)?.failure;
}

function withoutReason({ status, summary, outcome }: SessionRecord): Failure {
  if (outcome === 'repaired') return { code: 'FLOW_FAILED', message: 'A flow failed, and a model finished the run' };
  return { code: 'INTERRUPTED', message: summary ?? `The run ended without a reason (${status})` };
}
