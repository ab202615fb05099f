import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Teardown } from '../support/service.js';

/** A temporary folder of a test, removed at its end. */
export function ownFolder(t: Teardown): string {
  const folder = mkdtempSync(join(tmpdir(), 'w-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 200 }));
  return folder;
}

/** A command that runs. */
export interface RunningCommand {
  readonly child: ChildProcess;
  /** All that it printed so far, on both streams. */
  output(): string;
  /** Its exit code when it has ended; null if a signal ended it. */
  readonly ended: Promise<number | null>;
}

/** Starts a command; the caller waits for its end. */
export function startCommand(
  [command = '', ...words]: readonly string[],
  options: Pick<SpawnOptions, 'cwd' | 'env'> & { readonly input?: string } = {},
): RunningCommand {
  const { input, ...rest } = options;
  const child = spawn(command, words, { ...rest, stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  child.stdin?.end(input);
  return { child, output: () => said, ended: once(child, 'close').then(([code]) => code) };
}

/** Runs a command and returns what it printed. @throws if its exit code is not 0 */
export async function run(
  command: readonly string[],
  options: Parameters<typeof startCommand>[1] = {},
): Promise<string> {
  const { ended, output } = startCommand(command, options);
  const code = await ended;
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${output().slice(-4_000)}`);
  return output().trim();
}
