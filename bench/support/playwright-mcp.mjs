// Microsoft's @playwright/mcp as a process of its own, over its own Streamable HTTP. Installed on demand into the user's cache.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cachedPackages } from '../../scripts/support/cached-packages.mjs';

export const PLAYWRIGHT_MCP = '0.0.83';
const START_MS = 30_000;

/** Its server, at the browser of that endpoint; answers its address. `closers` gets what ends it. */
export async function startPlaywrightMcp(cdpUrl, home, closers) {
  const path = cachedPackages(`playwright-mcp-${PLAYWRIGHT_MCP}`, [`@playwright/mcp@${PLAYWRIGHT_MCP}`]);
  const cli = path('@playwright', 'mcp', 'cli.js');
  const args = [cli, '--port', '0', '--host', '127.0.0.1', '--cdp-endpoint', cdpUrl];
  const child = spawn(process.execPath, args, { cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
  closers.push(async () => {
    if (child.exitCode === null && child.kill()) await once(child, 'exit');
  });
  return await new Promise((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => reject(new Error(`@playwright/mcp did not start: ${said}`)), START_MS);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        said += text;
        const [url] = /http:\/\/[\w.:]+:\d+/.exec(said) ?? [];
        if (url === undefined) return;
        clearTimeout(timer);
        resolve(url);
      });
    }
  });
}
