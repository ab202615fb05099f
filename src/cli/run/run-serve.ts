import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { limitSignal, pause, settlesWithin, stretched } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';
import { StateName } from '../../protocol/login-state.js';

const FILE = 'troupe-run.json';
const DEADLINE_S = 60;
const TRY_MS = 1_000;
const AGAIN_MS = 100;
const STOP_MS = 5_000;
const KEPT_CHARACTERS = 4_000;

/** `troupe-run.json` in a flows folder: what all runs of its flows need. */
const RunSettings = z.strictObject({
  /** What the flows test: a command of the shell, in the flows folder, and where it answers once it is there. */
  serve: z
    .strictObject({ command: z.string().min(1), url: z.url(), timeout: z.number().positive().max(3600).optional() })
    .optional(),
  /** Ports of this machine that pages in containers reach as localhost. */
  forward: z.array(z.int().min(1).max(65_535)).max(20).optional(),
  /** The saved login state that flows start with, unless `--state` names another. */
  state: StateName.optional(),
  /** Arguments of every job; those of the command line win. */
  args: z.record(z.string(), z.unknown()).optional(),
});
export type RunSettings = z.infer<typeof RunSettings>;

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

/**
 * Has what the flows test running: what answers there already is used as it is, else the command is started.
 * @returns ends what was started; idempotent
 * @throws UNAVAILABLE with the command's last words when it ends early or does not answer in time; the signal's reason
 */
export async function serveForRun(
  serve: RunSettings['serve'],
  cwd: string,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  if (serve === undefined || (await answers(serve.url))) return async () => undefined;
  const { command, url, timeout = DEADLINE_S } = serve;
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
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= endGroup(child.pid, ended);
    return stopped;
  };
  try {
    const deadline = performance.now() + stretched(timeout * 1000);
    while (!(await answers(url))) {
      signal.throwIfAborted();
      if (child.exitCode !== null) throw failed(`'${command}' ended with ${child.exitCode}`, said);
      if (performance.now() > deadline) throw failed(`'${command}' did not answer at ${url} within ${timeout} s`, said);
      await pause(AGAIN_MS);
    }
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    await (await fetch(url, { signal: limitSignal(TRY_MS) })).body?.cancel();
    return true;
  } catch {
    return false;
  }
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
