import { escapeMarkup as esc } from '#troupe/report/escape.js';
import { passed, type RequestResult } from './result.js';

/** The part of a result that JUnit needs, so that a run of thousands keeps no bodies. */
export interface JUnitCase {
  readonly className: string;
  readonly name: string;
  readonly seconds: number;
  readonly failure: string | null;
  /** The request got no answer, or a script failed, which no test reports. */
  readonly error: string | null;
  readonly skipped: boolean;
}

/** A test case for each test; one for the request itself if it has no tests or failed. */
export function junitCases(collection: string, result: RequestResult): JUnitCase[] {
  const className = [collection, ...result.path].join(' / ');
  const seconds = result.durationMs / 1000;
  const base = { className, seconds: 0, failure: null, error: null, skipped: false };
  const own: JUnitCase[] =
    result.tests.length > 0 && result.error === null
      ? []
      : [{ ...base, name: result.request.name, seconds, error: result.error?.error ?? null }];
  return [
    ...own,
    ...result.tests.map(({ name, status, message }, index) => ({
      ...base,
      name,
      seconds: index === 0 && own.length === 0 ? seconds : 0,
      failure: status === 'failed' ? message || 'failed' : null,
      skipped: status === 'skipped',
    })),
  ];
}

/** The `junit.xml` of a run, for CI servers. */
export function renderJUnit(collection: string, cases: readonly JUnitCase[]): string {
  const count = (holds: (one: JUnitCase) => boolean): number => cases.filter(holds).length;
  const seconds = cases.reduce((sum, one) => sum + one.seconds, 0);
  const counts = `tests="${cases.length}" failures="${count(({ failure }) => failure !== null)}" errors="${count(({ error }) => error !== null)}" skipped="${count(({ skipped }) => skipped)}" time="${seconds.toFixed(3)}"`;
  const body = cases.map((one) => `    ${caseElement(one)}\n`).join('');
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites ${counts}>
  <testsuite name="${esc(collection)}" ${counts}>
${body}  </testsuite>
</testsuites>
`;
}

function caseElement({ className, name, seconds, failure, error, skipped }: JUnitCase): string {
  const head = `<testcase classname="${esc(className)}" name="${esc(name)}" time="${seconds.toFixed(3)}"`;
  if (skipped) return `${head}><skipped/></testcase>`;
  if (error !== null) return `${head}><error message="${esc(error)}"/></testcase>`;
  if (failure !== null) return `${head}><failure message="${esc(failure)}"/></testcase>`;
  return `${head}/>`;
}

/** One line for the request, and one for each test that did not pass. */
export function resultLines(result: RequestResult): string[] {
  const { path, request, response, error, tests, unresolved, console: written } = result;
  const answer = response === null ? 'no answer' : `${response.status} ${response.statusText}`.trim();
  const size = response === null ? '' : `, ${response.bodyBytes} bytes, ${Math.round(response.durationMs)} ms`;
  return [
    `${passed(result) ? 'ok    ' : 'FAILED'} ${path.join(' / ')}: ${request.method} ${request.url} -> ${answer}${size}`,
    ...written.map((line) => `         ${line}`),
    ...(error === null ? [] : [`         ${error.error}`]),
    ...tests.flatMap(({ name, status, message }) => {
      if (status === 'passed') return [`       + ${name}`];
      return [status === 'skipped' ? `       - ${name} (skipped)` : `       x ${name}: ${message}`];
    }),
    ...(unresolved.length === 0 ? [] : [`         no value for ${unresolved.map((name) => `{{${name}}}`).join(', ')}`]),
  ];
}
