import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { pause, settlesWithin, stretched, unstretched, withSignal } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';
import { StateName } from '../../protocol/login-state.js';
import { makeTemporary, noteGroup } from '../leftovers.js';
import { askSite, isUsable, type SiteAnswer } from './site-answer.js';

const FILE = 'troupe-run.json';
const DEADLINE_S = 60;
const TRY_MS = 1_000;
const AGAIN_MS = 100;
const STOP_MS = 5_000;
const LAST_WORDS_MS = 500;
const KEPT_CHARACTERS = 4_000;

/** `troupe-run.json` in a flows folder: what all runs of its flows need. */
const RunSettings = z.strictObject({
  /** What the flows test: a command of the shell, in the flows folder, and where it answers once it is there. */
  serve: z
    .strictObject({
      command: z.string().min(1),
      url: z.url({ protocol: /^https?$/ }),
      timeout: z.number().positive().max(3600).optional(),
    })
    .optional(),
  /** Ports of this machine that pages in containers reach as localhost. */
  forward: z.array(z.int().min(1).max(65_535)).max(20).optional(),
  /** The saved login state that flows start with, unless `--state` names another. */
  state: StateName.optional(),
  /** Arguments of every job; those of the command line win. */
  args: z.record(z.string(), z.unknown()).optional(),
});
export type RunSettings = z.infer<typeof RunSettings>;
type Serve = NonNullable<RunSettings['serve']>;

/** @throws INVALID_REQUEST naming the file and what is wrong in it */
export async function readRunSettings(root: string | null): Promise<RunSettings> {
  if (root === null) return {};
  const file = join(root, FILE);
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return {};
  try {
    return RunSettings.parse(JSON.parse(text));
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause);
    throw new TroupeError('INVALID_REQUEST', `${file} is not valid: ${why}`, undefined, { cause });
  }
}

/** How `serve` is started. */
export interface ServeRun {
  /** The folder in which the command runs. */
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** Starts the command although something is at its address; any answer counts, also 404 and 5xx. */
  readonly anyway: boolean;
  /** Gets lines for people. */
  readonly say: (line: string) => void;
}

/**
 * Has what the flows test running: what answers there already is used as it is, which is said, else the command is started.
 * @returns ends what was started; idempotent
 * @throws INVALID_REQUEST if what is there already cannot be what the flows test; UNAVAILABLE with the command's last
 *  words when it ends early or does not answer in time; the signal's reason
 */
export async function serveForRun(serve: RunSettings['serve'], run: ServeRun): Promise<() => Promise<void>> {
  if (serve === undefined) return async () => undefined;
  const { signal, anyway, say } = run;
  if (!anyway) {
    // What is there may be compiling the page: it has as long as the command would have.
    const there = await askSite(serve.url, { ms: secondsOf(serve) * 1000, signal });
    if (isUsable(there)) {
      say(`${shown(serve.url)} already answers; \`serve\` is not started`);
      return async () => undefined;
    }
    if (there.kind !== 'nothing') throw new TroupeError('INVALID_REQUEST', unusable(serve.url, there));
  }
  return startServe(serve, run);
}

