import { createHash } from 'node:crypto';
import type { SuiteFile, SuitePart } from '../../report/suite/suite-file.js';
import { type FlowResult, type SuiteResult, unrunFlow } from '../../report/suite/suite-result.js';
import { UsageError } from '../../terminal/failure.js';

/** A run's file, and the report folder that it was in. */
export interface ReadPart {
  readonly folder: string;
  readonly suite: SuiteFile;
}

/** Several report folders as one run. */
export interface MergedRun {
  readonly suite: SuiteResult;
  /** Parts that no folder is of, such as `3/4`. Their flows are in the run as not run. */
  readonly missing: readonly string[];
}

/**
 * The run that report folders are of: all parts of one `--shard`, or whole runs of different flows.
 * @param locate a path of a report or a picture, which a part has relative to its folder, from the current folder
 * @throws UsageError naming the folders if they are not parts of one run, or have the same flows
 */
export function mergeParts(parts: readonly ReadPart[], locate: (folder: string, path: string) => string): MergedRun {
  const [first] = parts;
  if (first === undefined) throw new RangeError('There are no parts');
  const sharded = assertSameRun(parts);
  const suites = parts.map(({ suite }) => suite);
  const results = parts.flatMap(({ folder, suite }) =>
    suite.flows.map((flow) => ({ folder, flow: located(flow, (path) => locate(folder, path)) })),
  );
  assertDistinct(results, sharded !== null);
  const missing = sharded === null ? [] : missingParts(sharded, suites);
  const notRun = missing.flatMap(({ part, names }) =>
    names.map((name) => unrunFlow(name, `part ${part} has no report`)),
  );
  return {
    suite: {
      name: first.suite.name,
      version: first.suite.version,
      startedAt: suites.map(({ startedAt }) => startedAt).sort()[0] ?? first.suite.startedAt,
      endedAt:
        suites
          .map(({ endedAt }) => endedAt)
          .sort()
          .at(-1) ?? first.suite.endedAt,
      labels: commonLabels(suites),
      build: first.suite.build,
      flows: inPlannedOrder([...withDistinctHooks(results, parts), ...notRun]),
    },
    missing: missing.map(({ part }) => part),
  };
}

/** What all parts have in common; null if they are whole runs. */
function assertSameRun(parts: readonly ReadPart[]): SuitePart | null {
  const [first, ...others] = parts;
  const expected = first?.suite.part ?? null;
  const seen = new Map<number, string>();
  if (first !== undefined && expected !== null) seen.set(expected.index, first.folder);
  for (const { folder, suite } of others) {
    const { part } = suite;
    const both = `${first?.folder} and ${folder}`;
    if (part === null || expected === null) {
      if (part !== expected) throw refused(`${both}: one is a part of a run, the other a whole run`);
      continue;
    }
    const difference = differenceOf(expected, part);
    if (difference !== null) throw refused(`${both} are not parts of one run: ${difference}`);
    const twin = seen.get(part.index);
    if (twin !== undefined) throw refused(`${twin} and ${folder} are both part ${part.index}/${part.count}`);
    seen.set(part.index, folder);
  }
  return expected;
}

function differenceOf(one: SuitePart, other: SuitePart): string | null {
  if (one.count !== other.count) return `one is of ${one.count} parts, the other of ${other.count}`;
  if (one.flows !== other.flows) {
    return `their flows differ (${one.flows}, ${other.flows}); all parts need the same files and the same --grep`;
  }
  if (one.timings !== other.timings) {
    return `their timings differ (${one.timings}, ${other.timings}); give all parts the same --timings`;
  }
  return divisionOf(one) === divisionOf(other) ? null : 'they were divided by different versions of Troupe';
}

function divisionOf({ names }: SuitePart): string {
  return createHash('sha256').update(JSON.stringify(names)).digest('hex');
}

function missingParts(
  { count, names }: SuitePart,
  suites: readonly SuiteFile[],
): readonly { readonly part: string; readonly names: readonly string[] }[] {
  const found = new Set(suites.map(({ part }) => part?.index));
  return names.flatMap((own, index) => (found.has(index + 1) ? [] : [{ part: `${index + 1}/${count}`, names: own }]));
}

interface Located {
  readonly folder: string;
  readonly flow: FlowResult;
}

/** `_setup` and `_teardown` run in each part; all other flows in one. */
function assertDistinct(results: readonly Located[], sharded: boolean): void {
  const seen = new Map<string, string>();
  for (const { folder, flow } of results) {
    if (sharded && isHook(flow)) continue;
    const other = seen.get(flow.name);
    if (other !== undefined) throw refused(`${other} and ${folder} both have the flow ${flow.name}`);
    seen.set(flow.name, folder);
  }
}

/** Names of hooks say which part they were of. */
function withDistinctHooks(results: readonly Located[], parts: readonly ReadPart[]): readonly FlowResult[] {
  const numbers = new Map(parts.map(({ folder, suite }) => [folder, suite.part]));
  return results.map(({ folder, flow }) => {
    const part = numbers.get(folder) ?? null;
    return part === null || !isHook(flow) ? flow : { ...flow, name: `${flow.name} (part ${part.index})` };
  });
}

function isHook({ name }: FlowResult): boolean {
  return /(^|\/)_(setup|teardown)$/.test(name);
}

function located(flow: FlowResult, locate: (path: string) => string): FlowResult {
  const from = (path: string | null) => (path === null || /^https?:\/\//.test(path) ? path : locate(path));
  return { ...flow, report: from(flow.report), picture: from(flow.picture) };
}

function commonLabels(suites: readonly SuiteFile[]): { readonly [name: string]: string } {
  const [first, ...others] = suites;
  return Object.fromEntries(
    Object.entries(first?.labels ?? {}).filter(([name, value]) => others.every(({ labels }) => labels[name] === value)),
  );
}

function inPlannedOrder(flows: readonly FlowResult[]): readonly FlowResult[] {
  return [...flows].sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0));
}

function refused(message: string): UsageError {
  return new UsageError(message);
}
