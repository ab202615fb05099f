import { posix } from 'node:path';
import { hookOf } from '../../../base/flow-file.js';
import type { JobRequest, SessionRecord } from '../../../protocol/session.js';
import type { RunOptions } from '../run-options.js';
import type { RunSettings } from '../run-serve.js';
import { commonRequest, type PlannedFlow, planFlow } from './plan-run.js';
import type { RunFiles } from './run-files.js';

/** The flows of a run with the `_setup` and `_teardown` flows of their folders, by index in `flows`. */
export interface RunPlan {
  /** The setups, then the flows that were asked for, then the teardowns. */
  readonly flows: readonly PlannedFlow[];
  /** Setups that can run together, outer folders first. */
  readonly setups: readonly (readonly number[])[];
  readonly wanted: readonly number[];
  /** Teardowns that can run together, inner folders first. */
  readonly teardowns: readonly (readonly number[])[];
}

/** Adds the `_setup` and `_teardown` flows of all folders that the flows are in, each once. */
export function planHooks(
  wanted: readonly PlannedFlow[],
  { texts }: RunFiles,
  options: RunOptions,
  settings: RunSettings,
): RunPlan {
  const folders = new Set(wanted.flatMap(({ path }) => foldersOf(path)));
  const flows: PlannedFlow[] = [];
  const add = (hook: 'setup' | 'teardown', inOrder: (depth: number) => number): number[][] => {
    const levels = new Map<number, number[]>();
    for (const folder of folders) {
      const path = ['js', 'ts']
        .map((extension) => posix.join(folder, `_${hook}.${extension}`))
        .find((file) => Object.hasOwn(texts, file));
      if (path === undefined) continue;
      const { state, ...stateless } = commonRequest(options, settings);
      // A setup is what saves the state.
      const common = hook === 'setup' || state === undefined ? stateless : { ...stateless, state };
      const depth = folder === '' ? 0 : folder.split('/').length;
      levels.set(depth, [...(levels.get(depth) ?? []), flows.push(planFlow(path, texts[path] ?? '', common)) - 1]);
    }
    return [...levels].sort(([one], [other]) => inOrder(one) - inOrder(other)).map(([, indexes]) => indexes);
  };
  const setups = add('setup', (depth) => depth);
  const first = flows.push(...wanted) - wanted.length;
  const teardowns = add('teardown', (depth) => -depth);
  return { flows, setups, wanted: wanted.map((_, index) => first + index), teardowns };
}

/** What running a plan takes. */
export interface HookRun {
  /** Runs the flows of these indexes. @returns the last record of each that has ended */
  run(
    indexes: readonly number[],
    requestOf: (index: number) => JobRequest,
    kind: 'setup' | 'wanted' | 'teardown',
  ): Promise<ReadonlyMap<number, SessionRecord>>;
  /** Called for each flow that is not run because a setup did not pass. */
  kept(index: number, setup: number): void;
  /** What the `_setup` flow of a session returned. */
  setupValue(record: SessionRecord): Promise<unknown>;
}

/**
 * Runs setups, flows, and teardowns. The value of a `_setup` is `args.setup` of the flows of its folder and of the folders
 * in it. If it fails, they are not run. A `_teardown` runs if anything of its folder was started, also after an error.
 * @throws what kept flows from being run
 */
export async function runWithHooks(plan: RunPlan, { run, kept, setupValue }: HookRun): Promise<void> {
  const { flows } = plan;
  /** By folder. */
  const values = new Map<string, unknown>();
  /** The setups that did not pass, by folder. */
  const failed = new Map<string, number>();
  const started = new Set<string>();
  const pathOf = (index: number) => flows[index]?.path ?? null;
  const failedFor = (index: number) => foldersOf(pathOf(index)).find((folder) => failed.has(folder));
  const mayRun = (index: number) => failedFor(index) === undefined;
  const requestOf = (index: number, own: boolean): JobRequest => {
    const { request, path = null } = flows[index] ?? {};
    if (request === undefined) throw new RangeError(`There is no flow ${index}`);
    const within = foldersOf(path, own);
    const nearest = within.findLast((folder) => values.has(folder));
    const setup = nearest === undefined ? {} : { setup: values.get(nearest) };
    // Without a setup that passed there may be no such state.
    const { state, ...stateless } = request;
    const stated = state === undefined || !mayRun(index) || failed.has(folderOf(path)) ? stateless : request;
    return { ...stated, args: { ...request.args, ...setup } };
  };
  const start = (indexes: readonly number[]) => {
    const able = indexes.filter(mayRun);
    for (const index of indexes) {
      const folder = failedFor(index);
      const setup = folder === undefined ? undefined : failed.get(folder);
      if (setup !== undefined) kept(index, setup);
    }
    for (const index of able) for (const folder of foldersOf(pathOf(index), true)) started.add(folder);
    return able;
  };
  const faults: unknown[] = [];
  try {
    for (const level of plan.setups) {
      const able = start(level);
      if (able.length === 0) continue;
      const records = await run(able, (index) => requestOf(index, false), 'setup');
      for (const index of able) {
        const folder = folderOf(pathOf(index));
        const record = records.get(index);
        if (record?.status === 'completed') values.set(folder, await setupValue(record));
        else failed.set(folder, index);
      }
    }
    const able = start(plan.wanted);
    if (able.length > 0) await run(able, (index) => requestOf(index, false), 'wanted');
  } catch (error) {
    faults.push(error);
  }
  for (const level of plan.teardowns) {
    const able = level.filter((index) => started.has(folderOf(pathOf(index))));
    if (able.length === 0) continue;
    await run(able, (index) => requestOf(index, true), 'teardown').catch((error: unknown) => faults.push(error));
  }
  // The first one is the cause of the others.
  if (faults.length > 0) throw faults[0];
}

/**
 * The folders whose hooks concern a flow, outermost first; '' is the flows folder. A hook is not concerned by those of
 * its own folder.
 * @param own also the folder of a hook itself
 */
function foldersOf(path: string | null, own = false): readonly string[] {
  if (path === null) return [];
  const folder = folderOf(path);
  const segments = folder === '' ? [] : folder.split('/');
  const all = ['', ...segments.map((_, index) => segments.slice(0, index + 1).join('/'))];
  return hookOf(path) === null || own ? all : all.slice(0, -1);
}

function folderOf(path: string | null): string {
  const folder = posix.dirname(path ?? '');
  return folder === '.' ? '' : folder;
}
