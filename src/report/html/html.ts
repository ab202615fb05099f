import { assertNever } from '../../base/assert-never.js';
import { counted } from '../../protocol/counted.js';
import { ownScreenshot } from '../../protocol/own-screenshot.js';
import type { Report } from '../../protocol/report/report.js';
import { stateMark, stateWord } from '../../protocol/state-text.js';
import { formatDuration, waitText } from '../../protocol/times.js';
import { escapeMarkup as esc } from '../escape.js';
import { type FailureList, type ListedFailure, listFailures } from '../failures.js';
import { formatBytes, formatInstant, shorten } from '../format.js';
import type { ImageSource } from '../images.js';
import { comparedFiles, comparedSection } from './compared.js';
import { failureBody } from './failure-body.js';
import { mark, pageLink, stepsSection } from './html-steps.js';
import { POLICY, STYLE } from './html-style.js';

/** Entries of a collapsed list (console, assertions); report.json has more. */
const MAX_LISTED = 500;
/** The longest text that a failure shows of its evidence. */
const MAX_EVIDENCE = 2_000;

/**
 * report.html in pieces: one self-contained file, failures first. It contains no script, and its content security
 * policy
 * allows none; all text from pages and scripts is escaped.
 *
 * @param image returns how to show a screenshot; called once for each, when it is needed
 */
export function* renderHtml(report: Report, image: (name: string) => ImageSource | null): Generator<string> {
  const list = listFailures(report);
  const title = titleOf(report);
  yield `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer">
<title>${esc(shorten(title, 80))} · ${report.outcome ?? report.status}</title><style>${STYLE}</style></head><body><main>`;
  yield head(report, title, list);
  const shownAbove = new Map<string, string>();
  yield* failuresSection(report, list, image, shownAbove);
  yield flowsSection(report);
  yield attemptsSection(report);
  yield deviationsSection(report);
  yield* stepsSection(report, { image, shownAbove });
  yield recordsSection(report);
  yield `<footer>Troupe session ${report.sessionId}</footer></main></body></html>\n`;
}

/** Screenshots in order of importance: those of failures, then those of all steps. */
export function wantedScreenshots(report: Report): Iterable<string> {
  const steps = listFailures(report).failures.map(({ step }) => step);
  const failed = steps.map((step) => (step === null ? null : ownScreenshot(step)));
  return [...steps.flatMap(comparedFiles), ...failed, ...report.steps.map(ownScreenshot)].filter(
    (name) => name !== null,
  );
}

/** The session's title: its name, the first line of its task, its flows, or its id. */
export function titleOf(report: Report): string {
  const [line = ''] = (report.prompt ?? '').trim().split('\n');
  const flows = report.flows.map(({ path }) => path).join(', ');
  return report.name ?? (line || flows || `Session ${report.sessionId}`);
}

