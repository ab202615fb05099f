import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { TroupeError } from '../protocol/errors.js';
import { parseSuiteFile, type SuiteFile } from '../report/suite/suite-file.js';
import { countFlows, type FlowResult, isFlaky, type SuiteCounts } from '../report/suite/suite-result.js';
import { typedCommand } from '../terminal/typed-command.js';
import { pathFrom } from './run/flow-failure.js';
import { readLastRun } from './run/last-run.js';
import { DEFAULT_RUN_NAME } from './run/run-options.js';
import { countsText, failuresText } from './run/run-summary.js';

/** What did not pass in a run of `troupe run`. */
export interface RunFailures {
  readonly name: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly endedAt: string;
  /** The folder of the command, if it is not the current one. */
  readonly folder?: string;
  /** Of all flows of the run. */
  readonly counts: SuiteCounts;
  /** In file order. Paths of reports and pictures are relative to the current folder. */
  readonly flows: readonly FlowResult[];
}

/** The last run from the current folder, or from one above it. @throws NOT_FOUND */
export async function lastRunFailures(): Promise<RunFailures> {
  const cwd = process.cwd();
  const last = await readLastRun(cwd);
  if (last === null) {
    throw new TroupeError(
      'NOT_FOUND',
      `No run from ${cwd} is known on this machine. Run flows with ${typedCommand()} run, or name a session or a report folder`,
    );
  }
  const { folder, run } = last;
  return { ...failuresOf(run, folder), ...(folder === cwd ? {} : { folder }) };
}

/** The run whose report folder has this file. @throws INVALID_REQUEST */
export async function runFileFailures(file: string): Promise<RunFailures> {
  return failuresOf(parseSuiteFile(await readFile(file, 'utf8'), file), dirname(file));
}

/** @param folder what the run's paths are relative to */
function failuresOf({ name, startedAt, endedAt, flows }: SuiteFile, folder: string): RunFailures {
  const shown = flows.filter((flow) => isFlaky(flow) || !['passed', 'skipped'].includes(flow.outcome));
  const from = (path: string | null) =>
    path === null || /^https?:/.test(path) ? path : pathFrom(process.cwd(), resolve(folder, path));
  return {
    name,
    startedAt,
    endedAt,
    counts: countFlows({ flows }),
    flows: shown.map((flow) => ({ ...flow, report: from(flow.report), picture: from(flow.picture) })),
  };
}

/** The failures as text for a terminal or a model. */
export function describeRun({ name, startedAt, folder, counts, flows }: RunFailures): string {
  const called = name === DEFAULT_RUN_NAME ? '' : ` ${name}`;
  const where = folder === undefined ? '' : ` in ${folder}`;
  const head = `Run${called} of ${startedAt.slice(0, 16).replace('T', ' ')} UTC${where}: ${countsText(counts)}`;
  const failures = failuresText({ flows }, (title) => title);
  return `${head}\n${failures === '' ? 'Nothing failed\n' : failures}`;
}
