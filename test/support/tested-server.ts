import { chooseServer, type ServerOption } from '#troupe/gateway/choose-server.js';
import type { ServerName } from '#troupe/gateway/http/http-server.js';

/** The HTTP server that services of tests have: what TROUPE_TEST_SERVER says, else the one that users get. */
export function testedServer(): ServerOption {
  const wanted = process.env.TROUPE_TEST_SERVER ?? 'auto';
  if (wanted === 'auto' || wanted === 'uws' || wanted === 'node') return wanted;
  throw new Error(`TROUPE_TEST_SERVER is auto, uws or node, not ${wanted}`);
}

/** Every HTTP server that this machine can have, for tests that cost next to nothing; the one that is asked for alone if one is. */
export async function everyServer(): Promise<readonly ServerName[]> {
  const wanted = testedServer();
  if (wanted !== 'auto') return [wanted];
  const { name } = await chooseServer();
  return name === 'node' ? ['node'] : ['uws', 'node'];
}