function head(report: Report, title: string, { failures, more }: FailureList): string {
  const { tokens } = report;
  const passed = report.flows.filter(({ status }) => status === 'passed').length;
  const checks = report.assertions.length;
  const facts: readonly (readonly [string, string])[] = [
    ['Duration', formatDuration(report.durationMs)],
    ...waitFacts(report),
    ['Started', report.startedAt === null ? 'not yet' : formatInstant(report.startedAt)],
    ...(report.flows.length > 0 ? ([['Flows', `${passed} of ${report.flows.length} passed`]] as const) : []),
    ...(report.attempts.length > 0 ? ([['Attempts', String(report.attempts.length + 1)]] as const) : []),
    ['Steps', report.steps.length.toLocaleString('en')],
    ...(checks > 0
      ? ([['Assertions', `${report.assertions.filter(({ ok }) => ok).length} of ${checks} passed`]] as const)
      : []),
    ...(report.model === null ? [] : ([['Model', report.model]] as const)),
    ...(report.videoFailures ?? []).map(({ reason }) => ['Video', reason] as const),
    ...(report.iterations > 0 ? ([['Iterations', String(report.iterations)]] as const) : []),
    ...(tokens.input + tokens.output > 0
      ? ([['Tokens', `${tokens.input.toLocaleString('en')} in, ${tokens.output.toLocaleString('en')} out`]] as const)
      : []),
  ];
  const prompt = report.prompt?.trim() ?? '';
  const n = failures.length + more;
  const handled = report.status === 'completed';
  return `<header><span class="pill ${toneOf(report)}">${esc(report.stateText ?? stateWord(report.status))}</span>
${n > 0 ? `<a class="pill ${handled ? '' : 'bad'}" href="#failures">${counted(n, 'failure')}${handled ? ' handled' : ''}</a>` : ''}
<h1 class="text">${esc(shorten(title, 200))}</h1>
${prompt !== '' && prompt !== title ? `<p class="text soft">${esc(shorten(prompt, 1_500))}</p>` : ''}
${report.summary === null ? '' : `<p class="text">${esc(shorten(report.summary, 4_000))}</p>`}
<dl class="facts">${facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${esc(value)}</dd></div>`).join('')}</dl></header>`;
}

/** How long it waited, if that is worth a word. */
function waitFacts({ queuedMs = 0, pausedMs = 0 }: Report): readonly (readonly [string, string])[] {
  const text = waitText({ queuedMs, pausedMs });
  return text === null ? [] : [['Waited', text]];
}

function* failuresSection(
  report: Report,
  { failures, more }: FailureList,
  image: (name: string) => ImageSource | null,
  shownAbove: Map<string, string>,
): Generator<string> {
  if (failures.length === 0) return;
  const recovered = report.status === 'completed' ? ' <small>the run continued and passed</small>' : '';
  yield `<h2 id="failures">Failures${recovered}</h2>`;
  for (const [index, listed] of failures.entries()) {
    const screenshot = listed.step === null ? null : ownScreenshot(listed.step);
    const anchor = `failure-${index + 1}`;
    const first = screenshot !== null && !shownAbove.has(screenshot);
    const picture = first ? image(screenshot) : null;
    if (first && picture !== null) shownAbove.set(screenshot, anchor);
    yield failureCard(listed, anchor, picture, comparedSection(listed.step, image));
  }
  if (more > 0) yield `<p class="soft">${counted(more, 'more script error')} in the steps below</p>`;
}

function failureCard(listed: ListedFailure, anchor: string, picture: ImageSource | null, compared: string): string {
  const { kind, failure, step } = listed;
  const shown =
    picture === null
      ? ''
      : pictureOf(picture, step?.error === undefined ? 'Last screenshot of the page' : 'Page when it failed');
  return `<section class="card failure${kind === 'interrupted' ? ' warn-edge' : ''}" id="${anchor}"><header>
<span class="pill bad">${esc(failure.code)}</span><h3 class="text">${failureTitle(listed)}</h3></header>
<p class="message">${esc(shorten(failure.message, 4_000))}</p>
${failureBody(failure, { longest: MAX_EVIDENCE, stepHref: (index) => `#step-${index}` })}${compared}${shown}</section>`;
}

function failureTitle({ kind, subject }: ListedFailure): string {
  const text = esc(shorten(subject, 300));
  switch (kind) {
    case 'flow':
      return `Flow ${text} failed`;
    case 'interrupted':
      return `Flow ${text} was interrupted`;
    case 'session':
      return `${text} failed`;
    case 'script':
      return `<code>${text}</code>`;
    default:
      return assertNever(kind);
  }
}

function pictureOf(picture: ImageSource, alt: string): string {
  if ('inline' in picture) return `<img src="${picture.inline}" alt="${alt}">`;
  return `<p><a href="${esc(picture.link)}">Screenshot</a></p>`;
}

const SIGNS = { interrupted: '⏸', repaired: stateMark('repaired'), skipped: stateMark('skipped') } as const;

function flowsSection(report: Report): string {
  if (report.flows.length === 0) return '';
  const rows = report.flows.map((flow) => {
    const sign =
      flow.status === 'passed' || flow.status === 'failed'
        ? mark(flow.status === 'passed')
        : `<span class="warn" title="${flow.status}">${SIGNS[flow.status]}</span>`;
    return `<div class="flow">${sign}<span class="text">${esc(flow.path)}${flow.line === undefined ? '' : `:${flow.line}`}</span>
