import type { Failure } from '../protocol/report/failure.js';
import type { Report } from '../protocol/report/report.js';
import { shorten } from './format.js';

type Step = Report['steps'][number];

/** Steps that a failure lists before the one that failed. */
const MAX_STEPS = 5;
const MAX_JS = 300;
const MAX_OUTCOME = 200;
const MAX_VALUE = 120;
/** The options at the end of an assertion. */
const OPTIONS = /(?:, )?\{timeout: \d+\}\)$/;

/**
 * The steps before a failure, with what came of each.
 * @param troublesIn errors of the page, and failed requests, that came in a step
 */
export function earlierSteps(
  earlier: readonly Step[],
  troublesIn: (index: number) => readonly string[],
): Failure['earlierSteps'] {
  if (earlier.length === 0) return undefined;
  return earlier.slice(-MAX_STEPS).map((step, position, shown) => {
    const before = shown[position - 1] ?? earlier.at(-MAX_STEPS - 1);
    const troubles = troublesIn(step.index).map((text) => shorten(text, MAX_OUTCOME));
    const outcome = [shorten(outcomeOf(step, before), MAX_OUTCOME), ...troubles].join('; ');
    return { index: step.index, js: shorten(step.js, MAX_JS), outcome };
  });
}

/** The last of the earlier steps that found the element of the failed one, or saw the value that it expected. */
export function seenAtStep(
  failed: Step,
  earlier: readonly Step[],
  { locator, expected }: Pick<Failure, 'locator' | 'expected'>,
): number | undefined {
  if (locator === undefined) return undefined;
  const call = failed.js.replace(OPTIONS, '');
  const named = `(${JSON.stringify(locator)}`;
  const had = (step: Step): boolean => {
    if (step.error !== undefined) return false;
    if (expected === undefined) return step.js.includes(named);
    if (step.js.replace(OPTIONS, '') === call) return true;
    return step.js.startsWith(`agent.text${named}`) && step.result === expected;
  };
  return earlier.findLast(had)?.index;
}

/** The step that was under way at a time, or had ended last; undefined if none had begun. */
export function stepAt(steps: readonly Step[], at: string): number | undefined {
  return steps.findLast((step) => (step.startedAt ?? step.at) <= at)?.index;
}

function outcomeOf(step: Step, before: Step | undefined): string {
  const { error, result, url, title } = step;
  if (error !== undefined) return `failed: ${error.code}: ${error.error}`;
  const member = (name: string): unknown => Reflect.get(Object(result), name);
  const parts: string[] = [];
  const status = member('status');
  if (before?.url !== url || status !== undefined) {
    parts.push(
      `page ${url}${title === '' ? '' : ` "${title}"`}${typeof status === 'number' ? `, status ${status}` : ''}`,
    );
  }
  const dialog = member('dialog');
  if (dialog !== undefined && dialog !== null) {
    parts.push(`opened a dialog: ${valueText(Reflect.get(Object(dialog), 'message'))}`);
  }
  if (member('newTab') !== undefined) parts.push('opened a tab');
  if (member('download') !== undefined) parts.push('began a download');
  const changed = member('changed');
  if (parts.length === 0 && changed !== undefined)
    parts.push(changed === true ? 'the page changed' : 'nothing changed');
  const waitedMs = member('waitedMs');
  if (typeof waitedMs === 'number') parts.push(`true after ${waitedMs} ms`);
  if (parts.length === 0 && result !== undefined && result !== null) parts.push(valueText(result));
  return parts.length === 0 ? 'done' : parts.join('; ');
}

function valueText(value: unknown): string {
  return shorten(JSON.stringify(value) ?? '', MAX_VALUE);
}
