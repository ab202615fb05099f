import { pause, stretched } from '../../base/deadline.js';
import {
  type Found,
  findServices,
  type LocalService,
  provenFetch,
  strangerSentence,
} from '../../client/local-service/find-service.js';
import { plainTokenWarning } from '../../client/local-service/plain-token.js';
import { listens } from '../../client/local-service/this-machine.js';
import { agentHome, serviceToken, serviceUrl } from '../../config/environment.js';
import type { Config } from '../../config.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import { UnprovenService } from '../../terminal/failure.js';
import { printError } from '../../terminal/output.js';
import { ServiceClient } from '../service-client.js';
import { warnOfOtherVersion } from '../version-check.js';

/** How long a service may take to start, such as one that takes over many sessions. */
const START_MS = stretched(60_000);
const AGAIN_MS = 250;

/** The warning that was printed last. */
let warned: string | null = null;

/** What a command finds: a service to trust; what is not one; or null if nothing answers. */
export type Reached = ServiceClient | UnprovenService | null;

/**
 * The service that a command is to use. One that `url` or TROUPE_URL names is trusted; else the one of this home, then the
 * user's, must prove that it wrote the home's file before it gets anything. Whose it is is printed on standard error.
 * A service that is starting is waited for.
 *
 * @param wanted.session the service that has this session is preferred
 * @throws UNAVAILABLE if none answers at `url`, or it does not end its start; the signal's reason
 */
export async function reachService(
  config: Config,
  wanted: {
    readonly url?: string | undefined;
    readonly session?: string | undefined;
    /** A named service gets this home's own token, too, if TROUPE_TOKEN is not set. */
    readonly isAdmin?: boolean;
    /** A service that is starting is not waited for. */
    readonly isUrgent?: boolean;
    /** Ends waiting for it. */
    readonly signal?: AbortSignal | undefined;
  },
): Promise<Reached> {
  const { isUrgent = false } = wanted;
  const named = namedService(wanted.url, wanted.isAdmin === true ? config.token : undefined);
  if (named !== null) {
    if (!(await named.answers())) throw new TroupeError('UNAVAILABLE', `No service answers at ${named.url}`);
    if (!isUrgent) await started(named, wanted.signal);
    warnOfOtherVersion(named);
    return named;
  }
  const homes = [config.home, agentHome()];
  const port = config.port === 0 ? undefined : ownUrl(config);
  let found: Found;
  try {
    found = await findServices(homes, { port });
  } catch (error) {
    // A file that is not to be trusted.
    return new UnprovenService(encodeError(error).error, null);
  }
  const { stranger } = found;
  const services =
    stranger?.says === 'starting' && !isUrgent ? await publishedServices(homes, found, wanted.signal) : found.services;
  const clients = services.map((service) => clientOf(service, config));
  const client = wanted.session === undefined ? clients[0] : await ownerOf(wanted.session, clients);
  if (client !== undefined) {
    const service = services[clients.indexOf(client)];
    printError(`Using the service of ${service?.ownHome ?? service?.home} at ${client.url}\n`);
    // With that it is known of what version it is.
    await client.answers();
    warnOfOtherVersion(client);
    return client;
  }
  if (stranger === null || !(await listens(stranger.url))) return null;
  if (isUrgent && stranger.says === 'starting') {
    return new UnprovenService(`The service at ${stranger.url} is starting, or stopping`, stranger.says);
  }
  return new UnprovenService(strangerSentence(stranger, `add --url ${stranger.url}`), stranger.says);
}

/**
 * The service that `url` or TROUPE_URL names; null if none is named. Warns if the token can be read on the way.
 * @param token sent if TROUPE_TOKEN is not set
 */
export function namedService(url: string | undefined, token?: string): ServiceClient | null {
  const named = url ?? serviceUrl();
  if (named === undefined) return null;
  const sent = serviceToken() ?? token ?? null;
  const warning = sent === null ? null : plainTokenWarning(named);
  if (warning !== null && warning !== warned) printError(`warning: ${warning}\n`);
  warned = warning;
  return new ServiceClient(named, { token: sent });
}

/** Where the service of a configuration listens, as a client of the same machine calls it. */
export function ownUrl({ host, port }: Pick<Config, 'host' | 'port'>): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

function clientOf(service: LocalService, { home, token }: Config): ServiceClient {
  const own = service.home === home ? token : undefined;
  return new ServiceClient(service.url, { token: serviceToken() ?? own ?? null, fetch: provenFetch(service) });
}

/** The first one if none has the session, so that it says so. */
async function ownerOf(session: string, clients: readonly ServiceClient[]): Promise<ServiceClient | undefined> {
  for (const client of clients.length < 2 ? [] : clients) {
    const record = await client.json('GET', `/api/sessions/${encodeURIComponent(session)}`).catch(() => null);
    if (record !== null) return client;
  }
  return clients[0];
}

/** Waits until a service that is starting has its file; none if it ends or takes too long. @throws the signal's reason */
async function publishedServices(
  homes: readonly string[],
  { stranger, asked }: Found,
  signal: AbortSignal | undefined,
): Promise<readonly LocalService[]> {
  const { url } = stranger ?? { url: '' };
  printError(`Waiting for the service at ${url}, which is starting\n`);
  const until = performance.now() + START_MS;
  while (performance.now() < until && (await listens(url))) {
    await pause(AGAIN_MS, { signal });
    const { services } = await findServices(homes, { skip: asked });
    if (services.length > 0) return services;
  }
  return [];
}

/** A service that listens may still be starting: it is waited for. @throws UNAVAILABLE; the signal's reason */
async function started(client: ServiceClient, signal?: AbortSignal): Promise<void> {
  const until = performance.now() + START_MS;
  for (let tries = 0; await client.isStarting(); tries += 1) {
    if (tries === 0) printError(`Waiting for the service at ${client.url}, which is starting\n`);
    if (performance.now() > until) {
      throw new TroupeError('UNAVAILABLE', `The service at ${client.url} has not ended its start; see its log`);
    }
    await pause(AGAIN_MS, { signal });
  }
}
