import { stateMark } from '../../protocol/state-text.js';
import { formatDuration, waitText } from '../../protocol/times.js';
import { escapeMarkup as esc } from '../escape.js';
import { formatInstant, shorten } from '../format.js';
import { type CardOptions, failureCard } from './index-card.js';
import { INDEX_POLICY, INDEX_SCRIPT, INDEX_STYLE } from './index-style.js';
import {
  countFlows,
  type FlowResult,
  failsRun,
  flowText,
  historyText,
  isFlaky,
  isNotRun,
  reasonOf,
  type SuiteCounts,
  type SuiteResult,
} from './suite-result.js';

/** With more failures than this, their cards are closed at first. */
const MAX_OPEN = 10;

/** Longest texts of a card, in characters: at first, and once the page has this many characters. */
const LONGEST = 2_000;
const MANY_CHARACTERS = 1_200_000;
const LONGEST_OF_MANY = 80;

/** The state of a flow in the index; what fails the run is `failed`. */
type State = 'failed' | 'not-run' | 'repaired' | 'flaky' | 'quarantined' | 'passed' | 'skipped';

const TONES: Readonly<Record<State, string>> = {
  failed: 'bad',
  'not-run': 'bad',
  flaky: 'warn',
  repaired: 'warn',
  quarantined: 'warn',
  passed: 'good',
  skipped: '',
};
const SIGNS: Readonly<Record<State, string>> = {
  failed: stateMark('failed'),
  'not-run': stateMark('not run'),
  flaky: stateMark('flaky'),
  repaired: stateMark('repaired'),
  quarantined: stateMark('failed'),
  passed: stateMark('passed'),
  skipped: stateMark('skipped'),
};

/**
 * index.html over all flows of a run, in pieces: failures first, then in file order. It needs no server, and its content
 * security policy allows nothing but its own filter script; all text from flows and pages is escaped.
 *
 * @param link how the page links to a report or a picture: a relative URL, or an address as it is
 */
export function* renderIndexHtml(suite: SuiteResult, link: (path: string) => string): Generator<string> {
  const counts = countFlows(suite);
  const wrong = [
    ...(counts.failed > 0 ? [`${counts.failed} failed`] : []),
    ...(counts.notRun > 0 ? [`${counts.notRun} not run`] : []),
  ];
  const verdict = wrong.length > 0 ? wrong.join(', ') : 'passed';
  yield `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${esc(INDEX_POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer">
<title>${esc(shorten(suite.name, 80))} · ${verdict}</title><style>${INDEX_STYLE}</style></head><body><main>`;
  yield head(suite, counts);
  yield filterBar(counts);
  yield '<div class="rows">';
  const open = suite.flows.filter(failsRun).length <= MAX_OPEN;
  let characters = 0;
  for (const flow of inOrder(suite.flows)) {
    const text = row(flow, open, { link, longest: characters < MANY_CHARACTERS ? LONGEST : LONGEST_OF_MANY });
    characters += text.length;
    yield text;
  }
  yield `</div><footer>Troupe ${esc(suite.version)}</footer></main><script>${INDEX_SCRIPT}</script></body></html>\n`;
}

/** What failed first; each part in file order. */
function inOrder(flows: readonly FlowResult[]): readonly FlowResult[] {
  const order: readonly State[] = ['failed', 'not-run', 'repaired', 'flaky', 'quarantined', 'skipped', 'passed'];
  return order.flatMap((state) => flows.filter((flow) => stateOf(flow) === state));
}

function stateOf(flow: FlowResult): State {
  switch (flow.outcome) {
    case 'failed':
      return failsRun(flow) ? 'failed' : 'quarantined';
    case 'stopped':
      return 'not-run';
    case 'passed':
      return isFlaky(flow) ? 'flaky' : 'passed';
    default:
      return flow.outcome;
  }
}

