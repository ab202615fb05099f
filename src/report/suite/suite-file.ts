import { z } from 'zod';
import { TroupeError } from '../../protocol/errors.js';
import { Failure } from '../../protocol/report/failure.js';
import type { SuiteResult } from './suite-result.js';

/** The name of the file in the report folder of a run. */
export const SUITE_FILE = 'run.json';

/** The part of a run that `--shard` chose. */
const SuitePart = z.object({
  /** From 1. */
  index: z.int().min(1),
  count: z.int().min(1),
  by: z.enum(['time', 'count']),
  /** Hash of all flows of the run and their files. */
  flows: z.string(),
  /** Hash of the timings by which the run was divided. */
  timings: z.string(),
  /** The names of the flows of every part, in file order. */
  names: z.array(z.array(z.string())),
});
export type SuitePart = z.infer<typeof SuitePart>;

const FlowResult = z.object({
  name: z.string(),
  file: z.string().nullable(),
  tags: z.array(z.string()),
  outcome: z.enum(['passed', 'failed', 'repaired', 'skipped', 'stopped']),
  failure: Failure.nullable(),
  notRun: z.string().nullable().default(null),
  attempts: z.int().default(1),
  earlier: z.array(z.object({ attempt: z.int(), failure: Failure, durationMs: z.number().optional() })),
  quarantine: z.object({ until: z.string(), ticket: z.string() }).nullable(),
  startedAt: z.string().nullable(),
  durationMs: z.number(),
  queuedMs: z.number().default(0),
  pausedMs: z.number().default(0),
  sessionId: z.string().nullable(),
  report: z.string().nullable(),
  picture: z.string().nullable(),
  history: z.object({ isNew: z.boolean(), commit: z.string() }).nullable(),
  again: z.string().nullable(),
});

/** A run in its report folder, as `troupe merge` reads it. Paths of reports and pictures are relative to the folder. */
const SuiteFile = z.object({
  format: z.literal(1),
  name: z.string(),
  version: z.string(),
  startedAt: z.string(),
  endedAt: z.string(),
  labels: z.record(z.string(), z.string()),
  build: z
    .object({
      name: z.string(),
      commit: z.string().nullable(),
      branch: z.string().nullable(),
      repository: z.string().nullable(),
      buildUrl: z.string().nullable(),
      buildNumber: z.number().nullable(),
    })
    .nullable(),
  /** Null for a whole run. */
  part: SuitePart.nullable(),
  flows: z.array(FlowResult),
});
export type SuiteFile = z.infer<typeof SuiteFile>;

/** @param link a path of a report or a picture as the file has it: relative to its folder, or an address */
export function renderSuiteFile(suite: SuiteResult, part: SuitePart | null, link: (path: string) => string): string {
  const relative = (path: string | null) => (path === null ? null : link(path));
  const { name, version, startedAt, endedAt, labels, build } = suite;
  const file: SuiteFile = {
    format: 1,
    name,
    version,
    startedAt,
    endedAt,
    labels: { ...labels },
    build: build === null ? null : { ...build },
    part,
    flows: suite.flows.map((flow) => ({
      ...flow,
      tags: [...flow.tags],
      earlier: [...flow.earlier],
      quarantine: flow.quarantine === null ? null : { until: flow.quarantine.until, ticket: flow.quarantine.ticket },
      report: relative(flow.report),
      picture: relative(flow.picture),
    })),
  };
  return `${JSON.stringify(file)}\n`;
}

/** @throws INVALID_REQUEST if the text is not what {@link renderSuiteFile} writes */
export function parseSuiteFile(text: string, file: string): SuiteFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  const suite = SuiteFile.safeParse(value);
  if (suite.success) return suite.data;
  throw new TroupeError(
    'INVALID_REQUEST',
    `${file} is not the ${SUITE_FILE} of a run, or of another version of Troupe`,
  );
}
