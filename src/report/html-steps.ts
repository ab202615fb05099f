import type { Report } from '../protocol/report.js';
import { escapeMarkup as esc } from './escape.js';
import { count, formatDuration, shorten } from './format.js';
import type { ImageSource } from './images.js';

type Step = Report['steps'][number];

/** The page shows so many steps at most: the first half and the last; report.json has all. */
const MAX_STEPS = 2_000;
const MAX_RESULT = 2_000;
/** Units of the time axis that bars are drawn on. */
const AXIS = 1000;

/** What the steps' section needs besides the report. */
export interface StepContext {
  readonly image: (name: string) => ImageSource | null;
  /** Pictures that the failures show: they stand there only. By name, the failure's anchor. */
  readonly shownAbove: ReadonlyMap<string, string>;
}

/** The steps as a timeline, grouped by the flow that they belong to. */
export function* stepsSection(report: Report, context: StepContext): Generator<string> {
  const { steps } = report;
  if (steps.length === 0) return;
  const axis = axisOf(report);
  yield `<h2 id="steps">Steps <small>${count(steps.length, 'step')} · open one for its result and picture</small></h2>`;
  yield overview(report, axis);
  yield '<div class="rows">';
  const leftOut = Math.max(0, steps.length - MAX_STEPS);
  let group: string | null = null;
  for (const [index, step] of steps.entries()) {
    if (leftOut > 0 && index >= MAX_STEPS / 2 && index < MAX_STEPS / 2 + leftOut) {
      if (index === MAX_STEPS / 2)
        yield `<p class="group">${count(leftOut, 'step')} left out here; see report.json</p>`;
      continue;
    }
    const title = groupOf(step);
    if (title !== group) yield `<div class="group text">${esc(title)}</div>`;
    group = title;
    yield stepRow(step, axis, context);
  }
  yield '</div>';
}

function groupOf(step: Step): string {
  const attempt = step.attempt === undefined ? '' : `attempt ${step.attempt} · `;
  if (step.flow !== undefined) return `${attempt}flow ${step.flow}`;
  return `${attempt}${step.kind === 'model' ? 'model' : 'script'}`;
}

function stepRow(step: Step, axis: Axis, context: StepContext): string {
  const failed = step.error !== undefined;
  const place =
    step.line === undefined ? '' : ` · line ${step.line}${step.column === undefined ? '' : `:${step.column}`}`;
  const above = step.screenshot === null ? undefined : context.shownAbove.get(step.screenshot);
  const image = step.screenshot === null || above !== undefined ? null : context.image(step.screenshot);
  const result = step.result === undefined ? '' : pretty(step.result);
  return `<details class="step" id="step-${step.index}"><summary>${mark(!failed)}<span class="n">${step.index}</span>
<code class="js">${esc(shorten(step.js, 500))}</code>${bar(step, axis)}<span class="time">${formatDuration(step.durationMs)}</span>
${image !== null && 'inline' in image ? `<img class="shot" src="${image.inline}" alt="The page after step ${step.index}">` : ''}
${step.error === undefined ? '' : `<span class="why bad text">${esc(step.error.code)}: ${esc(shorten(step.error.error, 600))}</span>`}
</summary><div class="more"><p class="soft text">${esc(shorten(step.title, 300))}<br>${pageLink(step.url)}${place}</p>
${image !== null && 'link' in image ? `<p><a href="${esc(image.link)}">Screenshot</a></p>` : ''}
${above === undefined ? '' : `<p><a href="#${above}">The picture stands with the failure</a></p>`}
${result === '' ? '' : `<pre>${esc(shorten(result, MAX_RESULT))}</pre>`}
${step.error?.details === undefined ? '' : `<pre>${esc(shorten(pretty(step.error.details), MAX_RESULT))}</pre>`}
</div></details>`;
}

/** A tick or a cross that is also read aloud. */
export function mark(good: boolean): string {
  return good ? '<span class="good" title="passed">✓</span>' : '<span class="bad" title="failed">✗</span>';
}

/** Only an address of the web becomes a link: `javascript:` and its like stay text. */
export function pageLink(url: string): string {
  const text = esc(shorten(url, 300));
  return /^https?:\/\//i.test(url)
    ? `<a href="${esc(url)}" rel="noreferrer noopener">${text}</a>`
    : `<span>${text}</span>`;
}

interface Axis {
  readonly startMs: number;
  readonly spanMs: number;
}

function axisOf(report: Report): Axis {
  const begins = report.steps.map(beginOf);
  const startMs = Math.min(Date.parse(report.startedAt ?? '') || Number.POSITIVE_INFINITY, least(begins));
  const last = report.steps.at(-1);
  const endMs = Math.max(startMs + report.durationMs, last === undefined ? 0 : Date.parse(last.at));
  return { startMs, spanMs: Math.max(1, endMs - startMs) };
}

/** A step is told of when it is known whether there is a picture of it, which may be later than its end. */
function beginOf(step: Step): number {
  return step.startedAt === undefined ? Date.parse(step.at) - step.durationMs : Date.parse(step.startedAt);
}

/** Without spreading: there may be 100,000 steps. */
function least(numbers: readonly number[]): number {
  return numbers.reduce((least, next) => Math.min(least, next), Number.POSITIVE_INFINITY);
}

function rect(step: Step, { startMs, spanMs }: Axis, height: number): string {
  const width = Math.max(2, (step.durationMs / spanMs) * AXIS);
  const x = Math.max(0, Math.min(AXIS - width, ((beginOf(step) - startMs) / spanMs) * AXIS));
  const failed = step.error === undefined ? '' : ' class="bad"';
  return `<rect${failed} x="${x.toFixed(1)}" y="0" width="${width.toFixed(1)}" height="${height}"/>`;
}

function bar(step: Step, axis: Axis): string {
  return `<svg class="bar" viewBox="0 0 ${AXIS} 8" preserveAspectRatio="none" aria-hidden="true">${rect(step, axis, 8)}</svg>`;
}

function overview(report: Report, axis: Axis): string {
  const rects = report.steps.slice(-MAX_STEPS).map((step) => rect(step, axis, 26));
  return `<svg class="overview" viewBox="0 0 ${AXIS} 26" preserveAspectRatio="none" role="img" aria-label="When the steps ran">${rects.join('')}</svg>
<div class="axis"><span>0</span><span>${formatDuration(axis.spanMs)}</span></div>`;
}

function pretty(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}
