import type { DataRow } from '#request-client';
import { isFlowFile } from '../../../base/flow-file.js';
import type { JobRequest } from '../../../protocol/session.js';
import { UsageError } from '../../../terminal/failure.js';
import type { RunOptions } from '../run-options.js';
import type { RunSettings } from '../run-serve.js';
import { describeSource, isChosen } from './flow-tags.js';
import type { RunFiles } from './run-files.js';

/** A flow or task that a run submits as a job. */
export interface PlannedFlow {
  /** Its path without extension, with a number if an earlier one has the same; unique in a run. */
  readonly name: string;
  /** Its path in the flows folder; null for a prompt alone. */
  readonly path: string | null;
  /** Each with its `@`. */
  readonly tags: readonly string[];
  /** Without `retries`. */
  readonly request: JobRequest;
}

/** A flow without extension, as it is named everywhere. */
export function flowName(path: string): string {
  return path.replace(/\.(js|ts|md)$/, '').slice(0, 200);
}

/**
 * The jobs of a run, in file order: what `--grep` and `--last-failed` leave of the named files, each as often as
 * `--repeat-each` says, and once for each row of `--data`. All parts of `--shard`.
 * @param rows arguments of each flow, which replace those of `--args` with the same name
 * @param concerned the files that a change concerns; null for all
 * @param failedBefore the flows that `--last-failed` chooses from; null for all
 */
export function planRun(
  options: RunOptions,
  { named, texts }: RunFiles,
  settings: RunSettings,
  failedBefore: ReadonlySet<string> | null,
  rows: readonly DataRow[] = [{}],
  concerned: ReadonlySet<string> | null = null,
): readonly PlannedFlow[] {
  const { grep, prompt, model } = options;
  const onlyFlows = named.length > 0 && named.every(isFlowFile);
  if (model !== undefined && prompt === undefined && onlyFlows) {
    throw new UsageError('--model names who does a task; flows alone need none. Say with --prompt what is to be done');
  }
  const common = { ...commonRequest(options, settings) };
  const withModel = model === undefined ? {} : { model };
  const planned: readonly PlannedFlow[] =
    named.length === 0
      ? [{ name: 'prompt', path: null, tags: [], request: { ...common, ...withModel, prompt: prompt ?? '' } }]
      : named.map((path) => {
          const source = texts[path] ?? '';
          if (prompt === undefined && isFlowFile(path)) return planFlow(path, source, common);
          const name = flowName(path);
          const { tags } = describeSource(path, source);
          const job = { ...common, flowFiles: [path] };
          if (prompt !== undefined) return { name, path, tags, request: { ...job, ...withModel, prompt } };
          return { name, path, tags, request: { ...job, ...withModel, prompt: headingOf(source) || name } };
        });
  return withUniqueNames(
    planned
      .filter(({ name, tags }) => grep === null || isChosen(grep, name, tags))
      .filter(({ path }) => concerned === null || path === null || concerned.has(path))
      .filter(({ name }) => failedBefore === null || failedBefore.has(name))
      .flatMap((flow) => rows.map((row) => withRow(flow, row)))
      .flatMap((flow) => Array.from({ length: options.repeatEach }, () => flow)),
  );
}

/** A flow that runs without a model. */
export function planFlow(path: string, source: string, common: Omit<JobRequest, 'prompt'>): PlannedFlow {
  const name = flowName(path);
  const { text, tags } = describeSource(path, source);
  return { name, path, tags, request: { ...common, flowFiles: [path], name, prompt: text || name, maxIterations: 0 } };
}

function withRow(flow: PlannedFlow, row: DataRow): PlannedFlow {
  return { ...flow, request: { ...flow.request, args: { ...flow.request.args, ...row } } };
}

/** The flow's name without the number of its repetition. */
export function originalName({ name, path }: PlannedFlow): string {
  return path === null ? name : flowName(path);
}

/** Numbers the repetitions of a flow, and a task that has the name of a flow. */
function withUniqueNames(flows: readonly PlannedFlow[]): readonly PlannedFlow[] {
  const seen = new Map<string, number>();
  return flows.map((flow) => {
    const count = (seen.get(flow.name) ?? 0) + 1;
    seen.set(flow.name, count);
    const name = count === 1 ? flow.name : `${flow.name.slice(0, 190)} (${count})`;
    return { ...flow, name, request: { ...flow.request, name } };
  });
}

/** What all jobs of a run ask for. */
export function commonRequest(options: RunOptions, settings: RunSettings) {
  const { args, secrets, timeout, actTimeout, screenshots, harBodies, trace, updateBaselines } = options;
  const { forward: ports, video, pause } = options;
  const stateName = options.state ?? settings.state;
  const forward = [...new Set([...(settings.forward ?? []), ...ports])];
  return {
    args: { ...settings.args, ...args },
    ...(Object.keys(secrets).length > 0 ? { secrets } : {}),
    ...(screenshots === undefined ? {} : { screenshots }),
    ...(harBodies ? { har: 'bodies' as const } : {}),
    ...(trace === undefined ? {} : { trace }),
    ...(video === undefined ? {} : { video }),
    ...(pause ? { pauseOnFailure: true } : {}),
    ...(stateName === undefined ? {} : { state: stateName }),
    ...(updateBaselines ? { updateBaselines } : {}),
    ...(timeout === undefined ? {} : { hardTimeout: timeout }),
    ...(actTimeout === undefined ? {} : { actTimeout }),
    ...(forward.length > 0 ? { forward } : {}),
  };
}

/** The first line of a task that is no comment. */
function headingOf(text: string): string {
  const body = text.replace(/^\s*<!--[\s\S]*?-->/, '');
  const [line = ''] = body.split('\n').filter((one) => one.trim() !== '');
  return line.replace(/^#+\s*/, '').trim();
}