async function startServe(serve: Serve, { cwd, signal, anyway, say }: ServeRun): Promise<() => Promise<void>> {
  const { command } = serve;
  const folder = await makeTemporary('serve');
  // A group of its own: a shell does not hand a signal on to what it runs.
  const child = spawn(command, { shell: true, cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  ended.catch(() => undefined);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-KEPT_CHARACTERS);
    });
  }
  // Whoever else answers there: what was to be tested is gone.
  const gone = new AbortController();
  let phase: 'starting' | 'ready' | 'stopping' = 'starting';
  child.once('error', (error) =>
    gone.abort(new TroupeError('UNAVAILABLE', `'${command}' does not start: ${error.message}`)),
  );
  child.once('exit', (code, by) => void lost(code, by));
  const lost = async (code: number | null, by: NodeJS.Signals | null): Promise<void> => {
    if (code === 0) return;
    // Its last words may still be on their way; what it left running may keep its output open.
    await settlesWithin(ended, LAST_WORDS_MS);
    const error = failed(`'${command}' ended with ${by ?? code}`, said);
    if (phase === 'starting') gone.abort(error);
    else if (phase === 'ready') say(`${error.message}\nThe flows continue without it.`);
  };
  let stopped: Promise<void> | undefined;
  const stop = () => {
    phase = 'stopping';
    stopped ??= endGroup(child.pid, ended).finally(() => rm(folder, { recursive: true, force: true }));
    return stopped;
  };
  const isThere = (answer: SiteAnswer) => isUsable(answer) || (anyway && answer.kind === 'answer');
  const waitUntilThere = async (until: AbortSignal): Promise<void> => {
    const seconds = secondsOf(serve);
    const deadline = performance.now() + stretched(seconds * 1000);
    /** What it answered last; the last try may have had too little time for an answer. */
    let refused: SiteAnswer | null = null;
    for (let tryMs = TRY_MS; ; ) {
      const left = unstretched(deadline - performance.now());
      const answer = await askSite(serve.url, { ms: Math.max(1, Math.min(tryMs, left)), signal: until });
      until.throwIfAborted();
      if (isThere(answer)) return;
      if (child.exitCode === 0) throw failed(`'${command}' ended with 0`, said);
      if (left <= 0) throw failed(await tooLate(serve, refused ?? answer, until), said);
      // The first page of some takes long, and some leave a first connection without an answer.
      if (answer.kind === 'deaf') tryMs *= 2;
      if (answer.kind === 'answer') {
        if (refused === null)
          say(`${shown(answer.url)} answers ${answer.status}; waiting up to ${seconds} s for a page`);
        refused = answer;
      }
      await pause(AGAIN_MS, { signal: until });
    }
  };
  try {
    if (child.pid !== undefined) await noteGroup(folder, child.pid);
    await withSignal({ signals: [signal, gone.signal] }, waitUntilThere);
    phase = 'ready';
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}

function secondsOf({ timeout = DEADLINE_S }: Serve): number {
  return timeout;
}

/** Why `serve` is not started, and what to do. */
function unusable(url: string, there: Exclude<SiteAnswer, { kind: 'nothing' }>): string {
  if (there.kind === 'deaf') {
    return `Something ${there.why} at ${shown(url)}; \`serve\` is not started. End it, or add --serve-anyway`;
  }
  return (
    `${shown(there.url)} answers ${there.status}; \`serve\` is not started. ` +
    'Give a path that answers in `url`, end what runs there, or add --serve-anyway'
  );
}

/** Why the command was not waited for any longer. */
async function tooLate(serve: Serve, last: SiteAnswer, signal: AbortSignal): Promise<string> {
  const { command, url } = serve;
  const seconds = secondsOf(serve);
  if (last.kind === 'answer') {
    return (
      `'${command}' still answers ${last.status} at ${shown(last.url)} after ${seconds} s: ` +
      'give a path that answers in `url`, or add --serve-anyway'
    );
  }
  const other = otherLoopback(url);
  const elsewhere = other !== null && (await askSite(other, { ms: TRY_MS, signal })).kind === 'answer';
  const hint = elsewhere ? `, but something answers at ${shown(other)}` : '';
  return `'${command}' did not answer at ${shown(url)} within ${seconds} s${hint}`;
}

/** The same address in the other version of IP: a server that listens on localhost may have chosen that one. */
function otherLoopback(text: string): string | null {
  const url = new URL(text);
  if (url.hostname === '127.0.0.1') url.hostname = '[::1]';
  else if (url.hostname === '[::1]') url.hostname = '127.0.0.1';
  else return null;
  return url.href;
}

/** An address without the password that may stand in it. */
function shown(url: string): string {
  return url.replace(/^(https?:\/\/)[^/?#]*@/i, '$1');
}

async function endGroup(pid: number | undefined, ended: Promise<unknown>): Promise<void> {
  signalGroup(pid, 'SIGTERM');
  if (!(await settlesWithin(ended, STOP_MS))) signalGroup(pid, 'SIGKILL');
  await ended.catch(() => undefined);
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It has ended by itself.
  }
}

function failed(what: string, said: string): TroupeError {
  return new TroupeError('UNAVAILABLE', said.trim() === '' ? what : `${what}:\n${said.trim()}`);
}
