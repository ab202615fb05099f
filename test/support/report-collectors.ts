import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Ajv } from 'ajv';
import { validate } from 'ctrf';
import { installOwnPackages } from './own-packages.js';

/** Packages that read reports, with a manifest of their own. */
export const COLLECTORS = join(import.meta.dirname, '../collectors');
const required = createRequire(join(COLLECTORS, 'package.json'));

/** Counts as a CTRF file has them. @throws if the file is not valid by the published schema */
export function checkCtrf(file: string): { readonly [name: string]: number } {
  const report: { readonly results: { readonly summary: { readonly [name: string]: number } } } = JSON.parse(
    readFileSync(file, 'utf8'),
  );
  const { errors } = validate(report);
  if (errors !== undefined && errors.length > 0) throw new Error(`${file}: ${JSON.stringify(errors)}`);
  const { tests = 0, passed = 0, failed = 0, flaky = 0 } = report.results.summary;
  return { tests, passed, failed, flaky };
}

/** The parts of the readers' interfaces that are used here. */
interface Junit2json {
  parse(
    xml: string,
  ): Promise<{ readonly testsuite: readonly { readonly testcase: readonly { readonly failure?: unknown }[] }[] }>;
}
interface TestResultsParser {
  parse(options: { readonly type: 'junit'; readonly files: readonly string[] }): {
    readonly total: number;
    readonly failed: number;
    readonly suites: readonly { readonly cases: readonly unknown[] }[];
  };
}

/** What is wrong with a HAR file by the schema of HAR 1.2; call it after {@link checkJunit}, which installs the schema. */
export function checkHar(file: string): readonly string[] {
  const schemas: { readonly [name: string]: object } = required('har-schema');
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  ajv.addMetaSchema(createRequire(import.meta.url)('ajv/dist/refs/json-schema-draft-06.json'));
  for (const [name, schema] of Object.entries(schemas)) if (name !== 'har') ajv.addSchema(schema);
  const check = ajv.compile(schemas.har ?? {});
  check(JSON.parse(readFileSync(file, 'utf8')));
  return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

interface Counts {
  readonly tests: number;
  readonly failed: number;
}

/** What two independent readers of JUnit count, by the reader's name. @throws if they cannot be installed */
export async function checkJunit(file: string): Promise<{ readonly [reader: string]: Counts }> {
  const missing = await installOwnPackages(COLLECTORS);
  if (missing !== false) throw new Error(missing);
  const { parse }: Junit2json = await import(pathToFileURL(required.resolve('junit2json')).href);
  const junit = await parse(readFileSync(file, 'utf8'));
  const cases = junit.testsuite.flatMap(({ testcase }) => testcase);
  const parser: TestResultsParser = required('test-results-parser');
  const { total, failed, suites } = parser.parse({ type: 'junit', files: [file] });
  if (suites.flatMap((suite) => suite.cases).length !== total) throw new Error('test-results-parser lost a test');
  return {
    junit2json: { tests: cases.length, failed: cases.filter(({ failure }) => failure !== undefined).length },
    'test-results-parser': { tests: total, failed },
  };
}
