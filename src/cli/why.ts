import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { asAbsent } from '../base/system-fault.js';
import { serviceToken, serviceUrl } from '../config/environment.js';
import { readConfig } from '../config.js';
import { encodeError, TroupeError } from '../protocol/errors.js';
import { failingText } from '../protocol/report/failing-text.js';
import type { Failure } from '../protocol/report/failure.js';
import { Report } from '../protocol/report/report.js';
import { SessionId, SessionRecord } from '../protocol/session.js';
import { type FailingSince, FlowCommits } from '../protocol/stats.js';
import { failureText } from '../report/suite/failure-text.js';
import { nextSteps } from '../report/suite/next-steps.js';
import { parseSuiteFile, SUITE_FILE } from '../report/suite/suite-file.js';
import { describeFailure, UsageError } from './failure.js';
import { parseWords } from './parse-options.js';
import { flowName } from './run/plan/plan-run.js';
import { ownUrl, ServiceClient } from './service-client.js';

/** A report, and where its pictures are: a folder, or the service's address. */
interface Found {
  readonly report: Report;
  /** With which commits its failed flows began to fail, as far as a service knows. */
  readonly since: readonly FlowSince[];
  file(name: string): string;
}

/** What `--json` prints of a session, and what is printed without it. */
interface Explained {
  readonly answer: object;
  readonly text: string;
}

interface FlowSince extends FailingSince {
  readonly flow: string;
  readonly branch: string | null;
}

/**
 * Prints why a session failed, or each failed flow of a run, for a person or a model.
 * @returns 0 printed, also if nothing failed; 2 there is no such session or report
 */
export async function runWhy(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, { url: { type: 'string' }, json: { type: 'boolean' } });
  const [word, ...others] = positionals;
  if (word === undefined || others.length > 0) {
    throw new UsageError("why takes a session's id, the path of a report.json, or the report folder of a run");
  }
  try {
    const ofRun = values.url === undefined ? await explainRun(word) : null;
    const all = ofRun ?? [explained(await findReport(word, values.url))];
    if (values.json === true) {
      const answers = all.map(({ answer }) => answer);
      process.stdout.write(`${JSON.stringify(ofRun === null ? answers[0] : answers, null, 2)}\n`);
    } else if (all.length === 0) process.stdout.write(`No flow of ${word} failed\n`);
    else process.stdout.write(all.map(({ text }) => text).join('\n'));
    return 0;
  } catch (error) {
    const { code } = encodeError(error);
    if (code === 'INTERNAL') throw error;
    process.stderr.write(`troupe: ${code}: ${describeFailure(error)}\n`);
    return 2;
  }
}

async function findReport(word: string, url: string | undefined): Promise<Found> {
  const file = url === undefined ? await reportFile(word) : null;
  if (file !== null) return fromFolder(file);
  if (!SessionId.safeParse(word).success) {
    throw new TroupeError('NOT_FOUND', `There is no report at '${word}', and it is no session's id`);
  }
  const named = url ?? serviceUrl();
  const config = readConfig({});
  const client =
    named === undefined
      ? new ServiceClient(ownUrl(config), serviceToken() ?? config.token ?? null)
      : new ServiceClient(named);
  if (await client.answers()) {
    const report = parse(await client.json('GET', `/api/sessions/${word}/report.json`), client.url);
    const since = await sinceOf(client, word, report);
    return { report, since, file: (name) => `${client.url}/api/sessions/${word}/${name}` };
  }
  if (named !== undefined) throw new TroupeError('UNAVAILABLE', `No service answers at ${named}`);
  const dir = join(config.sessionsDir, word);
  const stored = await reportFile(dir);
  if (stored !== null) return fromFolder(stored);
  throw new TroupeError(
    'NOT_FOUND',
    `${config.sessionsDir} has no report of session ${word}, and no service runs there; after a run with --report, name the flow's folder in the reports`,
  );
}

