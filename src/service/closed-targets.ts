import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { withDeadline } from '../base/deadline.js';
import type { Config } from '../config.js';
import type { ClosedTarget } from '../net-policy/egress.js';

const LOOK_UP_MS = 2_000;

/**
 * The configuration with the endpoint of its bucket, if it is not Amazon's, closed to pages, scripts and webhooks: by
 * name, and by the addresses that the name has now.
 */
export async function withClosedTargets(config: Config): Promise<Config> {
  const { artifacts, egress } = config;
  if (artifacts?.kind !== 's3' || artifacts.endpoint === undefined) return config;
  const closed = [await targetOf(new URL(artifacts.endpoint))];
  return Object.freeze({ ...config, egress: { ...egress, closed } });
}

async function targetOf(url: URL): Promise<ClosedTarget> {
  const name = url.hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  if (isIP(name) !== 0) return { name: null, addresses: [name], port };
  const found = await withDeadline(lookup(name, { all: true }), { ms: LOOK_UP_MS }).catch(() => []);
  return { name, addresses: found.map(({ address }) => address), port };
}
