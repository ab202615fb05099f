import type { BatchList, BatchRecord } from '../../../../src/protocol/batches/batch.js';
import { failureKey, groupAlike } from '../../../../src/protocol/report/alike-failures.js';
import type { SessionRecord } from '../../../../src/protocol/session.js';
import { call } from '../api.js';
import { isObject, textIn } from '../unknown.js';

const PAGE = 1000;

/** What a job's error says about its cause. */
export interface JobFailure {
  readonly code: string;
  readonly message: string;
  /** `flow:line:column`; null if it is not known. */
  readonly place: string | null;
  /** The Playwright test of the flow in which it failed; null if it was in none. */
  readonly test: string | null;
  readonly frame: string | null;
  readonly expected: string | null;
  readonly received: string | null;
  /** Jobs with an equal key failed in the same way. */
  readonly key: string;
}

/** All jobs of a run, or those in a state, in the order of the list. */
export async function jobsOf(run: string, state?: SessionRecord['status']): Promise<readonly SessionRecord[]> {
  const jobs: SessionRecord[] = [];
  for (let before: string | undefined; ; before = jobs.at(-1)?.id) {
    const query = new URLSearchParams({
      batch: run,
      limit: String(PAGE),
      ...(state === undefined ? {} : { state }),
      ...(before === undefined ? {} : { before }),
    });
    const page = await call<SessionRecord[]>('GET', `api/sessions?${query}`);
    jobs.push(...page);
    if (page.length < PAGE) return jobs;
  }
}

/** The run before, with the same name and branch; null if there is none. */
export async function runBefore({ id, name, labels }: BatchRecord): Promise<BatchRecord | null> {
  if (name === null) return null;
  const { branch } = labels;
  const label = branch === undefined ? {} : { label: `branch=${branch}` };
  const query = new URLSearchParams({ name, before: id, limit: '1', ...label });
  const { batches } = await call<BatchList>('GET', `api/batches?${query}`);
  return batches[0] ?? null;
}

/** Why a job failed; null if it did not. FLOW_FAILED wraps the actual error, which says more. */
export function failureOf({ error }: SessionRecord): JobFailure | null {
  if (error === null) return null;
  const outer: { readonly [key: string]: unknown } = error.details ?? {};
  const cause = isObject(outer.cause) && textIn(outer.cause, 'error') !== null ? outer.cause : { ...error };
  const inner = isObject(cause.details) ? cause.details : {};
  const details: { readonly [key: string]: unknown } = { ...outer, ...inner };
  const flow = textIn(details, 'flow');
  const parts = [flow, details.line, details.column].filter((part) => typeof part !== 'object' && part !== undefined);
  const message = textIn(cause, 'error') ?? error.error;
  const code = textIn(cause, 'code') ?? error.code;
  const frame = textIn(details, 'frame');
  const numberIn = (name: 'line' | 'column') => (typeof details[name] === 'number' ? details[name] : undefined);
  return {
    code,
    message,
    place: flow === null ? null : parts.join(':'),
    test: textIn(details, 'test'),
    frame,
    expected: textIn(details, 'expected'),
    received: textIn(details, 'received'),
    key: failureKey({ code, message, frame, flow, line: numberIn('line'), column: numberIn('column') }),
  };
}

/** Jobs that failed in the same way, each group in the order of its first job. */
export function groupFailures(jobs: readonly SessionRecord[]): readonly (readonly SessionRecord[])[] {
  return groupAlike(jobs, (job) => failureOf(job)?.key ?? null);
}

/** It passed only in a retry. */
export function isFlaky({ status, attempt, outcome }: SessionRecord): boolean {
  return status === 'completed' && attempt > 1 && outcome === undefined;
}

/** How many jobs of a run passed; skipped and repaired ones did not. */
export function passedOf({ completed, skipped = 0, repaired = 0 }: BatchRecord['counts']): number {
  return completed - skipped - repaired;
}

/** A commit as people write it: the first eight digits of a hash. */
export function shortCommit(commit: string): string {
  return /^[0-9a-f]{12,}$/.test(commit) ? commit.slice(0, 8) : commit;
}
