import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants } from 'node:fs/promises';
import { createServer } from 'node:net';
import { startLimit } from '../base/deadline.js';
import type { ClosedPorts } from '../net-policy/closed-ports.js';
import { TroupeError } from '../protocol/errors.js';

/** Where Debian's package and others put it. */
const PLACES = ['/usr/bin/chromedriver', '/usr/lib/chromium/chromedriver', '/usr/local/bin/chromedriver'];
const START_MS = 20_000;
/** Another process may take the port that was free; then the next one is tried. */
const ATTEMPTS = 5;
const MAX_OUTPUT = 4_000;
const STARTED = /started successfully on port/;

/**
 * The chromedriver to use.
 * @param configured the path from the configuration
 * @throws UNAVAILABLE if there is none; the message names Debian's package
 */
export async function findDriver(configured: string | undefined): Promise<string> {
  for (const path of configured === undefined ? PLACES : [configured]) {
    const usable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (usable) return path;
  }
  throw new TroupeError(
    'UNAVAILABLE',
    configured === undefined
      ? 'WebDriver needs chromedriver, and none is installed on this machine: install it with ' +
          '`apt-get install chromium-driver`, or set "chromedriver" in troupe.json to its path'
      : `"chromedriver" in troupe.json is ${configured}, which cannot be executed: correct the path, or remove it and ` +
          'install the package with `apt-get install chromium-driver`',
  );
}

/**
 * A chromedriver, for one session. It listens on a port of 127.0.0.1 that is closed to pages, scripts and webhooks
 * before it is opened. It dies with the service (`setpriv --pdeathsig`).
 */
export class DriverProcess {
  readonly port: number;
  readonly pid: number;
  /** Resolves when it has ended, for whatever reason. */
  readonly exited: Promise<void>;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, pid: number, port: number, exited: Promise<void>) {
    this.#child = child;
    this.pid = pid;
    this.port = port;
    this.exited = exited;
  }

  /** @throws UNAVAILABLE if it does not start in time */
  static async start(path: string, closedPorts: ClosedPorts, signal: AbortSignal): Promise<DriverProcess> {
    let output = '';
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const port = await freePort();
      closedPorts.add(port);
      const started = await startOn(path, port, signal);
      void started.exited.then(() => closedPorts.delete(port));
      const { child } = started;
      if (started.ready && child.pid !== undefined) return new DriverProcess(child, child.pid, port, started.exited);
      child.kill('SIGKILL');
      await started.exited;
      signal.throwIfAborted();
      output = started.output;
    }
    throw new TroupeError('UNAVAILABLE', `chromedriver (${path}) does not start: ${output.trim().slice(-500)}`);
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.exited;
  }
}

async function startOn(path: string, port: number, signal: AbortSignal) {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', path, `--port=${port}`], {
    cwd: '/',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  let output = '';
  let ready = false;
  await new Promise<void>((resolve) => {
    const cancelTimer = startLimit(START_MS, resolve);
    const done = (): void => {
      cancelTimer();
      signal.removeEventListener('abort', done);
      resolve();
    };
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
    child.once('error', (error) => {
      output += error.message;
      done();
    });
    child.once('exit', done);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (text: string) => {
        output = (output + text).slice(-MAX_OUTPUT);
        if (!STARTED.test(output)) return;
        ready = true;
        done();
      });
    }
  });
  return { child, exited, ready, output };
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new TroupeError('INTERNAL', 'The listener has no port');
  return address.port;
}
