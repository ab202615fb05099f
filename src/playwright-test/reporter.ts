import type {
  FullConfig,
  FullResult,
  Reporter,
  Suite,
  TestCase,
  TestError,
  TestResult,
} from '@playwright/test/reporter';
import { plainText } from '../base/plain-text.js';
import { runOfReporter } from './command-run.js';
import { runRequest, type TroupeOptions } from './farm.js';
import { attemptOfResult, errorOutside, testOfCase } from './reported-test.js';
import { SuiteRun } from './suite-run.js';
import { usedService } from './used-service.js';

/** Playwright reports its `maxFailures` as an error; the tests that it kept from running say so themselves. */
const STOPPED_EARLY = /^Testing stopped early after \d+ maximum allowed failures/;

/**
 * The reporter `troupe/playwright/reporter`: it tells the service which tests there are, and how each of them ended, also
 * those that no fixture sees. It prints nothing, unless the service does not have all of it.
 */
export default class SuiteReporter implements Reporter {
  readonly #name = runOfReporter();
  #run: SuiteRun | null = null;
  #suite: Suite | null = null;
  /** Messages of errors outside of the tests: Playwright reports some twice. */
  readonly #errors = new Set<string>();

  printsToStdio(): boolean {
    return false;
  }

  onBegin(config: FullConfig, suite: Suite): void {
    if (this.#name === null) return;
    this.#suite = suite;
    const run = this.#begin(config, this.#name);
    run.report(...suite.allTests().map((test) => ({ ...testOfCase(test, test.annotations), attempts: [] })));
    run.reportWhole();
    void run.flush();
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    this.#run?.report({ ...testOfCase(test, result.annotations), attempts: [attemptOfResult(test, result)] });
    void this.#run?.flush();
  }

  onError(error: TestError): void {
    if (STOPPED_EARLY.test(error.message?.replace(/^\W*\[\d+m/, '') ?? '')) return;
    const text = error.message ?? error.value ?? '';
    if (this.#errors.has(text)) return;
    this.#errors.add(text);
    this.#run?.report(errorOutside(error, this.#errors.size, new Date()));
  }

  async onEnd({ status }: FullResult): Promise<void> {
    if (this.#run === null) return;
    if (status !== 'passed' && !this.#saysWhy()) {
      const message = `Playwright ended the suite as ${status}, though no test did; its own output says why`;
      this.onError({ message });
    }
    const missing = await this.#run.close({ end: true });
    if (missing !== null) process.stderr.write(`${plainText(missing)}\n`);
  }

  /** Whether an entry of the run has not passed. */
  #saysWhy(): boolean {
    const tests = this.#suite?.allTests() ?? [];
    return this.#errors.size > 0 || tests.some((test) => test.outcome() === 'unexpected' || test.results.length === 0);
  }

  #begin(config: FullConfig, name: string): SuiteRun {
    const options = config.projects.map(({ use }): unknown => Reflect.get(use, 'troupe')).find(isOptions) ?? {};
    this.#run = new SuiteRun(usedService(options), runRequest(name, options, config));
    return this.#run;
  }
}

function isOptions(value: unknown): value is TroupeOptions {
  return typeof value === 'object' && value !== null;
}
