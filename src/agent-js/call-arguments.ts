import { parseLocator } from '../page/locator.js';
import { TroupeError } from '../protocol/errors.js';

/*
 * What scripts give the calls of `agent`, read before any browser is asked. Everything that is written wrongly is
 * SCRIPT_ERROR, and says how it is written.
 */

/** What calls take, and what somebody may want who gives one more than it takes. */
const TAKES: {
  readonly [method: string]: { readonly takes: string; readonly count: number; readonly instead?: string };
} = {
  go: { takes: 'a URL alone', count: 1 },
  act: { takes: 'a locator, an action, a value and options alone', count: 4 },
  text: { takes: 'a locator alone', count: 1 },
  read: { takes: 'a locator alone', count: 1 },
  value: { takes: 'a locator alone', count: 1 },
  screenshot: { takes: 'a title, or {title, within, marks}', count: 1 },
  expectScreenshot: { takes: 'a name and options alone', count: 2 },
  audit: { takes: 'options alone', count: 1 },
  pdf: { takes: 'options alone', count: 1 },
  vitals: { takes: 'options alone', count: 1 },
  expectLook: { takes: 'a name and options alone', count: 2 },
  page: { takes: 'JavaScript alone', count: 1 },
  back: { takes: 'nothing', count: 0, instead: 'it goes back by one page' },
  tabs: { takes: 'nothing', count: 0, instead: 'agent.tab(index) goes to a tab' },
  dialogs: { takes: 'nothing', count: 0, instead: 'an open dialog is acted on: agent.act("{dialog}OK", "click")' },
  downloads: { takes: 'nothing', count: 0, instead: 'it lists them' },
};

/** Refuses what would be left out of account. Numbers and arrays may come from `map(agent.text)`. */
export function refuseMore(method: string, args: readonly unknown[]): void {
  const known = TAKES[method];
  const more = known === undefined ? null : args[known.count];
  if (known === undefined || more === null || more === undefined) return;
  if (known.count > 0 && (typeof more !== 'object' || Array.isArray(more))) return;
  const instead = known.instead === undefined ? '' : `; ${known.instead}`;
  throw misuse(`agent.${method} takes ${known.takes}: ${shown(more)} was given${instead}`);
}

/** Options of `agent.look`. */
export function lookOptions(options: unknown): { full: boolean; within: string | null } {
  const { full = false, within } = membersOf(options, 'agent.look', ['full', 'within']);
  if (typeof full !== 'boolean') throw misuse(`full is true or false, not ${shown(full)}`);
  return { full, within: locatorOf(within, 'look') };
}

/** A list of locators. */
export function locatorsOf(given: unknown): readonly string[] {
  if (!Array.isArray(given)) throw misuse(`agent.recount takes locators, not ${shown(given)}`);
  return given.map((one) => textOf(one, 'agent.recount takes locators'));
}

/** What `agent.screenshot` takes: a title, or options. */
export function screenshotOptions(value: unknown): { title: string | null; within: string | null; marks: boolean } {
  // Any word is CSS too.
  const locator = typeof value === 'string' ? parseLocator(value) : undefined;
  if (locator !== undefined && locator.kind !== 'css') {
    const within = JSON.stringify(value);
    throw misuse(
      `agent.screenshot takes a title; a picture of ${within} alone is agent.screenshot({within: ${within}})`,
    );
  }
  if (value === null || value === undefined || typeof value !== 'object') {
    return { title: value === null || value === undefined ? null : titleOf(value), within: null, marks: false };
  }
  const { title, within, marks = false } = membersOf(value, 'agent.screenshot', ['title', 'within', 'marks']);
  if (typeof marks !== 'boolean') throw misuse(`marks is true or false, not ${shown(marks)}`);
  return {
    title: title === null || title === undefined ? null : titleOf(title),
    within: locatorOf(within, 'screenshot'),
    marks,
  };
}

function titleOf(value: unknown): string {
  return textOf(value, 'agent.screenshot takes a title').slice(0, 200);
}

export function waitCondition(condition: unknown): string | number {
  if (typeof condition === 'number' && condition >= 0) return condition;
  if (typeof condition === 'string' && condition.replace(/^\s*!/, '').trim() !== '') return condition;
  throw misuse('agent.wait takes "navigation", "idle", a locator, "!" and a locator, or a number of milliseconds');
}

/** Milliseconds, where they are given. */
export function waitTimeout(options: unknown): number | undefined {
  const { timeout } = membersOf(options, 'agent.wait', ['timeout']);
  return timeoutOf(timeout);
}

export function timeoutOf(timeout: unknown): number | undefined {
  if (timeout === undefined || (typeof timeout === 'number' && timeout >= 0)) return timeout;
  throw misuse(`timeout is a number of milliseconds, not ${shown(timeout)}`);
}

export function tabIndex(index: unknown): number {
  if (typeof index === 'number') return index;
  throw misuse('agent.tab takes the index of a tab, as agent.tabs() lists them');
}

/** Null where none is given. */
export function locatorOf(value: unknown, method: string): string | null {
  return value === null || value === undefined ? null : textOf(value, `agent.${method} takes a locator`);
}

/** @param message what is wanted, for whoever gives something else */
export function textOf(value: unknown, message: string): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  const absent = value === null || value === undefined;
  throw misuse(absent ? message : `${message}, not ${shown(value)}`);
}

/** The members that options may have. Others are refused by name. */
export function membersOf<K extends string>(
  options: unknown,
  method: string,
  known: readonly K[],
): { readonly [member in K]?: unknown } {
  if (options === null || options === undefined) return {};
  if (typeof options !== 'object' || Array.isArray(options)) {
    throw misuse(`The options of ${method} are an object, not ${shown(options)}`);
  }
  const other = Object.keys(options).find((member) => !known.some((one) => one === member));
  if (other !== undefined) throw misuse(`${method} has no option ${shown(other)}; it has ${known.join(', ')}`);
  return options;
}

export function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** As its author would write it, cut. */
export function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'undefined').slice(0, 100);
}

/** A call that is written wrongly: no browser was asked. */
export function misuse(message: string): TroupeError {
  return new TroupeError('SCRIPT_ERROR', message);
}
