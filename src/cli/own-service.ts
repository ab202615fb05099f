import { chmod, rm } from 'node:fs/promises';
import { serviceToken } from '../config/environment.js';
import { type ConfigFlags, configElsewhere, readConfig } from '../config.js';
import { TroupeError } from '../protocol/errors.js';
import { warningOfScreenshots } from '../protocol/session.js';
import { printError } from '../terminal/output.js';
import { reachService } from './local-service/reach-service.js';
import { ServiceClient } from './service-client.js';
import { readVersion } from './version.js';

/** A service that a command may use. What was started for it is gone after `close`. */
export interface UsedService {
  readonly client: ServiceClient;
  /** For people: where it is. */
  readonly description: string;
  /** True for one that was started for this command alone. */
  readonly own: boolean;
  /** Idempotent. */
  close(): Promise<void>;
}

/**
 * The service that a command is to use: the one that {@link reachService} finds, else one of its own, in a folder that is
 * removed with it.
 *
 * @param wanted.own starts one of its own in any case
 * @param wanted.session a session of the service; one of its own would not have it
 * @param wanted.needsToken with TROUPE_TOKEN, a service that cannot prove itself is not replaced by one of its own
 * @param wanted.sessions how many browsers an own one may have
 * @throws UNAVAILABLE as {@link reachService}; what keeps an own one from starting
 */
export async function useService(wanted: {
  readonly url?: string | undefined;
  readonly own?: boolean | undefined;
  readonly flags?: ConfigFlags;
  readonly sessions: number;
  readonly needsToken?: boolean;
  readonly session?: string | undefined;
  /** Ends waiting for a service that is starting. */
  readonly signal?: AbortSignal;
}): Promise<UsedService> {
  const config = readConfig(wanted.flags ?? {});
  if (wanted.own !== true) {
    const reached = await reachService(config, wanted);
    if (reached instanceof ServiceClient) return running(reached);
    if (reached !== null) {
      if (wanted.session !== undefined || (wanted.needsToken === true && serviceToken() !== undefined)) throw reached;
      printError(`${reached.message}\nA service of its own is started for this command.\n`);
    }
  }
  if (wanted.session !== undefined) throw new TroupeError('UNAVAILABLE', 'No service runs here; --url names one');
  const warning = warningOfScreenshots(config.screenshots);
  if (warning !== null) printError(`warning: troupe.json: ${warning}\n`);
  const { clearLeftovers, makeTemporary } = await import('./leftovers.js');
  await clearLeftovers(config);
  const home = await makeTemporary('run');
  try {
    // Browsers that run as another user keep their profiles below it.
    await chmod(home, 0o755);
    // The whole house, which most commands do without.
    const { startService } = await import('../service.js');
    const service = await startService(configElsewhere(config, { home, maxSessions: wanted.sessions }), {
      version: readVersion(),
      log: () => undefined,
    });
    printError(`Started a service for this command, with the settings of ${config.home}\n`);
    let closed: Promise<void> | undefined;
    const close = async () => {
      await service.stop({ drainMs: 0 });
      await rm(home, { recursive: true, force: true });
    };
    return {
      client: new ServiceClient(service.url, { token: null }),
      description: `a service of its own (${service.description})`,
      own: true,
      close: () => {
        closed ??= close();
        return closed;
      },
    };
  } catch (error) {
    await rm(home, { recursive: true, force: true });
    throw error;
  }
}

function running(client: ServiceClient): UsedService {
  return { client, description: client.url, own: false, close: async () => undefined };
}
