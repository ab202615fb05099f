import type { Failure } from '../../protocol/report/failure.js';
import { formatDuration, waitText } from '../../protocol/times.js';
import { escapeMarkup as esc } from '../escape.js';
import { shorten } from '../format.js';
import { codeOf, failureBody, listOf, type Row } from '../html/failure-body.js';
import { type FlowResult, reasonOf } from './suite-result.js';

const MAX_LINE = 300;

/** How a card is shown. */
export interface CardOptions {
  readonly link: (path: string) => string;
  /** The longest text of a card, in characters; the flow's report has all of it. */
  readonly longest: number;
}

/** What the index shows of a failed or flaky flow: the failure, its picture, and what to do next. */
export function failureCard(flow: FlowResult, failure: Failure, options: CardOptions): string {
  const { link, longest } = options;
  const { quarantine, earlier, again, report, picture } = flow;
  const image =
    picture === null
      ? ''
      : `<a href="${esc(link(picture))}"><img src="${esc(link(picture))}" alt="Page when it failed" loading="lazy"></a>`;
  const more: readonly Row[] = [
    ['Waited', waitText(flow)],
    ['Attempts', listOf(earlier.map((one) => esc(attemptText(one))))],
    ['Quarantine', quarantine === null ? null : esc(`until ${quarantine.until}, ${quarantine.ticket}`)],
    ['Run it again', again === null ? null : codeOf(shorten(again, longest))],
    ['Report', report === null ? null : `<a href="${esc(link(report))}">${esc(shorten(report, MAX_LINE))}</a>`],
  ];
  return `<section class="card"><p class="message"><span class="pill ${flow.outcome === 'passed' ? 'warn' : 'bad'}">${esc(failure.code)}</span> ${esc(shorten(failure.message, longest))}</p>
${failureBody(failure, { longest, more })}${image}</section>`;
}

function attemptText({ attempt, failure, durationMs }: FlowResult['earlier'][number]): string {
  const took = durationMs === undefined ? '' : ` (${formatDuration(durationMs)})`;
  return `${attempt}: ${shorten(reasonOf(failure), MAX_LINE)}${took}`;
}
