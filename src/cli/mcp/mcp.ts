import { agentHome, serviceToken, serviceUrl } from '../../config/environment.js';
import { MCP } from '../../terminal/commands/agent-commands.js';
import { UsageError } from '../../terminal/failure.js';
import { parseOptions } from '../../terminal/parse-options.js';
import { watchSignals } from '../../terminal/watch-signals.js';
import { readVersion } from '../version.js';
import { StatelessUpstream } from './stateless-upstream.js';
import { StdioBridge } from './stdio-bridge.js';
import { Upstream } from './upstream.js';

/**
 * `troupe mcp`: the Model Context Protocol over standard input and output, for clients that start their servers. Forwards to
 * `/mcp` of the service that runs for the home, or of one that it starts. Standard output has messages only.
 * Loads as little as possible, so that it answers at once.
 * @returns 0 when the input has ended, or with SIGINT, SIGTERM, or SIGHUP
 */
export async function runMcp(args: readonly string[]): Promise<number> {
  const { url = serviceUrl() } = parseOptions(args, MCP);
  if (url !== undefined && !/^https?:\/\//.test(url)) throw new UsageError('--url takes the address of a service');
  const find = async (signal: AbortSignal): Promise<string> => {
    if (url !== undefined) return url.replace(/\/+$/, '');
    const { findOrStartService } = await import('../local-service/start-service.js');
    return (await findOrStartService(agentHome(), { signal })).url;
  };
  const stop = watchSignals();
  const token = serviceToken();
  const bridge = new StdioBridge({
    input: process.stdin,
    output: process.stdout,
    upstream: new Upstream({ find, token }),
    stateless: new StatelessUpstream({ find, token }),
    version: readVersion(),
  });
  try {
    await Promise.race([bridge.run(), stop.first]);
    return 0;
  } finally {
    // Also when its terminal is gone, which fails reading.
    await bridge.close();
    stop.release();
    // A client that still holds the other end of the pipe must not keep this process.
    process.stdin.destroy();
  }
}
