import { readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { asAbsent } from '../base/system-fault.js';
import { readConfig } from '../config.js';
import { encodeError, TroupeError } from '../protocol/errors.js';
import { PRODUCT_NAME } from '../protocol/product-name.js';
import type { Failure } from '../protocol/report/failure.js';
import { Report } from '../protocol/report/report.js';
import { SessionId } from '../protocol/session.js';
import { failureText } from '../report/suite/failure-text.js';
import { SUITE_FILE } from '../report/suite/suite-file.js';
import { WHY } from '../terminal/commands/run-commands.js';
import { describeFailure, UsageError } from '../terminal/failure.js';
import { print, printError, printJson } from '../terminal/output.js';
import { checkWords, parseWords } from '../terminal/parse-options.js';
import { shellWords, typedCommand } from '../terminal/typed-command.js';
import { reachService } from './local-service/reach-service.js';
import { ServiceClient } from './service-client.js';
import { describeRun, lastRunFailures, type RunFailures, runFileFailures } from './why-run.js';
import { describeSuite, type SuiteFailures, suiteFailures, suiteOfSession } from './why-suite.js';

/** A report, and where its pictures are: a folder, or the service's address. */
interface Found {
  readonly report: Report;
  file(name: string): string;
}

type Answer = Found | { readonly suite: SuiteFailures } | { readonly run: RunFailures };

/**
 * Prints why a session or a run failed, for a person or a model: the last run here if none is named.
 * @returns 0 printed, also if nothing failed; 2 there is no such session, run or report
 */
export async function runWhy(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, WHY);
  checkWords(positionals, ['RUN'], 0);
  const [word] = positionals;
  if (word === undefined && values.url !== undefined)
    throw new UsageError('Name a session or run of the service at --url');
  try {
    const found = word === undefined ? { run: await lastRunFailures() } : await findReport(word, values.url);
    if ('run' in found) {
      if (values.json === true) printJson(found.run, 2);
      else print(describeRun(found.run));
      return 0;
    }
    if ('suite' in found) {
      if (values.json === true) printJson(found.suite, 2);
      else print(describeSuite(found.suite));
      return 0;
    }
    const failures = failuresOf(found.report);
    const { sessionId, name, status, stateText } = found.report;
    if (values.json === true) printJson({ sessionId, name, status, stateText, failures }, 2);
    else print(whyText(found, failures));
    return 0;
  } catch (error) {
    const { code } = encodeError(error);
    if (code === 'INTERNAL') throw error;
    printError(`${PRODUCT_NAME}: ${code}: ${describeFailure(error)}\n`);
    return 2;
  }
}

async function findReport(word: string, url: string | undefined): Promise<Answer> {
  const file = url === undefined ? await reportFile(word) : null;
  if (file !== null) return fromFolder(file);
  const runFile = url === undefined ? await runFileAt(word) : null;
  if (runFile !== null) return { run: await runFileFailures(runFile) };
  if (!SessionId.safeParse(word).success) {
    throw new TroupeError(
      'NOT_FOUND',
      `There is no report.json or ${SUITE_FILE} at '${word}', and it is not the id of a session or run`,
    );
  }
  const config = readConfig({});
  const reached = await reachService(config, { url, session: word });
  if (reached instanceof ServiceClient) {
    return (await sessionAt(reached, word)) ?? { suite: await suiteFailures(reached, word) };
  }
  const dir = join(config.sessionsDir, word);
  const stored = await reportFile(dir);
  if (stored !== null) return fromFolder(stored);
  if (reached !== null) throw reached;
  throw new TroupeError(
    'NOT_FOUND',
    `${config.sessionsDir} has no report of session ${word}, and no service runs there`,
  );
}

/** The report of a session; if it belongs to a test, how that ended; null if there is no such session. */
async function sessionAt(client: ServiceClient, id: string): Promise<Answer | null> {
  try {
    const report = parse(await client.json('GET', `/api/sessions/${id}/report.json`), client.url);
    const suite = await suiteOfSession(client, id);
    return suite === null ? { report, file: (name) => `${client.url}/api/sessions/${id}/${name}` } : { suite };
  } catch (error) {
    if (encodeError(error).code === 'NOT_FOUND') return null;
    throw error;
  }
}

/** The path of a run's file, or of the one in its report folder; null if there is none. */
async function runFileAt(path: string): Promise<string | null> {
  const file = basename(path) === SUITE_FILE ? path : join(path, SUITE_FILE);
  return (await stat(file).catch(asAbsent))?.isFile() ? file : null;
}

/** The path of a session's report, or of the one in a folder; null if there is none. */
async function reportFile(path: string): Promise<{ readonly dir: string; readonly file: string } | null> {
  const stats = await stat(path).catch(asAbsent);
  if (stats?.isFile() && basename(path) !== SUITE_FILE) return { dir: join(path, '..'), file: path };
  const file = join(path, 'report.json');
  const inside = stats?.isDirectory() ? await stat(file).catch(asAbsent) : null;
  return inside?.isFile() ? { dir: path, file } : null;
}

async function fromFolder({ dir, file }: { readonly dir: string; readonly file: string }): Promise<Found> {
  const text = await readFile(file, 'utf8');
  return { report: parse(parsed(text), file), file: (name) => join(dir, name) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function parse(value: unknown, from: string): Report {
  const report = Report.safeParse(value);
  if (report.success) return report.data;
  throw new TroupeError('UNAVAILABLE', `${from} has no report of this version of Troupe`);
}

/** The failures of the last attempt's flows, in their order, then the session's own. */
function failuresOf({ flows, failure }: Report): readonly Failure[] {
  const ofFlows = flows.flatMap((flow) => flow.failure ?? []);
  const isOfFlow = ofFlows.some(({ code, message, line }) => {
    return code === failure?.code && message === failure.message && line === failure.line;
  });
  return failure === null || isOfFlow ? ofFlows : [...ofFlows, failure];
}

function whyText({ report, file }: Found, failures: readonly Failure[]): string {
  const { sessionId, name, status, stateText = status, attempts, deviations } = report;
  const head = `Session ${sessionId}${name === null ? '' : ` (${name})`}: ${stateText}`;
  if (failures.length === 0 && attempts.length === 0) return `${head}. Nothing failed.\n`;
  const blocks = failures.map((failure) => {
    const again =
      failure.file === undefined ? [] : [`Run it again: ${typedCommand()} run ${shellWords([failure.file])}`];
    const shown = failure.screenshot === undefined ? [] : [`Screenshot: ${file(failure.screenshot)}`];
    const traced = failure.trace === undefined ? [] : [`Trace: ${file(failure.trace)}`];
    return [failureText(failure), ...shown, ...traced, ...again].join('\n');
  });
  const earlier = attempts.map(({ attempt, error }) => `Attempt ${attempt} failed: ${error.code}: ${error.error}`);
  const healed = deviations.map(({ text, flow }) => `The model went on in ${flow}: ${text}`);
  return `${[head, ...earlier, ...blocks, ...healed].join('\n\n')}\n`;
}
