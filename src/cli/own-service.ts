import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pause, stretched } from '../base/deadline.js';
import { serviceToken, serviceUrl } from '../config/environment.js';
import { type ConfigFlags, configElsewhere, readConfig } from '../config.js';
import { TroupeError } from '../protocol/errors.js';
import { ownUrl, ServiceClient } from './service-client.js';
import { printError } from './terminal.js';
import { readVersion } from './version.js';
import { warnOfOtherVersion } from './version-check.js';

/** How long a service may take to start, such as one that takes over many sessions. */
const START_MS = stretched(60_000);
const AGAIN_MS = 250;

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
 * The service that a command is to use: the one at `url` (or TROUPE_URL), else the one that runs for this home, else
 * one of its own, in a folder that is removed with it.
 *
 * @param wanted.own starts one of its own in any case
 * @param wanted.sessions how many browsers an own one may have
 * @throws UNAVAILABLE when there is none at `url`, or it does not end its start; what keeps an own one from starting
 */
export async function useService(wanted: {
  readonly url?: string | undefined;
  readonly own?: boolean | undefined;
  readonly flags?: ConfigFlags;
  readonly sessions: number;
  /** Ends waiting for a service that is starting. */
  readonly signal?: AbortSignal;
}): Promise<UsedService> {
  const url = wanted.own === true ? undefined : (wanted.url ?? serviceUrl());
  if (url !== undefined) {
    const client = new ServiceClient(url);
    if (!(await client.answers())) throw new TroupeError('UNAVAILABLE', `No service answers at ${url}`);
    return running(await started(client, wanted.signal));
  }
  const config = readConfig(wanted.flags ?? {});
  if (wanted.own !== true) {
    const client = new ServiceClient(ownUrl(config), serviceToken() ?? config.token ?? null);
    if (config.port !== 0 && (await client.answers())) return running(await started(client, wanted.signal));
  }
  const home = await mkdtemp(join(tmpdir(), 'troupe-run-'));
  try {
    // Browsers that run as another user keep their profiles below it.
    await chmod(home, 0o755);
    // The whole house, which most commands do without.
    const { startService } = await import('../service.js');
    const service = await startService(configElsewhere(config, { home, maxSessions: wanted.sessions }), {
      version: readVersion(),
      log: () => undefined,
    });
    let closed: Promise<void> | undefined;
    const close = async () => {
      await service.stop({ drainMs: 0 });
      await rm(home, { recursive: true, force: true });
    };
    return {
      client: new ServiceClient(service.url, null),
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

/** A service that listens may still be starting: it is waited for. @throws UNAVAILABLE; the signal's reason */
async function started(client: ServiceClient, signal?: AbortSignal): Promise<ServiceClient> {
  const until = performance.now() + START_MS;
  for (let tries = 0; await client.isStarting(); tries += 1) {
    if (tries === 0) printError(`Waiting for the service at ${client.url}, which is starting\n`);
    if (performance.now() > until) {
      throw new TroupeError('UNAVAILABLE', `The service at ${client.url} has not ended its start; see its log`);
    }
    await pause(AGAIN_MS, { signal });
  }
  return client;
}

function running(client: ServiceClient): UsedService {
  warnOfOtherVersion(client);
  return { client, description: client.url, own: false, close: async () => undefined };
}
