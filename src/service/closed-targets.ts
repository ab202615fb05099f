import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { withDeadline } from '../base/deadline.js';
import type { ClusterNode } from '../cluster/cluster-node.js';
import type { Config } from '../config.js';
import { parseAddress } from '../net-policy/address.js';
import type { ClosedPorts } from '../net-policy/closed-ports.js';
import type { ClosedTarget } from '../net-policy/egress.js';

const LOOK_UP_MS = 2_000;
const PORTS: { readonly [protocol: string]: number } = { 'http:': 80, 'https:': 443 };
const POSTGRES_PORT = 5432;

/**
 * The configuration with the servers that the service itself uses closed to pages, scripts and webhooks: its database, and
 * the endpoint of its bucket if it is not Amazon's. By name, and by the addresses that the name has now.
 */
export async function withClosedTargets(config: Config): Promise<Config> {
  const { database, artifacts, egress } = config;
  const urls = [database, artifacts?.kind === 's3' ? artifacts.endpoint : undefined];
  const found = await Promise.all(urls.map((url) => (url === undefined ? null : targetOf(new URL(url)))));
  const closed = found.filter((target) => target !== null);
  return closed.length === 0 ? config : Object.freeze({ ...config, egress: { ...egress, closed } });
}

/** Closes the nodes of the cluster to pages, scripts and webhooks: the address at which others reach each of them. */
export class ClosedNodes {
  readonly #cluster: Pick<ClusterNode, 'nodes'>;
  readonly #ports: ClosedPorts;
  /** By URL: a name that cannot be looked up for a while stays closed. */
  #known: ReadonlyMap<string, ClosedTarget> = new Map();

  constructor(cluster: Pick<ClusterNode, 'nodes'>, ports: ClosedPorts) {
    this.#cluster = cluster;
    this.#ports = ports;
  }

  /** Looks which nodes there are. @throws the database's error; those that were known stay closed */
  async refresh(): Promise<void> {
    const urls = (await this.#cluster.nodes()).map(({ url }) => url);
    const found = await Promise.all(urls.map(async (url) => ({ url, target: await targetOf(new URL(url)) })));
    this.#known = new Map(
      found.flatMap(({ url, target }) => {
        const closed = target === null || target.addresses.length > 0 ? target : (this.#known.get(url) ?? null);
        return closed === null ? [] : [[url, closed] as const];
      }),
    );
    this.#ports.closeTargets(
      [...this.#known.values()].flatMap(({ addresses, port }) =>
        addresses.flatMap((text) => {
          const address = parseAddress(text);
          return address === null ? [] : [{ address, port }];
        }),
      ),
    );
  }
}

/** Null for a socket of this machine. */
async function targetOf(url: URL): Promise<ClosedTarget | null> {
  const socket = url.searchParams.get('host');
  const name = (socket ?? url.hostname)
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  if (name === '' || name.startsWith('/')) return null;
  const port = Number(url.port) || (PORTS[url.protocol] ?? POSTGRES_PORT);
  if (isIP(name) !== 0) return { name: null, addresses: [name], port };
  const found = await withDeadline(lookup(name, { all: true }), { ms: LOOK_UP_MS }).catch(() => []);
  return { name, addresses: found.map(({ address }) => address), port };
}
