import { randomWord } from '../client/local-service/service-proof.js';
import { agentHome, hasNamedHome } from '../config/environment.js';
import { readConfig } from '../config.js';
import { TroupeError } from '../protocol/errors.js';
import { PRODUCT_NAME } from '../protocol/product-name.js';
import { type Service, startService } from '../service.js';
import { makeLog } from '../telemetry/log.js';
import { DASHBOARD } from '../terminal/commands/service-commands.js';
import { describeFailure, UsageError } from '../terminal/failure.js';
import { print, printError } from '../terminal/output.js';
import { parseOptions } from '../terminal/parse-options.js';
import { watchSignals } from '../terminal/watch-signals.js';
import { publishService } from './local-service/publish-service.js';
import { HOME_TAKEN } from './local-service/start-service.js';
import { stopWhenIdle } from './local-service/stop-when-idle.js';
import { makeFirstHome } from './setup/make-first-home.js';
import { readVersion } from './version.js';
import { welcome } from './welcome.js';

/**
 * Runs the service until SIGINT, SIGTERM, or SIGHUP. A second signal ends it without waiting for running jobs. What a
 * person is told stands on standard output; where the log is for a collector it has that, too, and there is no text beside it.
 */
export async function runDashboard(args: readonly string[]): Promise<number> {
  const { 'stop-when-idle': idle, ...flags } = parseOptions(args, DASHBOARD);
  if (idle !== undefined && !/^[1-9]\d{0,5}$/.test(idle))
    throw new UsageError('--stop-when-idle takes seconds, from 1');
  const stop = watchSignals();
  const config = readConfig(flags);
  const log = makeLog(config.log, process.stderr);
  const forPeople = config.log === 'text';
  await makeFirstHome(config, forPeople ? undefined : log);
  if (forPeople) printError(`The home is ${config.home}\n`);
  const [secret, version] = [randomWord(), readVersion()];
  const start = new AbortController();
  void stop.first.then((name) => start.abort(new Cancelled(`${name}: stopped before the service was ready`)));
  let service: Service;
  try {
    service = await startService(config, { version, log, secret, signal: start.signal });
  } catch (error) {
    if (error instanceof Cancelled) {
      log(error.message);
      return 0;
    }
    if (idle === undefined || !isHomeTaken(error)) throw error;
    printError(`${PRODUCT_NAME}: ${describeFailure(error)}\n`);
    return HOME_TAKEN;
  }
  // Without a named home, agents look for a service in the user's.
  const homes = hasNamedHome() ? [config.home] : [config.home, agentHome()];
  const withdraw = await publishService(homes, { url: service.url, pid: process.pid, secret, version }, log);
  const idleEnd = stopWhenIdle(service, idle === undefined ? null : Number(idle) * 1000);
  if (forPeople) print(welcome(service));
  else
    log('Troupe listens', { url: service.url, home: config.home, driver: service.description, server: service.server });
  const why = await Promise.race([stop.first, service.failed, service.left, idleEnd.reached]);
  idleEnd.cancel();
  await withdraw();
  if (why instanceof Error) log(`the service cannot continue: ${why.message}`);
  else if (why === 'idle') log('The service is idle: stopping');
  else if (why === 'drained') log('This node was drained: stopping');
  else {
    const seconds = config.node === undefined ? 10 : config.drainTimeout;
    const line = `${why}: stopping; runs have ${seconds} s to finish`;
    if (forPeople) print(`\n${line} (again: stop at once)\n`);
    else log(line);
  }
  const stopping = service.stop(why instanceof Error ? { drainMs: 0 } : {});
  await Promise.race([stopping, stop.second.then(() => service.stop({ drainMs: 0 }))]);
  await stopping;
  stop.release();
  return why instanceof Error ? 1 : 0;
}

/** Somebody ended the service while it started. */
class Cancelled extends Error {}

/** The journal is open in another service. */
function isHomeTaken(error: unknown): boolean {
  return (
    error instanceof TroupeError && (error.details?.cause === 'SQLITE_BUSY' || error.details?.cause === 'SQLITE_LOCKED')
  );
}
