import { readConfig } from '../config.js';
import { startService } from '../service.js';
import { makeLog } from '../telemetry/log.js';
import { parseOptions } from './parse-options.js';
import { makeFirstHome } from './setup/make-first-home.js';
import { readVersion } from './version.js';
import { watchSignals } from './watch-signals.js';
import { welcome } from './welcome.js';

/**
 * Runs the service until SIGINT or SIGTERM. A second signal ends it without waiting for running jobs. What a person is told
 * stands on standard output; where the log is for a collector it has that, too, and there is no text beside it.
 */
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
  const forPeople = config.log === 'text';
  await makeFirstHome(config);
  const service = await startService(config, { version: readVersion(), log });
  if (forPeople) process.stdout.write(welcome(service));
  else log('Troupe listens', { url: service.url, driver: service.description, server: service.server });
  const why = await Promise.race([stop.first, service.failed]);
  if (why instanceof Error) log(`the service cannot go on: ${why.message}`);
  else if (forPeople) process.stdout.write(`\n${why}: stopping; running jobs have 10 s (once more: at once)\n`);
  else log(`${why}: stopping; running jobs have 10 s`);
  const stopping = service.stop(why instanceof Error ? { drainMs: 0 } : {});
  await Promise.race([stopping, stop.second.then(() => service.stop({ drainMs: 0 }))]);
  await stopping;
  stop.release();
  return why instanceof Error ? 1 : 0;
}
