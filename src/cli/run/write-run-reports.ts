import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { githubStep } from '../../config.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import { renderCtrf } from '../../report/suite/ctrf.js';
import { annotationsOf, renderJobSummary } from '../../report/suite/github.js';
import { renderIndexHtml } from '../../report/suite/index-html.js';
import { renderSuiteFile, SUITE_FILE, type SuitePart } from '../../report/suite/suite-file.js';
import { renderSuiteJUnit } from '../../report/suite/suite-junit.js';
import type { SuiteResult } from '../../report/suite/suite-result.js';
import type { RunOptions } from './run-options.js';

/**
 * Writes the files that the options of a run ask for.
 * @param part the part of the run that this is; null for all of it
 * @returns where they are, a line for each
 * @throws UNAVAILABLE for a file that cannot be written
 */
export async function writeRunReports(
  { report, html, junit, ctrf }: Pick<RunOptions, 'report' | 'html' | 'junit' | 'ctrf'>,
  suite: SuiteResult,
  part: SuitePart | null,
): Promise<readonly string[]> {
  const written: string[] = [];
  if (report !== undefined) {
    const file = renderSuiteFile(suite, part, (path) => pathIn(report, path));
    await writeWhole(join(report, SUITE_FILE), file);
  }
  for (const folder of new Set([report, html].filter((one) => one !== undefined))) {
    const file = join(folder, 'index.html');
    await writeWhole(
      file,
      renderIndexHtml(suite, (path) => linkFrom(folder, path)),
    );
    written.push(`HTML: ${file}`);
  }
  if (junit !== undefined) await writeWhole(junit, renderSuiteJUnit(suite));
  if (ctrf !== undefined) await writeWhole(ctrf, renderCtrf(suite, randomUUID()));
  return [
    ...written,
    ...(junit === undefined ? [] : [`JUnit: ${junit}`]),
    ...(ctrf === undefined ? [] : [`CTRF: ${ctrf}`]),
  ];
}

/** A file as a page in `folder` links to it; addresses stay as they are. */
function linkFrom(folder: string, path: string): string {
  return isAddress(path) ? path : pathIn(folder, path).split('/').map(encodeURIComponent).join('/');
}

/** A path from `folder`, with forward slashes; addresses stay as they are. */
function pathIn(folder: string, path: string): string {
  return isAddress(path) ? path : relative(resolve(folder), resolve(path)).split(sep).join('/');
}

function isAddress(path: string): boolean {
  return /^https?:\/\//.test(path);
}

/**
 * Output of a step of GitHub Actions, which takes lines such as `::error::` for commands: what pages and flows say must
 * not be one. Nothing outside of GitHub Actions.
 */
export class GithubOutput {
  readonly #step = githubStep();
  readonly #token = randomUUID();
  #stopped = false;

  /** From here on the runner ignores commands in the output. */
  stopCommands(): void {
    if (this.#step === null) return;
    process.stdout.write(`::stop-commands::${this.#token}\n`);
    this.#stopped = true;
  }

  /** Lets commands work again. Idempotent. */
  resumeCommands(): void {
    if (!this.#stopped) return;
    process.stdout.write(`::${this.#token}::\n`);
    this.#stopped = false;
  }

  /** Annotates the failed flows, and adds the run to the job's summary. @throws UNAVAILABLE if it cannot be written */
  async report(suite: SuiteResult): Promise<void> {
    if (this.#step === null) return;
    this.resumeCommands();
    const { workspace = process.cwd(), summaryFile } = this.#step;
    const inRepository = (file: string) => relative(workspace, resolve(file)).split(sep).join('/');
    for (const line of annotationsOf(suite, inRepository)) process.stdout.write(`${line}\n`);
    if (summaryFile === undefined) return;
    await appendFile(summaryFile, renderJobSummary(suite)).catch((cause: unknown) => {
      throw unwritable(summaryFile, cause);
    });
  }
}

/** Writes a file, and the folder that it is in. @throws UNAVAILABLE if it cannot be written */
export async function writeWhole(file: string, content: string | Iterable<string>): Promise<void> {
  try {
    await mkdir(dirname(resolve(file)), { recursive: true });
    await writeFile(file, content);
  } catch (cause) {
    throw unwritable(file, cause);
  }
}

function unwritable(file: string, cause: unknown): TroupeError {
  return new TroupeError('UNAVAILABLE', `${file} cannot be written: ${encodeError(cause).error}`, undefined, { cause });
}
