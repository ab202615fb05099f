import { spawn } from 'node:child_process';

/** How long a command may take to fail; one that runs on is a browser. */
const SETTLE_MS = 1500;

/**
 * Opens the system browser. `command` is what the user set as BROWSER: a command line, with `%s` where the address goes,
 * else at its end.
 *
 * @throws Error where the command is not there or fails at once
 */
export async function openBrowser(
  url: string,
  command: string | undefined,
  platform = process.platform,
): Promise<void> {
  const [program, args] = commandFor(url, command, platform);
  const child = spawn(program, args, { stdio: 'ignore', detached: true });
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, SETTLE_MS);
    const end = (failure: Error | null): void => {
      clearTimeout(timer);
      if (failure === null) resolve();
      else reject(failure);
    };
    child.once('error', end);
    child.once('exit', (code) => end(code === 0 || code === null ? null : new Error(`${program} ended with ${code}`)));
  });
  // What runs on is the user's.
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
