import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pause, unstretched } from '../../base/deadline.js';
import { findServices, type LocalService, strangerSentence } from '../../client/local-service/find-service.js';
import type { ServiceFile } from '../../client/local-service/service-file.js';
import { environmentFor } from '../../config/environment.js';
import { TroupeError } from '../../protocol/errors.js';
import { printError } from '../../terminal/output.js';
import { shellWords, typedCommand } from '../../terminal/typed-command.js';

const CLI = fileURLToPath(new URL('../../cli.js', import.meta.url));
/** A service that was started by a command ends after this time without a client, a session, or a job. */
const IDLE_SECONDS = 300;
const START_MS = 30_000;
const POLL_MS = 25;
/** If another process has the home, it is about to answer or about to end: so long until the next try. */
const RETRY_MS = 1_000;
/** And so long until giving up on it. */
const TAKEN_MS = 10_000;
const LOG_LINES = 5;

/** The secret of the service that was named last. */
let said: string | null = null;

/** The exit code of a service that was started for a home which another process has. */
export const HOME_TAKEN = 3;

/** A service that was launched. */
interface Launched {
  /** Null while it runs. */
  exitCode: number | null;
  /** Ends it, unless it is the service that was found. */
  endUnless(found: ServiceFile): void;
}

/**
 * The service of a home: the one that runs, or one that is started now. It is detached, outlives the command, and ends
 * when it was not used for five minutes. Of services that are started at once, one gets the home, and the others end.
 * @throws UNAVAILABLE if the service does not start within 30 s, with what it said; the signal's reason
 */
export async function findOrStartService(
  home: string,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<LocalService> {
  const { services, stranger, asked } = await findServices([home]);
  const [running] = services;
  if (running !== undefined) {
    sayWhose(running, 'Using');
    return running;
  }
  if (stranger !== null) printError(`${strangerSentence(stranger, `add --url ${stranger.url}`)}\n`);
  mkdirSync(home, { recursive: true });
  const log = join(home, 'service.log');
  const startedAt = performance.now();
  const waitedMs = () => unstretched(performance.now() - startedAt);
  let launched = launch(home, log);
  while (waitedMs() < START_MS) {
    await pause(launched.exitCode === null ? POLL_MS : RETRY_MS, { signal });
    // A process that has the home wrote its file, so it is asked again.
    const skip = launched.exitCode === HOME_TAKEN ? new Set<string>() : asked;
    const [found] = (await findServices([home], { skip })).services;
    if (found !== undefined) {
      sayWhose(found, 'Started');
      // One that still starts would get the home when the found one ends, with nobody to use it.
      launched.endUnless(found);
      return found;
    }
    if (launched.exitCode === null) continue;
    if (launched.exitCode !== HOME_TAKEN || waitedMs() > TAKEN_MS) break;
    launched = launch(home, log);
  }
  throw new TroupeError(
    'UNAVAILABLE',
    `The service for ${home} did not start:\n${lastLines(log)}\nTo see more, run: TROUPE_HOME=${shellWords([home])} ${typedCommand()} dashboard`,
  );
}

/** Says once whose service a command uses. */
function sayWhose({ home, ownHome = home, url, secret }: LocalService, what: 'Using' | 'Started'): void {
  if (said !== secret) printError(`${what} the service of ${ownHome} at ${url}\n`);
  said = secret;
}

/** Starts a service that outlives this process; its output goes to the log. */
function launch(home: string, log: string): Launched {
  const output = openSync(log, 'a', 0o600);
  try {
    const words = [CLI, 'dashboard', '--port', '0', '--stop-when-idle', String(IDLE_SECONDS)];
    const child = spawn(process.execPath, words, {
      cwd: home,
      detached: true,
      env: environmentFor(home),
      stdio: ['ignore', output, output],
    });
    const launched: Launched = {
      exitCode: null,
      endUnless: ({ pid }) => void (pid === child.pid || child.kill('SIGTERM')),
    };
    child.once('exit', (code) => {
      launched.exitCode = code ?? 1;
    });
    child.once('error', () => {
      launched.exitCode = 1;
    });
    child.unref();
    return launched;
  } finally {
    closeSync(output);
  }
}

function lastLines(log: string): string {
  try {
    return readFileSync(log, 'utf8').trimEnd().split('\n').slice(-LOG_LINES).join('\n');
  } catch {
    return '';
  }
}
