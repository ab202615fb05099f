import { counted } from '../../protocol/counted.js';
import { ownScreenshot } from '../../protocol/own-screenshot.js';
import type { Report } from '../../protocol/report/report.js';
import { formatDuration } from '../../protocol/times.js';
import { escapeMarkup as esc } from '../escape.js';
import { stepsBefore } from '../failure-evidence.js';
import { shorten } from '../format.js';
import type { ImageSource } from '../images.js';

type Step = Report['steps'][number];
type ModelCall = Report['modelCalls'][number];

/** Steps on the page at most: the first half and the last half; report.json has all. */
const MAX_STEPS = 2_000;
const MAX_RESULT = 2_000;
/** The width of the time axis in SVG units. */
const AXIS = 1000;
/** The strip above the steps, in SVG units. */
const OVERVIEW = { height: 26, inset: 9 };

/** What the steps' section needs besides the report. */
export interface StepContext {
  /** A step's number in its attempt. */
  readonly numberOf: (step: Step) => number;
  readonly image: (name: string) => ImageSource | null;
  /** Pictures that are shown with the failures, and only there: the failure's anchor by picture name. */
  readonly shownAbove: ReadonlyMap<string, string>;
}

/** A timeline of the steps and the model's answers, grouped by flow. */
export function* stepsSection(report: Report, pictures: Omit<StepContext, 'numberOf'>): Generator<string> {
  const { steps, modelCalls } = report;
  const context = { ...pictures, numberOf: numbersOf(report) };
  const rows: readonly Row[] = [
    ...steps.map((step): Row => ({ beginMs: beginOf(step), group: groupOf(step), step })),
    ...modelCalls.map((call): Row => ({ beginMs: Date.parse(call.startedAt), group: groupOfCall(call), call })),
  ].sort((one, other) => one.beginMs - other.beginMs);
  if (rows.length === 0) return;
  const axis = axisOf(report, rows);
  const calls = modelCalls.length === 0 ? '' : ` · ${counted(modelCalls.length, 'model call')}`;
  yield `<h2 id="steps">Steps <small>${counted(steps.length, 'step')}${calls} · open one for its result and screenshot</small></h2>`;
  yield overview(report, axis);
  yield '<div class="rows">';
  const leftOut = Math.max(0, rows.length - MAX_STEPS);
  let group: string | null = null;
  const shown = new Map<string, Step>();
  for (const [index, row] of rows.entries()) {
    if (leftOut > 0 && index >= MAX_STEPS / 2 && index < MAX_STEPS / 2 + leftOut) {
      if (index === MAX_STEPS / 2) yield `<p class="group">${counted(leftOut, 'step')} not shown; see report.json</p>`;
      continue;
    }
    if (row.group !== group) yield `<div class="group text">${esc(row.group)}</div>`;
    group = row.group;
    yield 'step' in row ? stepRow(row.step, axis, context, shown) : callRow(row.call, axis);
  }
  yield '</div>';
}

/** The numbers of steps: each attempt counts from 1. */
export function numbersOf({ steps }: Report): (step: Step) => number {
  const before = new Map<number | undefined, number>();
  return (step) => {
    const known = before.get(step.attempt) ?? stepsBefore(steps, step.attempt);
    before.set(step.attempt, known);
    return step.index - known;
  };
}

type Row = { readonly beginMs: number; readonly group: string } & (
  | { readonly step: Step }
  | { readonly call: ModelCall }
);

function groupOf(step: Step): string {
  const attempt = step.attempt === undefined ? '' : `attempt ${step.attempt} · `;
  if (step.flow !== undefined) return `${attempt}flow ${step.flow}`;
  return `${attempt}${step.kind === 'model' ? 'model' : 'script'}`;
}

function groupOfCall({ attempt }: ModelCall): string {
  return `${attempt === undefined ? '' : `attempt ${attempt} · `}model`;
}

function callRow(call: ModelCall, axis: Axis): string {
  const { tools, text, tokens, error, nudges } = call;
  const [first] = tools;
  const line = first === undefined ? text || 'no answer' : `${first.name} ${first.source}`;
  const spent = counted(tokens.input + tokens.output, 'token');
  const shown = tools.map(({ name, source, answer }) => {
    const answerText =
      answer === null
        ? ''
        : `${answer.ok ? '' : '<p class="bad">✗ failed</p>'}<pre${answer.ok ? '' : ' class="wrong"'}>${esc(shorten(answer.text, MAX_RESULT)) || 'no result'}</pre>`;
    return `<p class="soft">${esc(name)}</p><pre class="asked">${esc(shorten(source, MAX_RESULT))}</pre>${answerText}`;
  });
  return `<details class="step call"><summary><span class="who" title="the model">✦</span><span class="n">${call.call}</span>
<code class="js">${esc(shorten(line, 500))}</code>${bar({ beginMs: Date.parse(call.startedAt), durationMs: call.durationMs, failed: error !== undefined }, axis)}<span class="time">${formatDuration(call.durationMs)}</span>
<span class="spent soft">${esc(call.model)} · ${spent}</span>
${error === undefined ? '' : `<span class="why bad text">${esc(error.code)}: ${esc(shorten(error.error, 600))}</span>`}
</summary><div class="more">${text === '' ? '' : `<p class="text">${esc(text)}</p>`}${shown.join('')}
${nudges.map((one) => `<p class="soft text">Sent to the model: ${esc(one)}</p>`).join('')}</div></details>`;
}

