// agent-browser as processes: one for each command, and its own daemon behind them. Installed on demand into the user's cache.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cachedPackages } from '../../scripts/support/cached-packages.mjs';

export const AGENT_BROWSER = '0.41.2';
const COMMAND_MS = 30_000;
const MAX_OUTPUT = 64 * 1024 * 1024;

/**
 * At the browser of that endpoint: `open(url)`, and `snapshot()`, which answers the elements that can be operated as a model
 * is told them. `closers` gets what ends it.
 */
export async function startAgentBrowser(cdpUrl, home, closers) {
  const path = cachedPackages(`agent-browser-${AGENT_BROWSER}`, [`agent-browser@${AGENT_BROWSER}`]);
  const cli = path('agent-browser', 'bin', 'agent-browser.js');
  const env = {
    ...process.env,
    HOME: home,
    XDG_RUNTIME_DIR: join(home, 'run'),
    AGENT_BROWSER_SOCKET_DIR: join(home, 'run'),
  };
  const options = { cwd: home, env, timeout: COMMAND_MS, maxBuffer: MAX_OUTPUT };
  const command = async (...args) =>
    (await promisify(execFile)(process.execPath, [cli, '--session', 'bench', ...args], options)).stdout;
  await command('connect', cdpUrl);
  closers.push(() => command('close').catch(() => undefined));
  return { open: (url) => command('open', url), snapshot: () => command('snapshot', '-i') };
}
