import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { errorCode, ifMissing } from '../../base/system-fault.js';
import { githubStep } from '../../config.js';
import { TroupeError } from '../../protocol/errors.js';
import { renderCtrf } from '../../report/suite/ctrf.js';
import { annotationsOf, renderJobSummary } from '../../report/suite/github.js';
import { renderIndexHtml } from '../../report/suite/index-html.js';
import { renderSuiteFile, SUITE_FILE, type SuitePart } from '../../report/suite/suite-file.js';
import { renderSuiteJUnit } from '../../report/suite/suite-junit.js';
import type { SuiteResult } from '../../report/suite/suite-result.js';
import { describeFailure } from '../../terminal/failure.js';
import { print } from '../../terminal/output.js';
import type { RunOptions } from './run-options.js';

/**
 * Writes the files that the options of a run ask for.
 * @param part the part of the run that this is; null for all of it
 * @returns where they are, and which cannot be written, a line for each
 */
export async function writeRunReports(
  { report, html, junit, ctrf }: Pick<RunOptions, 'report' | 'html' | 'junit' | 'ctrf'>,
  suite: SuiteResult,
  part: SuitePart | null,
): Promise<{ readonly written: readonly string[]; readonly unwritten: string[] }> {
  const written: string[] = [];
  const unwritten: string[] = [];
  const write = async (file: string, kind: string | null, content: string | Iterable<string>) => {
    const faults = await unwrittenBy(writeWhole(file, content));
    if (faults.length === 0 && kind !== null) written.push(`${kind}: ${file}`);
    unwritten.push(...faults);
  };
  if (report !== undefined) {
    const file = renderSuiteFile(suite, part, (path) => pathIn(report, path));
    await write(join(report, SUITE_FILE), null, file);
  }
  for (const folder of new Set([report, html].filter((one) => one !== undefined))) {
    const page = renderIndexHtml(suite, (path) => linkFrom(folder, path));
    await write(join(folder, 'index.html'), 'HTML', page);
  }
  if (junit !== undefined) await write(junit, 'JUnit', renderSuiteJUnit(suite));
  if (ctrf !== undefined) await write(ctrf, 'CTRF', renderCtrf(suite, randomUUID()));
  return { written, unwritten };
}

/** Why a file was not written, in a sentence; none if it was. */
export function unwrittenBy(writing: Promise<void>): Promise<readonly string[]> {
  return writing.then(
    () => [],
    (error: unknown) => [describeFailure(error)],
  );
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
    print(`::stop-commands::${this.#token}\n`);
    this.#stopped = true;
  }

  /** Lets commands work again. Idempotent. */
  resumeCommands(): void {
    if (!this.#stopped) return;
    print(`::${this.#token}::\n`);
    this.#stopped = false;
  }

  /** Annotates the failed flows, and adds the run to the job's summary. @throws UNAVAILABLE if it cannot be written */
  async report(suite: SuiteResult): Promise<void> {
    if (this.#step === null) return;
    this.resumeCommands();
    const { workspace = process.cwd(), summaryFile } = this.#step;
    const inRepository = (file: string) => relative(workspace, resolve(file)).split(sep).join('/');
    for (const line of annotationsOf(suite, inRepository)) print(`${line}\n`);
    if (summaryFile === undefined) return;
    await appendFile(summaryFile, renderJobSummary(suite)).catch((cause: unknown) => {
      throw unwritable(summaryFile, cause);
    });
  }
}

/**
 * Writes a file, and the folder that it is in. A file that is there is replaced by all of the content, or stays as it is.
 * @throws UNAVAILABLE if it cannot be written
 */
export async function writeWhole(file: string, content: string | Iterable<string>): Promise<void> {
  try {
    await mkdir(dirname(resolve(file)), { recursive: true });
    const there = await stat(file).catch(ifMissing);
    // Such as /dev/stdout.
    if (there !== null && !there.isFile()) return await writeFile(file, content);
    const target = there === null ? file : await realpath(file);
    const temporary = `${target}.${randomUUID()}.tmp`;
    try {
      await writeFile(temporary, content);
      await rename(temporary, target);
    } catch (error) {
      await rm(temporary, { force: true });
      // A file that may be written in a folder that may not, or one that is mounted.
      if (there === null || !['EACCES', 'EPERM', 'EBUSY'].includes(errorCode(error) ?? '')) throw error;
      await writeFile(target, content);
    }
  } catch (cause) {
    throw unwritable(file, cause);
  }
}

function unwritable(file: string, cause: unknown): TroupeError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new TroupeError('UNAVAILABLE', `${file} cannot be written: ${why}`, undefined, { cause });
}
