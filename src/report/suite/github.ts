import { plainText } from '../../base/plain-text.js';
import { counted } from '../../protocol/counted.js';
import { formatDuration } from '../../protocol/times.js';
import { escapeMarkup as esc } from '../escape.js';
import { shorten } from '../format.js';
import { failureText } from './failure-text.js';
import {
  countFlows,
  type FlowResult,
  failsRun,
  flowText,
  historyText,
  isFlaky,
  isNotRun,
  notRunText,
  reasonOf,
  type SuiteResult,
} from './suite-result.js';

/** GitHub shows ten annotations of a level for a step; the others would only fill the log. */
const MAX_ANNOTATIONS = 10;
/** GitHub refuses a step's summary of more than 1 MiB. */
const MAX_SUMMARY_BYTES = 900 * 1024;
const MAX_MESSAGE = 3_000;

/**
 * Annotations for GitHub Actions, one workflow command a line: an error for each flow that failed or was not run, a warning
 * for flaky, repaired and quarantined ones.
 * @param fileOf a file's path in the repository
 */
export function annotationsOf(suite: SuiteResult, fileOf: (file: string) => string): readonly string[] {
  const errors = [...suite.flows.filter(failsRun), ...suite.flows.filter(isNotRun)];
  const warnings = suite.flows.filter(
    (flow) => isFlaky(flow) || flow.outcome === 'repaired' || (flow.outcome === 'failed' && flow.quarantine !== null),
  );
  return [
    ...errors.slice(0, MAX_ANNOTATIONS).map((flow) => annotation('error', flow, fileOf)),
    ...warnings.slice(0, MAX_ANNOTATIONS).map((flow) => annotation('warning', flow, fileOf)),
  ];
}

function annotation(level: 'error' | 'warning', flow: FlowResult, fileOf: (file: string) => string): string {
  const failure = flow.failure ?? flow.earlier.at(-1)?.failure;
  const file = failure?.file ?? flow.file;
  const quarantined = flow.outcome === 'failed' && flow.quarantine !== null ? ' (quarantined)' : '';
  // The message has the reason.
  const title = `${flow.name}: ${isNotRun(flow) ? 'Not run' : flowText(flow)}${quarantined}`;
  const properties = [
    ...(file === null ? [] : [`file=${property(fileOf(file))}`]),
    ...(file === null || failure?.line === undefined ? [] : [`line=${failure.line}`]),
    ...(file === null || failure?.line === undefined || failure.column === undefined ? [] : [`col=${failure.column}`]),
    `title=${property(title)}`,
  ];
  const text = isNotRun(flow) ? notRunText(flow) : failure === undefined ? title : failureText(failure);
  return `::${level} ${properties.join(',')}::${data(shorten(text, MAX_MESSAGE))}`;
}

function data(text: string): string {
  return plainText(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** A run as GitHub-flavored Markdown, for the summary of a job. All text from pages is escaped; at most 900 KiB. */
export function renderJobSummary(suite: SuiteResult): string {
  const counts = countFlows(suite);
  const duration = formatDuration(Date.parse(suite.endedAt) - Date.parse(suite.startedAt));
  const cells = [
    `${counts.failed + counts.notRun === 0 ? '✅' : '❌'} ${counts.failed} failed`,
    `${counts.passed} passed`,
    `${counts.flaky} flaky`,
    ...(counts.repaired > 0 ? [`${counts.repaired} repaired`] : []),
    `${counts.quarantined} quarantined`,
    ...(counts.skipped > 0 ? [`${counts.skipped} skipped`] : []),
    `${counts.notRun} not run`,
  ];
  const parts = [`### ${esc(suite.name)}\n\n${cells.join(' · ')} · ${counted(counts.total, 'flow')} in ${duration}\n`];
  let bytes = Buffer.byteLength(parts.join(''));
  let omitted = 0;
  for (const flow of notable(suite.flows)) {
    const text = summaryOf(flow);
    bytes += Buffer.byteLength(text) + 1;
    if (bytes > MAX_SUMMARY_BYTES) omitted += 1;
    else parts.push(text);
  }
  if (omitted > 0) parts.push(`\n${counted(omitted, 'more flow')} failed or were not run; the reports have all\n`);
  return `${parts.join('\n')}\n`;
}

/** Failures first, then what was not run, flaky, or quarantined. */
function notable(flows: readonly FlowResult[]): readonly FlowResult[] {
  return [
    ...flows.filter(failsRun),
    ...flows.filter(isNotRun),
    ...flows.filter(({ outcome }) => outcome === 'repaired'),
    ...flows.filter(isFlaky),
    ...flows.filter((flow) => flow.outcome === 'failed' && flow.quarantine !== null),
  ];
}

function summaryOf(flow: FlowResult): string {
  const failure = flow.failure ?? flow.earlier.at(-1)?.failure;
  const sign = failsRun(flow) || isNotRun(flow) ? '❌' : '⚠️';
  const quarantined =
    flow.quarantine === null || flow.outcome !== 'failed'
      ? ''
      : `, quarantined until ${esc(flow.quarantine.until)} (${esc(flow.quarantine.ticket)})`;
  const note = ` ${esc(shorten(flowText(flow), 300))}${quarantined}`;
  const since = flow.history === null ? '' : ` · ${esc(historyText(flow.history))}`;
  const lines = [
    failure === undefined ? '' : failureText(failure),
    flow.again === null || isFlaky(flow) ? '' : `Run it again: ${flow.again}`,
  ].filter((line) => line !== '');
  const reason = isNotRun(flow) || failure === undefined ? '' : ` <code>${esc(shorten(reasonOf(failure), 200))}</code>`;
  return `<details${failsRun(flow) ? ' open' : ''}><summary>${sign} <b>${esc(flow.name)}</b>${note}${since}${reason}</summary>\n\n<pre>${esc(lines.join('\n\n')).replace(/\n(?=\n)/g, '\n&#8203;')}</pre>\n\n</details>\n`;
}
