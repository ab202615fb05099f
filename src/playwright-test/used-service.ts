import { plainText } from '../base/plain-text.js';
import { TroupeError } from '../client/index.js';
import {
  findServices,
  type LocalService,
  provenFetch,
  type Stranger,
  strangerSentence,
} from '../client/local-service/find-service.js';
import { plainTokenWarning } from '../client/local-service/plain-token.js';
import { agentHome, currentHome, serviceToken, serviceUrl } from '../config/environment.js';

/** The service that tests use, as a client's connection takes it. */
export interface UsedService {
  /** What `fetch` replaces if it is not where the service is. */
  readonly url: string;
  readonly token?: string;
  readonly fetch?: typeof globalThis.fetch;
  /** Where the service is. @throws UNAVAILABLE if there is none that can be trusted */
  address(): Promise<string>;
}

/** Where a service listens that nobody configured. */
const DEFAULT_URL = 'http://127.0.0.1:4444';

/** What was found; kept for the process. */
let found: Promise<LocalService> | null = null;

/** The service that `use.troupe` and the environment name, else the one that runs for this home, or the user's, and proves it. */
export function usedService({ url, token }: { readonly url?: string; readonly token?: string }): UsedService {
  const given = token ?? serviceToken();
  const named = (url ?? serviceUrl())?.replace(/\/+$/, '');
  const sent = given === undefined ? {} : { token: given };
  if (named !== undefined) {
    const warning = given === undefined ? null : plainTokenWarning(named);
    if (warning !== null) sayOnce(`warning: ${warning}`);
    return { url: named, ...sent, address: async () => named };
  }
  let service: { readonly url: string; readonly fetch: typeof globalThis.fetch } | null = null;
  const reach = async () => {
    found ??= findLocal();
    const { url: address } = await found;
    service ??= { url: address, fetch: provenFetch(await found) };
    return service;
  };
  return {
    url: DEFAULT_URL,
    ...sent,
    fetch: async (input, init) => {
      const at = await reach();
      return at.fetch(String(input).replace(DEFAULT_URL, at.url), init);
    },
    address: async () => (await reach()).url,
  };
}

async function findLocal(): Promise<LocalService> {
  const { services, stranger } = await findServices([currentHome(), agentHome()], { port: DEFAULT_URL });
  const [service] = services;
  if (service !== undefined) {
    sayOnce(`Using the service of ${service.ownHome ?? service.home} at ${service.url}`);
    return service;
  }
  // One that answers in another way is not asked again.
  if (stranger === null || stranger.says === 'starting') found = null;
  throw new TroupeError('UNAVAILABLE', describeAbsence(stranger));
}

function describeAbsence(stranger: Stranger | null): string {
  if (stranger === null) return `No service answers at ${DEFAULT_URL}`;
  if (stranger.says === 'starting') return `The service at ${stranger.url} is starting`;
  return strangerSentence(stranger, `name it in TROUPE_URL or \`use.troupe.url\``);
}

/** Says it in the suite's first worker. */
function sayOnce(text: string): void {
  if (process.env.TEST_WORKER_INDEX === '0') process.stderr.write(`${plainText(text)}\n`);
}
