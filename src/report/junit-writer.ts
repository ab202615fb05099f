import { plainText } from '../base/plain-text.js';
import { PRODUCT_NAME } from '../protocol/product-name.js';
import type { Failure } from '../protocol/report/failure.js';
import { placeText } from '../protocol/report/failure-rows.js';
import { escapeMarkup as esc } from './escape.js';
import { shorten } from './format.js';

/** The longest message and name, in characters. */
const MAX_MESSAGE = 1_000;
const MAX_NAME = 200;

/**
 * How a test case ended. A failure is a result of what was tested; an error kept it from getting one. `message` is one
 * sentence, `text` has the details.
 */
export type CaseResult =
  | { readonly outcome: 'passed' }
  | { readonly outcome: 'skipped'; readonly message: string }
  | { readonly outcome: 'failure' | 'error'; readonly type: string; readonly message: string; readonly text: string };

/** The type of the error of a test case without a result. */
export const NOT_RUN = 'NOT_RUN';

/** The error of a test case that was not started, or did not end. */
export function notRun(message: string, type = NOT_RUN): CaseResult {
  return { outcome: 'error', type, message, text: '' };
}

/** How an earlier attempt failed. */
export interface Earlier {
  /** From 1. */
  readonly attempt: number;
  readonly failure: Failure;
}

/** A test case of a JUnit file. */
export interface TestCase {
  readonly name: string;
  /** Collectors group test cases by it; dots make packages. */
  readonly classname: string;
  readonly durationMs: number;
  readonly result: CaseResult;
  /** Failures of earlier attempts. */
  readonly earlier: readonly Earlier[];
  /** Lines of `system-out`. */
  readonly output: readonly string[];
}

/** A test suite of a JUnit file. */
export interface Suite {
  readonly name: string;
  readonly id: string;
  readonly durationMs: number;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Null values are omitted. */
  readonly properties: readonly (readonly [name: string, value: string | number | null])[];
  readonly cases: readonly TestCase[];
}

/**
 * A JUnit file, in the format of Jenkins' junit-10.xsd, which other collectors share. Failures of earlier attempts are written in the
 * format of Surefire: `flakyFailure` in a test case that finally passed, `rerunFailure` in one that did not.
 *
 * @param durationMs of all suites together, some of which may have run at the same time
 */
export function writeJUnit(suites: readonly Suite[], durationMs: number): string {
  const cases = suites.flatMap((suite) => suite.cases);
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="${PRODUCT_NAME}" ${countsOf(cases)} time="${seconds(durationMs)}">
${suites.map(suiteElement).join('\n')}
</testsuites>
`;
}

/** One suite for each class, in the order of their first test cases. A suite takes as long as its cases together. */
export function suitesByClass(common: Omit<Suite, 'name' | 'durationMs'>): readonly Suite[] {
  const classes = new Map<string, TestCase[]>();
  for (const one of common.cases) classes.set(one.classname, [...(classes.get(one.classname) ?? []), one]);
  return [...classes].map(([name, cases], index) => {
    const durationMs = cases.reduce((total, one) => total + one.durationMs, 0);
    return { ...common, name, id: index === 0 ? common.id : `${common.id}-${index + 1}`, durationMs, cases };
  });
}

/**
 * The class and the test name of a flow: `flows.shop` and `buy` for `shop/buy`. Collectors show classes as packages, so
 * that flows are grouped by folder.
 */
export function testNameOf(flow: string): Pick<TestCase, 'name' | 'classname'> {
  const segments = flow.split('/');
  const name = segments.pop() ?? flow;
  return { name, classname: ['flows', ...segments.map((segment) => segment.replaceAll('.', '_'))].join('.') };
}

function suiteElement({ name, id, durationMs, startedAt, properties, cases }: Suite): string {
  const skipped = cases.filter(({ result }) => result.outcome === 'skipped').length;
  const known = properties.flatMap(([key, value]) =>
    value === null ? [] : [`<property name="${esc(key)}" value="${esc(String(value))}"/>`],
  );
  return `<testsuite name="${esc(shorten(plainText(name), MAX_NAME))}" ${countsOf(cases)} skipped="${skipped}" time="${seconds(durationMs)}" timestamp="${startedAt.slice(0, 19)}" id="${esc(id)}">
${known.length === 0 ? '' : `<properties>\n${known.join('\n')}\n</properties>\n`}${cases.map(caseElement).join('\n')}
</testsuite>`;
}

function countsOf(cases: readonly TestCase[]): string {
  const numberOf = (outcome: CaseResult['outcome']) => cases.filter(({ result }) => result.outcome === outcome).length;
  return `tests="${cases.length}" failures="${numberOf('failure')}" errors="${numberOf('error')}"`;
}

function caseElement({ name, classname, durationMs, result, earlier, output }: TestCase): string {
  const again = result.outcome === 'passed' ? 'flakyFailure' : 'rerunFailure';
  const reruns = earlier.map(({ attempt, failure }) => {
    const place = placeText(failure);
    const text = `attempt ${attempt}${place === null ? '' : ` ${place}`}`;
    return element(again, { type: failure.code, message: failure.message }, text);
  });
  const out = output.length === 0 ? '' : element('system-out', {}, output.join('\n'));
  return `<testcase name="${esc(name)}" classname="${esc(classname)}" time="${seconds(durationMs)}">${resultElement(result)}${reruns.join('')}${out}</testcase>`;
}

function resultElement(result: CaseResult): string {
  if (result.outcome === 'passed') return '';
  if (result.outcome === 'skipped') return element('skipped', { message: result.message }, '');
  return element(result.outcome, { type: result.type, message: result.message }, result.text);
}

/** Control sequences go first: one that is cut off is not recognized. */
function element(name: string, attributes: Readonly<Record<string, string>>, text: string): string {
  const given = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${esc(shorten(plainText(value), MAX_MESSAGE))}"`,
  );
  const head = `<${name}${given.join('')}`;
  return text === '' ? `${head}/>` : `${head}>${esc(text)}</${name}>`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
