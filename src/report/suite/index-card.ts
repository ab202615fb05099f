import type { Failure } from '../../protocol/report/failure.js';
import { asCounted, placeText } from '../../protocol/report/failure-context.js';
import { formatDuration, waitText } from '../../protocol/times.js';
import { escapeMarkup as esc } from '../escape.js';
import { shorten } from '../format.js';
import { codeOf, evidenceRows, listOf } from '../html/evidence-rows.js';
import { pageLink } from '../html/html-steps.js';
import { stepTitle } from './failure-text.js';
import { type FlowResult, reasonOf } from './suite-result.js';

const MAX_LINE = 300;
const MAX_DIFFERENCES = 20;

/** How a card is shown. */
export interface CardOptions {
  readonly link: (path: string) => string;
  /** The longest text of a card, in characters; the flow's report has all of it. */
  readonly longest: number;
}

/** What the index shows of a failed or flaky flow: the failure, its picture, and what to do next. */
export function failureCard(flow: FlowResult, failure: Failure, options: CardOptions): string {
  const { link, longest } = options;
  const { frame, differences = [] } = failure;
  const place = placeText(failure)?.replace(/^at /, '') ?? null;
  const listed = differences
    .slice(0, MAX_DIFFERENCES)
    .map((one) => `<li><code>${esc(shorten(one.path, MAX_LINE))}</code> ${esc(shorten(one.message, MAX_LINE))}</li>`);
  const image =
    flow.picture === null
      ? ''
      : `<a href="${esc(link(flow.picture))}"><img src="${esc(link(flow.picture))}" alt="The page when it failed" loading="lazy"></a>`;
  return `<section class="card"><p class="message"><span class="pill ${flow.outcome === 'passed' ? 'warn' : 'bad'}">${esc(failure.code)}</span> ${esc(shorten(failure.message, longest))}</p>
${listed.length === 0 ? '' : `<ul class="differences">${listed.join('')}</ul>`}
${frame === undefined ? '' : `<pre class="frame">${esc(shorten(frame, longest))}</pre>`}
<dl>${rowsOf(flow, failure, place, options)}</dl>${image}</section>`;
}

function rowsOf(flow: FlowResult, failure: Failure, place: string | null, { link, longest }: CardOptions): string {
  const { step } = asCounted(failure);
  const code = (text: string) => codeOf(shorten(text, longest));
  const { quarantine, earlier, again, report } = flow;
  const rows: readonly (readonly [string, string | null])[] = [
    ['Where', place === null ? null : code(place)],
    ...evidenceRows(failure, longest),
    [step === undefined ? 'Step' : stepTitle(step), step === undefined ? null : `${step.index} ${code(step.js)}`],
    ['Page', failure.url === undefined || failure.url === '' ? null : pageOf(failure.url, failure.title ?? '')],
    ['Waited', waitText(flow)],
    ['Attempts', earlier.length === 0 ? null : listOf(earlier.map((one) => esc(attemptText(one))))],
    ['Quarantine', quarantine === null ? null : esc(`until ${quarantine.until}, ${quarantine.ticket}`)],
    ['Run it again', again === null ? null : code(again)],
    ['Report', report === null ? null : `<a href="${esc(link(report))}">${esc(shorten(report, MAX_LINE))}</a>`],
  ];
  return rows
    .filter(([, value]) => value !== null)
    .map(([title, value]) => `<dt>${title}</dt><dd>${value}</dd>`)
    .join('');
}

function attemptText({ attempt, failure, durationMs }: FlowResult['earlier'][number]): string {
  const took = durationMs === undefined ? '' : ` (${formatDuration(durationMs)})`;
  return `${attempt}: ${shorten(reasonOf(failure), MAX_LINE)}${took}`;
}

function pageOf(url: string, title: string): string {
  return title === '' ? pageLink(url) : `${esc(shorten(title, MAX_LINE))}<br>${pageLink(url)}`;
}
