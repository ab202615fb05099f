import { createHash } from 'node:crypto';
import { ClusterNode } from '../cluster/cluster-node.js';
import { keyFingerprint } from '../cluster/forward-seal.js';
import { leaseTimes } from '../cluster/lease-times.js';
import { type Config, isLoopback } from '../config.js';
import { MIGRATIONS } from '../journal/migrations.js';
import type { Log } from '../telemetry/log.js';

/**
 * Registers the service among those that share its database; undefined if the configuration has no `node`.
 * @throws UNAVAILABLE if it may not join
 */
export async function joinCluster(config: Config, version: string, log: Log): Promise<ClusterNode | undefined> {
  const { node, database, clusterKey, maxSessions } = config;
  if (node === undefined || database === undefined || clusterKey === undefined) return undefined;
  const { protocol, hostname } = new URL(node.url);
  if (protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, ''))) {
    log(`other nodes reach this one at ${node.url} without TLS: the network between them must be encrypted`);
  }
  return ClusterNode.join({
    url: database,
    times: leaseTimes(node.leaseFactor),
    log,
    node: {
      id: node.id,
      home: node.home,
      url: node.url,
      version,
      schema: MIGRATIONS.length,
      slots: maxSessions,
      keyFingerprint: keyFingerprint(Buffer.from(clusterKey.trim())),
    },
  });
}

/** Distinguishes the browsers of this service from those of others, also of nodes on the same machine. */
export function instanceOf({ node }: Config, instance: string): string {
  return node === undefined
    ? instance
    : createHash('sha256').update(`${instance} ${node.id}`).digest('hex').slice(0, 16);
}

/** Settles with the reason why this node may not register again; else stays pending. */
export async function refusalOf({ left }: ClusterNode): Promise<Error> {
  const why = await left;
  return why instanceof Error ? why : new Promise(() => undefined);
}

/** Settles when the node has left after a drain. */
export async function leaveOf({ left }: ClusterNode): Promise<'drained'> {
  return (await left) === 'left' ? 'drained' : new Promise(() => undefined);
}
