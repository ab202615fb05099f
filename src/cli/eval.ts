import { text } from 'node:stream/consumers';
import { withDeadline } from '../base/deadline.js';
import { ERROR_TABLE, type ErrorCode, encodeError, TroupeError } from '../protocol/errors.js';
import { PRODUCT_NAME } from '../protocol/product-name.js';
import { Failure } from '../protocol/report/failure.js';
import { Report } from '../protocol/report/report.js';
import { SessionRecord } from '../protocol/session.js';
import { failureText } from '../report/suite/failure-text.js';
import { EVAL } from '../terminal/commands/run-commands.js';
import { describeFailure } from '../terminal/failure.js';
import { printError, printJson } from '../terminal/output.js';
import { checkWords, parseWords } from '../terminal/parse-options.js';
import { endAtSecond, watchSignals } from '../terminal/watch-signals.js';
import { lastSession } from './agent/used-session.js';
import { type UsedService, useService } from './own-service.js';

/**
 * Runs a script from the shell, in a session that is there or in one of its own, and prints its value as JSON.
 * @returns 0 done, 1 the script failed, 2 it could not run
 */
export async function runEval(args: readonly string[]): Promise<number> {
  const { js, url, own, ...given } = await readOptions(args);
  const signals = watchSignals();
  endAtSecond(signals);
  const cancelled = new AbortController();
  void signals.first.then((name) => cancelled.abort(new TroupeError('UNAVAILABLE', `Cancelled by ${name}`)));
  const { signal } = cancelled;
  let service: UsedService | null = null;
  try {
    const session = given.session === 'last' ? await lastSession(url) : given.session;
    service = await useService({ url, own, session, sessions: 1, signal });
    signal.throwIfAborted();
    const value = await evaluate(service, session, js, signal);
    printJson(value, 2);
    return 0;
  } catch (error) {
    const { code } = encodeError(error);
    const text = error instanceof ScriptFailed ? error.text : `${codeOf(code)}${describeFailure(error)}`;
    printError(`${PRODUCT_NAME}: ${text}\n`);
    return code === 'UNAVAILABLE' || code === 'UNAUTHORIZED' || code === 'NOT_FOUND' ? 2 : 1;
  } finally {
    await service?.close();
    signals.release();
  }
}

/** @throws the signal's reason; the script goes on then, unless its session was made for it */
async function evaluate(
  service: UsedService,
  session: string | undefined,
  js: string,
  signal: AbortSignal,
): Promise<unknown> {
  const { client } = service;
  if (session !== undefined) {
    return withDeadline(evaluateIn(service, encodeURIComponent(session), js), { signal });
  }
  const { id } = SessionRecord.parse(await client.json('POST', '/api/sessions', { name: 'troupe eval' }));
  try {
    return await withDeadline(evaluateIn(service, id, js), { signal });
  } finally {
    await client.json('DELETE', `/api/sessions/${id}`);
  }
}

async function evaluateIn({ client, own }: UsedService, session: string, js: string): Promise<unknown> {
  try {
    return await client.json('POST', `/sessions/${session}/proxy`, { js });
  } catch (error) {
    const { code, error: message, details } = encodeError(error);
    if (ERROR_TABLE[code].status !== 422 && code !== 'EVAL_TIMEOUT') throw error;
    // The session's report knows more than the answer: the page's errors, failed requests, and the picture.
    const report = await client.json('GET', `/api/sessions/${session}/report.json`).catch(() => null);
    const failure = Report.safeParse(report).data?.failure;
    if (failure == null || failure.code !== code || !message.startsWith(failure.message)) {
      // It is about another script of the session, which ran at the same time.
      const { line, column, frame, url, title } = details ?? {};
      const known = Failure.safeParse({ code, message, line, column, frame, url, title });
      throw known.success ? new ScriptFailed(known.data, null, error) : error;
    }
    // A service of its own takes its pictures along when it ends.
    const picture =
      own || failure.screenshot === undefined ? null : `${client.url}/api/sessions/${session}/${failure.screenshot}`;
    throw new ScriptFailed(failure, picture, error);
  }
}

/** A script's error with everything that is known about it. */
class ScriptFailed extends TroupeError {
  /** For people. */
  readonly text: string;

  constructor(failure: Failure, picture: string | null, cause: unknown) {
    super(failure.code, failure.message, undefined, { cause });
    this.text = `${failureText(failure)}${picture === null ? '' : `\nScreenshot: ${picture}`}`;
  }
}

function codeOf(code: ErrorCode): string {
  return code === 'INTERNAL' ? '' : `${code}: `;
}

async function readOptions(args: readonly string[]) {
  const { values, positionals } = parseWords(args, EVAL);
  checkWords(positionals, ['SCRIPT']);
  const [word = ''] = positionals;
  return { ...values, js: word === '-' ? await text(process.stdin) : word };
}