/** The failed flows of a run, where `path` is the folder of its reports; null if it is not. */
async function explainRun(path: string): Promise<readonly Explained[] | null> {
  const file = join(path, SUITE_FILE);
  const text = await readFile(file, 'utf8').catch(asAbsent);
  if (text === null) return null;
  const failed = parseSuiteFile(text, file).flows.filter(({ outcome }) => outcome === 'failed');
  return Promise.all(
    failed.map(async ({ report, name, sessionId, failure }) => {
      const own = report === null ? null : await reportFile(join(path, dirname(report)));
      if (own !== null) return explained(await fromFolder(own));
      // A service that the run used has its report.
      const failures = failure === null ? [] : [failure];
      const text = [`${name}: failed`, ...failures.map(failureText)].join('\n\n');
      return { answer: { sessionId, name, status: 'failed', failures, since: [] }, text: `${text}\n` };
    }),
  );
}

function explained(found: Found): Explained {
  const { sessionId, name, status } = found.report;
  const failures = failuresOf(found.report);
  return { answer: { sessionId, name, status, failures, since: found.since }, text: whyText(found, failures) };
}

/** What the service knew when the session ended; nothing if the session has no commit, or the service is older. */
async function sinceOf(client: ServiceClient, id: string, report: Report): Promise<readonly FlowSince[]> {
  const { endedAt } = report;
  const failed = new Set(report.flows.filter(({ failure }) => failure != null).map(({ path }) => flowName(path)));
  if (endedAt === null || failed.size === 0) return [];
  try {
    const { labels } = SessionRecord.parse(await client.json('GET', `/api/sessions/${id}`));
    const { commit, branch } = labels;
    if (commit === undefined) return [];
    // The end of the session's own flows is before its own.
    const until = new Date(Date.parse(endedAt) + 1).toISOString();
    const asked = [...failed].map(async (flow) => {
      const query = new URLSearchParams({ flow, until, ...(branch === undefined ? {} : { branch }) });
      const { failing } = FlowCommits.parse(await client.json('GET', `/api/stats/commits?${query}`));
      return failing === null ? [] : [{ flow, branch: branch ?? null, ...failing }];
    });
    return (await Promise.all(asked)).flat();
  } catch {
    return [];
  }
}

/** The path of a report, or of one in a folder; null if there is none. */
async function reportFile(path: string): Promise<{ readonly dir: string; readonly file: string } | null> {
  const stats = await stat(path).catch(asAbsent);
  if (stats?.isFile()) return { dir: join(path, '..'), file: path };
  const file = join(path, 'report.json');
  const inside = stats?.isDirectory() ? await stat(file).catch(asAbsent) : null;
  return inside?.isFile() ? { dir: path, file } : null;
}

async function fromFolder({ dir, file }: { readonly dir: string; readonly file: string }): Promise<Found> {
  const text = await readFile(file, 'utf8');
  return { report: parse(parsed(text), file), since: [], file: (name) => join(dir, name) };
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

function whyText({ report, since, file }: Found, failures: readonly Failure[]): string {
  const { sessionId, name, status, attempts, deviations } = report;
  const head = `Session ${sessionId}${name === null ? '' : ` (${name})`}: ${status}`;
  if (failures.length === 0 && attempts.length === 0) return `${head}; nothing failed\n`;
  const blocks = failures.map((failure) => {
    const again =
      failure.file === undefined ? [] : [`Run it again, where the flows folder is: troupe run ${failure.file}`];
    const shown = failure.screenshot === undefined ? [] : [`Picture: ${file(failure.screenshot)}`];
    const traced = failure.trace === undefined ? [] : [`Trace: ${file(failure.trace)}`];
    const next = nextSteps(failure).map((text) => `  ${text}`);
    const hints = next.length === 0 ? [] : ['What to do next:', ...next];
    return [failureText(failure), ...shown, ...traced, ...hints, ...again].join('\n');
  });
  const earlier = attempts.map(({ attempt, error }) => `Attempt ${attempt} failed: ${error.code}: ${error.error}`);
  const history = since.map(({ flow, branch, ...failing }) => `${flow}: ${failingText(failing, branch)}`);
  const healed = deviations.map(({ text, flow }) => `The model went on in ${flow}: ${text}`);
  return `${[head, ...earlier, ...blocks, ...history, ...healed].join('\n\n')}\n`;
}
