import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Teardown } from './service.js';

/** A service in a process of its own, started by the command line that users have. */
export interface ServiceProcess {
  readonly child: ChildProcess;
  readonly url: string;
  /** All that it printed so far. */
  output(): string;
  /** Sends the signal and answers how the process ended. */
  end(signal: NodeJS.Signals): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

/** Runs `troupe <words>` until it ends. */
export async function runTroupe(
  home: string,
  ...words: readonly string[]
): Promise<{ readonly code: number | null; readonly output: string }> {
  const { child, output } = startTroupe(home, words);
  const [code] = await once(child, 'close');
  return { code, output: output() };
}

/** Starts `troupe <words>`; the caller waits for its end. */
export function startCommand(home: string, ...words: readonly string[]): ReturnType<typeof startTroupe> {
  return startTroupe(home, words);
}

/** As {@link startCommand}, with further variables of the environment. */
export function startCommandWith(
  env: { readonly [name: string]: string },
  home: string,
  ...words: readonly string[]
): ReturnType<typeof startTroupe> {
  return startTroupe(home, words, { env });
}

/** As {@link startCommandWith}; the test can write to its standard input. */
export function startTypedCommand(
  env: { readonly [name: string]: string },
  home: string,
  ...words: readonly string[]
): ReturnType<typeof startTroupe> {
  return startTroupe(home, words, { env, stdin: 'pipe' });
}

/** Starts `troupe dashboard` in a home and waits until it says where it listens. Killed when the test is over. */
export async function startServiceProcess(t: Teardown, home: string, ...words: string[]): Promise<ServiceProcess> {
  const { listening, ...process } = spawnService(home, ...words);
  t.teardown(() => process.end('SIGKILL'));
  return { ...process, url: await listening };
}

/** As {@link startServiceProcess}, of another installation: `program` is its `dist/cli.js`. */
export async function startInstalledService(t: Teardown, home: string, program: string): Promise<ServiceProcess> {
  const { listening, ...process } = listeningService(startTroupe(home, ['dashboard', '--port', '0'], { program }));
  t.teardown(() => process.end('SIGKILL'));
  return { ...process, url: await listening };
}

/** As {@link startServiceProcess}, without waiting and without a test: the caller ends it. */
export function spawnService(
  home: string,
  ...words: string[]
): Omit<ServiceProcess, 'url'> & { readonly listening: Promise<string> } {
  return listeningService(startTroupe(home, ['dashboard', '--port', '0', ...words]));
}

/** As {@link spawnService}, a service whose session threads end with SIGUSR2, and whose Playwright threads with SIGURG. */
export function spawnServiceWithMortalThreads(home: string): ReturnType<typeof spawnService> {
  const killer = new URL('./thread-killer.mjs', import.meta.url).href;
  return listeningService(startTroupe(home, ['dashboard', '--port', '0'], { nodeWords: [`--import=${killer}`] }));
}

/** As {@link spawnService}, a service whose calls of the system can be made to fail: see `fault-hooks.mjs`. */
export function spawnServiceWithFaults(
  home: string,
  env: { readonly [name: string]: string },
): ReturnType<typeof spawnService> {
  const nodeWords = [`--import=${new URL('./fault-hooks.mjs', import.meta.url).href}`];
  return listeningService(startTroupe(home, ['dashboard', '--port', '0'], { nodeWords, env, channel: true }));
}

function listeningService({ child, output }: ReturnType<typeof startTroupe>): ReturnType<typeof spawnService> {
  const closed = once(child, 'close');
  const listening = new Promise<string>((resolve, reject) => {
    if (child.stdout === null) throw new Error('No output');
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /listens on (\S+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    closed.then(() => reject(new Error(`The service ended: ${output()}`)), reject);
  });
  // Who kills it while it starts does not wait for it.
  listening.catch(() => undefined);
  return {
    child,
    listening,
    output,
    async end(signal) {
      child.kill(signal);
      await closed;
      return { code: child.exitCode, signal: child.signalCode };
    },
  };
}

function startTroupe(
  home: string,
  words: readonly string[],
  {
    nodeWords = [],
    env = {},
    channel = false,
    stdin = 'ignore',
    program = 'dist/cli.js',
  }: {
    readonly program?: string;
    readonly nodeWords?: readonly string[];
    readonly env?: { readonly [name: string]: string };
    /** Whether messages can be sent to its process. */
    readonly channel?: boolean;
    readonly stdin?: 'ignore' | 'pipe';
  } = {},
): { child: ChildProcess; output: () => string } {
  const child = spawn(process.execPath, [...nodeWords, program, ...words], {
    env: { ...process.env, TROUPE_HOME: home, ...env },
    stdio: [stdin, 'pipe', 'pipe', ...(channel ? (['ipc'] as const) : [])],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return { child, output: () => output };
}
