import { plainText } from '../../base/plain-text.js';
import { alikeLine } from '../../protocol/report/alike-failures.js';
import { waitText } from '../../protocol/times.js';
import { failureText } from '../../report/suite/failure-text.js';
import {
  type FlowResult,
  failedAlike,
  failsRun,
  flowText,
  historyText,
  isFlaky,
  isNotRun,
  notRunLines,
  reasonOf,
  type SuiteCounts,
  type SuiteResult,
} from '../../report/suite/suite-result.js';

const MAX_REASON = 300;
/** Flows that were not run and are named; reports name all. */
const MAX_NOT_RUN = 100;

/** A title in its color, as ANSI numbers it. */
export type Paint = (text: string, colour: number) => string;
export const GREEN = 32;
export const YELLOW = 33;
export const RED = 31;

type Flows = Pick<SuiteResult, 'flows'>;

/**
 * What did not simply pass in a run: every failure once, of equal ones the first in full and the names of the others, in file
 * order; then what was not run, flaky, repaired, or quarantined. Ready for a terminal; empty if all passed.
 */
export function failuresText(suite: Flows, paint: Paint): string {
  const { flows } = suite;
  const title = (text: string, colour: number) => `\n${paint(text, colour)}\n`;
  const listed = (text: string, chosen: readonly FlowResult[]) =>
    chosen.length === 0 ? '' : title(text, YELLOW) + plainText(chosen.map(listedFlow).join(''));
  const failed = flows.filter(failsRun);
  const blocks = failedAlike(failed).map(([flow, ...others], index) => failureBlock(flow, others, index + 1));
  const notRun = notRunLines(suite, MAX_NOT_RUN).map((line) => `  ${line.replace(/^not run /, '')}\n`);
  return [
    ...(failed.length === 0 ? [] : [title('Failed', RED), plainText(blocks.join(''))]),
    ...(flows.some(isNotRun) ? [title('Not run', YELLOW)] : []),
    plainText(notRun.join('')),
    listed('Flaky: passed in a retry', flows.filter(isFlaky)),
    listed(
      'Repaired: failed, and a model finished the run',
      flows.filter(({ outcome }) => outcome === 'repaired'),
    ),
    listed(
      'Quarantined: failed, and does not fail the run',
      flows.filter((flow) => flow.outcome === 'failed' && flow.quarantine !== null),
    ),
  ].join('');
}

/** How many flows ended how, such as `3 passed, 1 failed`, without what did not occur. */
export function countsText(counts: SuiteCounts): string {
  const said = [
    ...(counts.passed > 0 ? [`${counts.passed} passed${counts.flaky > 0 ? ` (${counts.flaky} flaky)` : ''}`] : []),
    ...(counts.failed > 0 ? [`${counts.failed} failed`] : []),
    ...(counts.repaired > 0 ? [`${counts.repaired} repaired`] : []),
    ...(counts.quarantined > 0 ? [`${counts.quarantined} quarantined`] : []),
    ...(counts.skipped > 0 ? [`${counts.skipped} skipped`] : []),
    ...(counts.notRun > 0 ? [`${counts.notRun} not run`] : []),
  ];
  return said.length === 0 ? '0 passed' : said.join(', ');
}

/** @param others flows that failed in the same way, which are named */
function failureBlock(flow: FlowResult, others: readonly FlowResult[], number: number): string {
  const { name, failure, history, report, picture, again } = flow;
  const waited = waitText(flow);
  const since = history === null ? '' : `, ${historyText(history)}`;
  const alike = alikeLine(
    others.map((other) => other.name),
    'flow',
  );
  const text = [
    ...(failure === null ? [] : [failureText(failure)]),
    ...(waited === null ? [] : [`Waited: ${waited}`]),
    ...(picture === null ? [] : [`Screenshot: ${picture}`]),
    ...(report === null ? [] : [`Report: ${report}`]),
    ...(again === null ? [] : [`Run it again: ${again}`]),
    ...(alike === null ? [] : [alike]),
  ].join('\n');
  return `\n  ${number}) ${name}  ${flowText(flow)}${since}\n${text.replace(/(^|\n)(?=[^\n])/g, '$1      ')}\n`;
}

function listedFlow(flow: FlowResult): string {
  const failure = flow.failure ?? flow.earlier.at(-1)?.failure;
  const attempt = flow.earlier.length + 1;
  const notes = [
    ...(isFlaky(flow) ? [`attempt ${attempt} of ${Math.max(flow.attempts, attempt)}`] : []),
    ...(flow.quarantine === null ? [] : [`until ${flow.quarantine.until}, ${flow.quarantine.ticket}`]),
  ];
  const reason = failure === undefined ? '' : `      ${reasonOf(failure).slice(0, MAX_REASON)}\n`;
  return `  ${flow.name}${notes.length === 0 ? '' : `  (${notes.join('; ')})`}\n${reason}`;
}