<span class="soft">${formatDuration(flow.durationMs)}</span></div>`;
  });
  return `<h2>Flows</h2><div class="rows">${rows.join('')}</div>`;
}

function attemptsSection({ attempts }: Report): string {
  if (attempts.length === 0) return '';
  const rows = attempts.map(
    ({ attempt, endedAt, durationMs, error, flows }) =>
      `<div class="flow">${mark(false)}<span class="text">Attempt ${attempt}</span><span class="soft">${durationMs === undefined ? '' : `${formatDuration(durationMs)}, `}${formatInstant(endedAt)}</span>
<p class="soft text">${esc(error.code)}: ${esc(shorten(error.error, 1_000))}</p>
${flows.length === 0 ? '' : `<p class="soft text">${flows.map(({ path, status }) => `${esc(path)} ${status}`).join(', ')}</p>`}</div>`,
  );
  return `<h2>Earlier attempts <small>each in a fresh browser</small></h2><div class="rows">${rows.join('')}</div>`;
}

function deviationsSection(report: Report): string {
  if (report.deviations.length === 0) return '';
  const rows = report.deviations.map(
    ({ flow, line, text, error, healed }) =>
      `<div class="flow"><span class="warn">!</span><span class="mono">${esc(flow)}${line === null ? '' : `:${line}`}</span><span></span>
<p class="soft text">${esc(error.code)}: ${esc(shorten(error.error, 500))}</p><p class="text">${esc(shorten(text, 2_000))}</p>
${healed === null ? '' : `<p><a href="${esc(healed)}">Repaired flow</a> · <a href="${esc(healed.replace(/\.[jt]s$/, '.patch'))}">patch</a></p>`}</div>`,
  );
  return `<h2>Deviations <small>where the model departed from a flow</small></h2><div class="rows">${rows.join('')}</div>`;
}

function recordsSection(report: Report): string {
  const checks = [...report.assertions]
    .sort((a, b) => Number(a.ok) - Number(b.ok))
    .map(
      (
        one,
      ) => `${mark(one.ok)} ${esc(shorten(one.message ?? (one.ok ? 'match' : (one.failures?.[0]?.message ?? 'match')), 500))}
<span class="soft mono">${esc([one.flow, one.line].filter((part) => part !== undefined).join(':'))}</span>`,
    );
  const lines = report.console.map(
    (one) =>
      `<span class="${one.level === 'error' ? 'bad' : one.level === 'warn' ? 'warn' : 'soft'}">${one.level}</span> <span class="mono text">${esc(shorten(one.text, 2_000))}</span>`,
  );
  const pageErrors = report.pageErrors.map(
    (one) => `<span class="mono text bad">${esc(shorten(one.text, 2_000))}</span><br>${pageLink(one.url)}`,
  );
  const files = report.artifacts.map(
    (one) =>
      `<a href="${one.path.split('/').map(encodeURIComponent).map(esc).join('/')}">${esc(one.path)}</a> <span class="soft">${formatBytes(one.bytes)}</span>`,
  );
  const folds = [
    fold('Assertions', checks),
    fold('Page errors', pageErrors),
    fold('Console', lines),
    fold('Files', files),
  ].join('');
  return folds === '' ? '' : `<h2>Details</h2><div class="rows">${folds}</div>`;
}

function fold(title: string, items: readonly string[]): string {
  if (items.length === 0) return '';
  const shown = items.slice(0, MAX_LISTED).map((item) => `<li>${item}</li>`);
  const rest =
    items.length > MAX_LISTED
      ? `<li class="soft">${(items.length - MAX_LISTED).toLocaleString('en')} more; see report.json</li>`
      : '';
  return `<details class="fold"><summary>${title} <span class="soft">${items.length.toLocaleString('en')}</span></summary><ul>${shown.join('')}${rest}</ul></details>`;
}

function toneOf({ outcome }: Report): string {
  switch (outcome) {
    case 'passed':
    case 'completed':
      return 'good';
    case 'failed':
      return 'bad';
    case 'flaky':
    case 'repaired':
    case 'stopped':
    case 'not run':
      return 'warn';
    default:
      return '';
  }
}