/** @param shown the steps at which pictures were shown so far, by picture name */
function stepRow(step: Step, axis: Axis, context: StepContext, shown: Map<string, Step>): string {
  const failed = step.error !== undefined;
  const place =
    step.line === undefined ? '' : ` · line ${step.line}${step.column === undefined ? '' : `:${step.column}`}`;
  const screenshot = ownScreenshot(step);
  const above = screenshot === null ? undefined : context.shownAbove.get(screenshot);
  const earlier = screenshot === null ? undefined : shown.get(screenshot);
  const number = context.numberOf(step);
  if (screenshot !== null && earlier === undefined) shown.set(screenshot, step);
  const isHere = above === undefined && earlier === undefined;
  const image = screenshot !== null && isHere ? context.image(screenshot) : null;
  const result = step.result === undefined ? '' : pretty(step.result);
  return `<details class="step" id="step-${step.index}"><summary>${mark(!failed)}<span class="n">${number}</span>
<code class="js">${esc(shorten(step.js, 500))}</code>${bar(spanOf(step), axis)}<span class="time">${formatDuration(step.durationMs)}</span>
${image !== null && 'inline' in image ? `<img class="shot" src="${image.inline}" alt="The page after step ${number}">` : ''}
${step.error === undefined ? '' : `<span class="why bad text">${esc(step.error.code)}: ${esc(shorten(step.error.error, 600))}</span>`}
</summary><div class="more"><p class="soft text">${esc(shorten(step.title, 300))}<br>${pageLink(step.url)}${place}</p>
${image !== null && 'link' in image ? `<p><a href="${esc(image.link)}">Screenshot</a></p>` : ''}
${above === undefined ? '' : `<p><a href="#${above}">The screenshot is with the failure</a></p>`}
${above !== undefined || earlier === undefined ? '' : `<p><a href="#step-${earlier.index}">Same as after step ${context.numberOf(earlier)}</a></p>`}
${laterPicture(step)}${result === '' ? '' : `<pre>${esc(shorten(result, MAX_RESULT))}</pre>`}
${step.error?.details === undefined ? '' : `<pre>${esc(shorten(pretty(step.error.details), MAX_RESULT))}</pre>`}
</div></details>`;
}

/** Links to a picture that was taken too late, with a note. */
function laterPicture({ screenshot, screenshotStep }: Step): string {
  if (screenshot === null || screenshotStep === undefined) return '';
  const href = `screenshots/${encodeURIComponent(screenshot)}`;
  return `<p class="soft">The next step started before a screenshot was taken. <a href="${esc(href)}">One taken at step ${screenshotStep}</a></p>`;
}

/** A tick or a cross that screen readers read, too. */
export function mark(good: boolean): string {
  return good ? '<span class="good" title="passed">✓</span>' : '<span class="bad" title="failed">✗</span>';
}

/** Only http and https addresses become links: `javascript:` and the like stay text. */
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

function axisOf(report: Report, [first]: readonly Row[]): Axis {
  const startMs = Math.min(Date.parse(report.startedAt ?? '') || Number.POSITIVE_INFINITY, first?.beginMs ?? 0);
  const last = report.steps.at(-1);
  const endMs = Math.max(startMs + report.durationMs, last === undefined ? 0 : Date.parse(last.at));
  return { startMs, spanMs: Math.max(1, endMs - startMs) };
}

/** A step's event is emitted when its picture is ready, which may be after the step's end. */
function beginOf(step: Step): number {
  return step.startedAt === undefined ? Date.parse(step.at) - step.durationMs : Date.parse(step.startedAt);
}

/** A bar on the time axis. */
interface Span {
  readonly beginMs: number;
  readonly durationMs: number;
  readonly failed: boolean;
}

function spanOf(step: Step): Span {
  return { beginMs: beginOf(step), durationMs: step.durationMs, failed: step.error !== undefined };
}

/** @param inset how much lower it is than the space, unless it failed: without colours, its height tells it from others */
function rect(
  { beginMs, durationMs, failed }: Span,
  { startMs, spanMs }: Axis,
  { height, inset = 0, tone = '' }: { readonly height: number; readonly inset?: number; readonly tone?: string },
): string {
  const width = Math.max(2, (durationMs / spanMs) * AXIS);
  const x = Math.max(0, Math.min(AXIS - width, ((beginMs - startMs) / spanMs) * AXIS));
  const look = failed ? 'bad' : tone;
  const top = failed ? 0 : inset;
  return `<rect${look === '' ? '' : ` class="${look}"`} x="${x.toFixed(1)}" y="${top}" width="${width.toFixed(1)}" height="${height - top}"/>`;
}

function bar(span: Span, axis: Axis): string {
  return `<svg class="bar" viewBox="0 0 ${AXIS} 8" preserveAspectRatio="none" aria-hidden="true">${rect(span, axis, { height: 8 })}</svg>`;
}

function overview(report: Report, axis: Axis): string {
  const calls = report.modelCalls.map(({ startedAt, durationMs, error }) =>
    rect({ beginMs: Date.parse(startedAt), durationMs, failed: error !== undefined }, axis, {
      ...OVERVIEW,
      tone: 'model',
    }),
  );
  const rects = [...calls, ...report.steps.slice(-MAX_STEPS).map((step) => rect(spanOf(step), axis, OVERVIEW))];
  return `<svg class="overview" viewBox="0 0 ${AXIS} ${OVERVIEW.height}" preserveAspectRatio="none" role="img" aria-label="When the steps ran">${rects.join('')}</svg>
<div class="axis"><span>0</span><span>${formatDuration(axis.spanMs)}</span></div>`;
}

function pretty(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}
