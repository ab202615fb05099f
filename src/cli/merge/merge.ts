import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asAbsent } from '../../base/system-fault.js';
import { alikeLine } from '../../protocol/report/alike-failures.js';
import { parseSuiteFile, SUITE_FILE } from '../../report/suite/suite-file.js';
import {
  countFlows,
  failedAlike,
  failsRun,
  flowText,
  isFlaky,
  notRunLines,
  reasonOf,
  type SuiteResult,
} from '../../report/suite/suite-result.js';
import { MERGE } from '../../terminal/commands/run-commands.js';
import { UsageError } from '../../terminal/failure.js';
import { print } from '../../terminal/output.js';
import { parseWords } from '../../terminal/parse-options.js';
import { typedCommand } from '../../terminal/typed-command.js';
import { renderTimings } from '../run/plan/timings.js';
import { countsText } from '../run/run-summary.js';
import { unwrittenBy, writeRunReports, writeWhole } from '../run/write-run-reports.js';
import { mergeParts, type ReadPart } from './merge-parts.js';

const MAX_LISTED = 50;

/**
 * `troupe merge`: one report over the report folders of several `troupe run`.
 * @returns 0 if every flow passed, 1 if not or if a part is missing, 2 if a file cannot be written
 * @throws UsageError for wrong words, and if the folders are not of one run
 */
export async function runMerge(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, MERGE);
  if (positionals.length === 0)
    throw new UsageError(`Missing argument: FOLDER, a report folder of ${typedCommand()} run --report`);
  const { html, junit, ctrf, timings } = values;
  if ([html, junit, ctrf, timings].every((file) => file === undefined)) {
    throw new UsageError('Missing option: --html DIR, --junit FILE, --ctrf FILE, or --timings FILE');
  }
  const parts: ReadPart[] = [];
  for (const folder of positionals) parts.push(await readPart(folder));
  const { suite, missing } = mergeParts(parts, join);
  const { written, unwritten } = await writeRunReports({ report: undefined, html, junit, ctrf }, suite, null);
  if (timings !== undefined) {
    const passed = suite.flows.filter(({ outcome }) => outcome === 'passed');
    const text = renderTimings(new Map(passed.map(({ name, durationMs }) => [name, durationMs])));
    unwritten.push(...(await unwrittenBy(writeWhole(timings, text))));
  }
  say(suite, [
    ...missing.map((part) => `Part ${part} has no report: its flows were not run`),
    ...written,
    ...(timings === undefined || unwritten.length > 0 ? [] : [`Timings: ${timings}`]),
    ...unwritten,
  ]);
  const { failed, notRun } = countFlows(suite);
  const flaky =
    values['fail-on-flaky'] === true && suite.flows.some((flow) => isFlaky(flow) && flow.quarantine === null);
  const repairedFails =
    values['fail-on-repaired'] === true &&
    suite.flows.some(({ outcome, quarantine }) => outcome === 'repaired' && quarantine === null);
  if (unwritten.length > 0) return 2;
  return failed > 0 || notRun > 0 || missing.length > 0 || flaky || repairedFails ? 1 : 0;
}

async function readPart(folder: string): Promise<ReadPart> {
  const file = join(folder, SUITE_FILE);
  const content = await readFile(file, 'utf8').catch(asAbsent);
  if (content !== null) return { folder, suite: parseSuiteFile(content, file) };
  throw new UsageError(`There is no ${file}: merge takes the folders that ${typedCommand()} run --report wrote`);
}

function say(suite: SuiteResult, notes: readonly string[]): void {
  const groups = failedAlike(suite.flows.filter(failsRun));
  for (const [flow, ...others] of groups.slice(0, MAX_LISTED)) {
    const alike = alikeLine(
      others.map(({ name }) => name),
      'flow',
    );
    const lines = [...(flow.failure === null ? [] : [reasonOf(flow.failure)]), ...(alike === null ? [] : [alike])];
    print(`✗ ${flow.name}  ${flowText(flow)}\n${lines.map((line) => `    ${line}\n`).join('')}`);
  }
  const unlisted = groups.slice(MAX_LISTED).reduce((count, group) => count + group.length, 0);
  if (unlisted > 0) print(`and ${unlisted} more\n`);
  for (const line of notRunLines(suite, MAX_LISTED)) print(`${line}\n`);
  print(`${countsText(countFlows(suite))}\n`);
  for (const note of notes) print(`${note}\n`);
}
