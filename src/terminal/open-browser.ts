import { spawn } from 'node:child_process';
import { startLimit } from '../base/deadline.js';

/** How long a command may take to fail; one that still runs is a browser. */
const SETTLE_MS = 1500;

/**
 * Opens the system browser. `command` is the user's BROWSER variable: a command line, with `%s` for the URL, which is
 * otherwise appended.
 *
 * @throws Error if the command does not exist or fails at once
 */
export async function openBrowser(
  url: string,
  command: string | undefined,
  platform = process.platform,
): Promise<void> {
  const [program, args] = commandFor(url, command, platform);
  const child = spawn(program, args, { stdio: 'ignore', detached: true });
  await new Promise<void>((resolve, reject) => {
    const cancelTimer = startLimit(SETTLE_MS, resolve);
    const end = (failure: Error | null): void => {
      cancelTimer();
      if (failure === null) resolve();
      else reject(failure);
    };
    child.once('error', end);
    child.once('exit', (code) => end(code === 0 || code === null ? null : new Error(`${program} ended with ${code}`)));
  });
  // The running browser is the user's.
  child.unref();
}

function commandFor(url: string, command: string | undefined, platform: NodeJS.Platform): [string, string[]] {
  const [program, ...rest] = command?.trim().split(/\s+/) ?? [];
  if (program !== undefined && program !== '') {
    const args = rest.map((word) => word.replaceAll('%s', url));
    return [program, rest.some((word) => word.includes('%s')) ? args : [...args, url]];
  }
  if (platform === 'darwin') return ['open', [url]];
  if (platform === 'win32') return ['rundll32', ['url.dll,FileProtocolHandler', url]];
  return ['xdg-open', [url]];
}
