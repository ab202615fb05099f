import { readConfig } from '../config.js';
import { type Service, startService } from '../service.js';
import { makeLog } from '../telemetry/log.js';
import { parseOptions } from './parse-options.js';
import { readVersion } from './version.js';
import { watchSignals } from './watch-signals.js';

/** Runs the service until SIGINT or SIGTERM. A second signal ends it without waiting for running jobs. */
export async function runDashboard(args: readonly string[]): Promise<number> {
  const flags = parseOptions(args, {
    port: { type: 'string' },
    host: { type: 'string' },
    driver: { type: 'string' },
    'max-sessions': { type: 'string' },
    forward: { type: 'string' },
  });
  const stop = watchSignals();
  const config = readConfig(flags);
  const log = makeLog(config.log, process.stderr);
  const service = await startService(config, { version: readVersion(), log });
  process.stdout.write(welcome(service));
  const why = await Promise.race([stop.first, service.failed]);
  if (why instanceof Error) log(`the service cannot go on: ${why.message}`);
  else process.stdout.write(`\n${why}: stopping; running jobs have 10 s (once more: at once)\n`);
  const stopping = service.stop(why instanceof Error ? { drainMs: 0 } : {});
  await Promise.race([stopping, stop.second.then(() => service.stop({ drainMs: 0 }))]);
  await stopping;
  stop.release();
  return why instanceof Error ? 1 : 0;
}

/** Where `npm run example` listens. */
const SHOP_PORT = 4500;

function welcome({ url, description, reachesLocalhost }: Service): string {
  const create = reachesLocalhost(SHOP_PORT) ? '-X POST' : `-d '{"forward": [${SHOP_PORT}]}'`;
  return `Troupe listens on ${url}
  ${description}

Try it, in a second terminal (the example shop) and a third (the lines below it):

  npm run example

  ID=$(curl -s ${create} ${url}/api/sessions | grep -o '"id":"[^"]*"' | cut -d '"' -f 4)
  curl -s ${url}/sessions/$ID/proxy -d '{"js": "agent.go(\\"http://127.0.0.1:${SHOP_PORT}/\\")"}'
  curl -s ${url}/sessions/$ID/proxy -d '{"js": "agent.look().elements.map(e => e.locator)"}'
  curl -s ${url}/sessions/$ID/proxy -d '{"js": "agent.act(\\"{a}Log in\\", \\"click\\")"}'
  curl -s ${url}/sessions/$ID/proxy -d '{"js": "match(agent.look(), {url: \\"#regex .*/login\\", title: \\"#string\\"})"}'
  curl -s -X DELETE ${url}/api/sessions/$ID

Ctrl-C ends the service with all its browsers.
`;
}
