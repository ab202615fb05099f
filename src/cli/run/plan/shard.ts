import { createHash } from 'node:crypto';
import { counted } from '../../../protocol/counted.js';
import type { SuitePart } from '../../../report/suite/suite-file.js';
import type { RunOptions } from '../run-options.js';
import { originalName, type PlannedFlow } from './plan-run.js';
import type { RunFiles } from './run-files.js';
import { type Timings, timingsHash } from './timings.js';

/** What is known of a flow before it runs. */
export interface TimedName {
  readonly name: string;
  /** Milliseconds; null if it is not known. */
  readonly ms: number | null;
}

/** The flows of one part of a run, and what all its parts have in common. */
export interface ChosenPart {
  readonly flows: readonly PlannedFlow[];
  readonly part: SuitePart;
  /** What the part takes, in milliseconds; null if nothing is known. */
  readonly expectedMs: number | null;
}

/**
 * The part of a run that `--shard` names. It depends on the flows, their names, and the timings alone, and not on the order
 * of the command's words: machines that have the same of these agree about all parts.
 * @param flows all flows of the run; `repeatEach` successive ones are repetitions of one, and stay together
 */
export function choosePart(
  flows: readonly PlannedFlow[],
  files: RunFiles,
  timings: Timings,
  { shard, repeatEach }: { readonly shard: NonNullable<RunOptions['shard']> } & Pick<RunOptions, 'repeatEach'>,
): ChosenPart {
  const units = flows.filter((_, index) => index % repeatEach === 0);
  const timed = timedNames(units, timings);
  const parts = divide(timed, shard.count);
  const own = flows.filter((_, index) => parts[Math.floor(index / repeatEach)] === shard.index);
  const isTimed = timed.some(({ ms }) => ms !== null);
  const known = withGuesses(timed);
  const expectedMs = known.reduce((sum, ms, index) => sum + (parts[index] === shard.index ? ms : 0), 0) * repeatEach;
  return {
    flows: own,
    part: {
      ...shard,
      by: isTimed ? 'time' : 'count',
      flows: filesHash(flows, files),
      timings: timingsHash(timings),
      names: Array.from({ length: shard.count }, (_, part) =>
        flows.filter((_flow, index) => parts[Math.floor(index / repeatEach)] === part + 1).map(({ name }) => name),
      ),
    },
    expectedMs: isTimed ? expectedMs : null,
  };
}

/** How long each flow took before: by its own name, or that of its file. */
export function timedNames(flows: readonly PlannedFlow[], timings: Timings): readonly TimedName[] {
  return flows.map((flow) => ({
    name: flow.name,
    ms: timings.get(flow.name) ?? timings.get(originalName(flow)) ?? null,
  }));
}

/**
 * Divides flows into parts. If durations are known, the longest flows come first, each to the part with the least to do: no
 * part takes more than 4/3 of the best division. If none is known, each part gets as many. The order of the flows does not
 * matter.
 * @param flows with names that are unique
 * @returns the part of each flow, from 1
 */
export function divide(flows: readonly TimedName[], count: number): readonly number[] {
  const parts = new Array<number>(flows.length).fill(1);
  const byName = flows.map((_, index) => index).sort((a, b) => compare(flows[a]?.name ?? '', flows[b]?.name ?? ''));
  if (flows.every(({ ms }) => ms === null)) {
    for (const [place, index] of byName.entries()) parts[index] = (place % count) + 1;
    return parts;
  }
  const ms = withGuesses(flows);
  const loads = new Array<number>(count).fill(0);
  // Parts with nothing to do are equal; flows that take no time must not all go to the first.
  const sizes = new Array<number>(count).fill(0);
  for (const index of byName.sort((a, b) => (ms[b] ?? 0) - (ms[a] ?? 0))) {
    let least = 0;
    for (let part = 1; part < count; part += 1) {
      const difference = (loads[part] ?? 0) - (loads[least] ?? 0) || (sizes[part] ?? 0) - (sizes[least] ?? 0);
      if (difference < 0) least = part;
    }
    parts[index] = least + 1;
    loads[least] = (loads[least] ?? 0) + (ms[index] ?? 0);
    sizes[least] = (sizes[least] ?? 0) + 1;
  }
  return parts;
}

/**
 * Identifies the flows of a run, and the texts of all flows and tasks that go along. Line ends of other systems do not
 * matter.
 */
export function filesHash(flows: readonly PlannedFlow[], { texts }: Pick<RunFiles, 'texts'>): string {
  const hash = createHash('sha256');
  const lines = [
    ...flows.map(({ name, path, request }) => JSON.stringify([name, path, request.prompt ?? null])),
    ...Object.entries(texts)
      .filter(([path]) => /\.(js|ts|md)$/.test(path))
      .map(([path, text]) => JSON.stringify([path, text.replaceAll('\r\n', '\n')])),
  ];
  for (const line of lines.sort(compare)) hash.update(line);
  return hash.digest('hex').slice(0, 12);
}

/** A flow without a known duration counts as one in the middle. */
function withGuesses(flows: readonly TimedName[]): readonly number[] {
  const known = flows.flatMap(({ ms }) => ms ?? []).sort((a, b) => a - b);
  const middle = known[Math.floor(known.length / 2)] ?? 0;
  return flows.map(({ ms }) => ms ?? middle);
}

/** By code units: the same on every machine, whatever its language is. */
function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** A line for people, by which they can see whether all parts agree. */
export function partLine({ flows, part, expectedMs }: ChosenPart): string {
  const all = part.names.reduce((sum, names) => sum + names.length, 0);
  const time = expectedMs === null ? '' : `, about ${Math.ceil(expectedMs / 1000)} s of work`;
  const of = `${flows.length} of ${counted(all, 'flow')}${time}`;
  return `Part ${part.index}/${part.count} by ${part.by}: ${of}; flows ${part.flows}, timings ${part.timings}`;
}

/** Flows in the order in which machines should begin them: the longest first, so that none is left for the end. */
export function longestFirst(flows: readonly PlannedFlow[], timings: Timings): readonly PlannedFlow[] {
  const ms = withGuesses(timedNames(flows, timings));
  const order = flows.map((_, index) => index).sort((a, b) => (ms[b] ?? 0) - (ms[a] ?? 0));
  return order.flatMap((index) => flows[index] ?? []);
}