function head({ name, build, labels, startedAt, endedAt }: SuiteResult, counts: SuiteCounts): string {
  const commit = labels.commit ?? build?.commit ?? null;
  const buildName =
    build === null ? null : `${build.name}${build.buildNumber === null ? '' : ` #${build.buildNumber}`}`;
  const facts: readonly (readonly [string, string])[] = [
    ['Flows', counts.total.toLocaleString('en')],
    ['Started', esc(formatInstant(startedAt))],
    ['Duration', formatDuration(Date.parse(endedAt) - Date.parse(startedAt))],
    ...(labels.branch === undefined ? [] : ([['Branch', esc(labels.branch)]] as const)),
    ...(commit === null ? [] : ([['Commit', `<span class="mono">${esc(commit.slice(0, 12))}</span>`]] as const)),
    ...(buildName === null ? [] : ([['Build', linked(build?.buildUrl ?? null, buildName)]] as const)),
    ...Object.entries(labels)
      .filter(([label]) => label !== 'commit' && label !== 'branch')
      .slice(0, 8)
      .map(([label, value]) => [esc(shorten(label, 40)), esc(shorten(value, 100))] as const),
  ];
  const pills = (['failed', 'not-run', 'passed', 'flaky', 'repaired', 'quarantined', 'skipped'] as const)
    .filter((state) => countOf(counts, state) > 0)
    .map(
      (state) =>
        `<span class="pill ${TONES[state]}">${countOf(counts, state).toLocaleString('en')} ${labelOf(state)}</span>`,
    );
  return `<header>${pills.join(' ')}
<h1 class="text">${esc(shorten(name, 200))}</h1>
<dl class="facts">${facts.map(([title, value]) => `<div><dt>${title}</dt><dd>${value}</dd></div>`).join('')}</dl></header>`;
}

function linked(url: string | null, text: string): string {
  return url !== null && /^https?:\/\//.test(url) ? `<a href="${esc(url)}">${esc(text)}</a>` : esc(text);
}

function filterBar(counts: SuiteCounts): string {
  const states = (['failed', 'not-run', 'repaired', 'flaky', 'quarantined', 'skipped', 'passed'] as const).filter(
    (state) => countOf(counts, state) > 0,
  );
  const buttons = states.map(
    (state) =>
      `<button type="button" value="${state}" aria-pressed="false">${capital(labelOf(state))} ${countOf(counts, state)}</button>`,
  );
  return `<div class="filter" hidden><input type="search" placeholder="Filter by name, tag, or error" aria-label="Filter flows">
<div class="states"><button type="button" value="" aria-pressed="true">All ${counts.total}</button>${buttons.join('')}</div>
<span class="soft count" role="status"></span></div>`;
}

function row(flow: FlowResult, openFailures: boolean, options: CardOptions): string {
  const state = stateOf(flow);
  const failure = flow.failure ?? flow.earlier.at(-1)?.failure ?? null;
  // A flaky flow is among the passed ones too.
  const states = state === 'flaky' ? 'flaky passed' : state;
  const reason = shorten(isNotRun(flow) || failure === null ? '' : reasonOf(failure), 300);
  const text = [flow.name, ...flow.tags, flowText(flow), reason].join(' ').toLowerCase();
  const data = `data-states="${states}" data-text="${esc(text)}"`;
  const waited = waitText(flow);
  const sentence = `<span class="state text"${waited === null ? '' : ` title="Waited: ${waited}"`}>${esc(shorten(flowText(flow), 300))}</span>`;
  // What passed needs no line of its own.
  const isShort = state === 'passed';
  const below = isShort ? '' : `${sentence}${reason === '' ? '' : `<div class="reason text">${esc(reason)}</div>`}`;
  const line = `${lineOf(flow, state, isShort ? sentence : '', { link: options.link, linksReport: failure === null })}${below}`;
  if (failure === null) return `<div class="result ${state}" ${data}><div class="line">${line}</div></div>`;
  const open = openFailures && state === 'failed' ? ' open' : '';
  return `<details class="result ${state}" ${data}${open}><summary class="line">${line}</summary>${failureCard(flow, failure, options)}</details>`;
}

function lineOf(
  flow: FlowResult,
  state: State,
  sentence: string,
  { link, linksReport }: { readonly link: (path: string) => string; readonly linksReport: boolean },
): string {
  const at = flow.name.lastIndexOf('/') + 1;
  const name = `<span class="soft">${esc(flow.name.slice(0, at))}</span><b>${esc(flow.name.slice(at))}</b>`;
  const title = linksReport && flow.report !== null ? `<a href="${esc(link(flow.report))}">${name}</a>` : name;
  const tags = flow.tags.map((tag) => ` <span class="soft">${esc(tag)}</span>`).join('');
  const marks = [
    ...(state === 'quarantined' ? ['quarantined'] : []),
    ...(flow.history === null ? [] : [historyText(flow.history)]),
  ].map((mark) => `<span class="pill ${TONES[state]}">${esc(mark)}</span>`);
  return `<span class="${TONES[state]}" title="${labelOf(state)}">${SIGNS[state]}</span><span class="name">${title}${tags}</span>
<span class="marks">${marks.join('')}</span><span class="time">${sentence}</span>`;
}

function countOf(counts: SuiteCounts, state: State): number {
  return state === 'not-run' ? counts.notRun : counts[state];
}

function labelOf(state: State): string {
  return state === 'not-run' ? 'not run' : state;
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
