import { randomUUID } from 'node:crypto';

/** How the process of the command tells its workers: `PID:RUN`, with `:reporter` if the reporter is in it. */
const VARIABLE = 'TROUPE_SUITE_RUN';

/** The run that a command's processes report to. */
export interface CommandRun {
  /** The same in all processes of the command. */
  readonly run: string;
  /** The reporter is in use: it says what is missing. */
  readonly hasReporter: boolean;
}

/** What the process that started this one says; null if it is no process of a suite. */
const INHERITED = inherited();

// The process of the command loads the test files before it starts its workers, and with them this file.
if (INHERITED === null && !isWindow()) process.env[VARIABLE] = `${process.pid}:${randomUUID()}`;

/**
 * The run of the command whose worker this process is; null in the windows of Playwright and its editors, where there is no
 * command: they load test files elsewhere.
 */
export function runOfWorker(): CommandRun | null {
  return INHERITED;
}

/**
 * The run of the command whose process this is. From here on its workers know that it has the reporter.
 * @returns null for a command that runs no tests, and in the windows of Playwright and its editors
 */
export function runOfReporter(): string | null {
  if (isWindow() || process.argv.some((word) => word === '--list' || word === 'merge-reports')) return null;
  const [, run = randomUUID()] = (process.env[VARIABLE] ?? '').split(':');
  process.env[VARIABLE] = `${process.pid}:${run}:reporter`;
  return run;
}

/** Whether the command stays, and runs chosen tests again and again. */
function isWindow(): boolean {
  return process.argv.some((word) => /^(--ui(-host|-port)?(=|$)|test-server$)/.test(word));
}

/** A command that a test starts is another suite, though it inherits the variable. */
function inherited(): CommandRun | null {
  const [pid, run = '', reporter] = (process.env[VARIABLE] ?? '').split(':');
  if (run === '' || pid !== String(process.ppid)) return null;
  return { run, hasReporter: reporter === 'reporter' };
}
