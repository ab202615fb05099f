import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { z } from 'zod';
import { TroupeError } from '../protocol/errors.js';
import { secretValue } from './secret-value.js';

/** Characters of a key that all nodes share. */
const MIN_CLUSTER_KEY = 32;

/** A service that shares its database with others. */
export const NodeKey = z.strictObject({
  id: z
    .string()
    .regex(/^[\w.-]{1,60}$/, 'has 1 to 60 letters, digits, dots, dashes or underscores')
    .optional(),
  url: z.url().refine(isOrigin, 'is the address at which other nodes reach this one, such as http://10.0.0.7:4444'),
  /** Multiplies all times after which a node counts as lost; equal on all nodes. */
  leaseFactor: z.number().min(0.05).max(20).default(1),
});

/** This node among those that share the database. */
export interface NodeChoice {
  /** The same for each start on this home. */
  readonly id: string;
  /** Identifies the home among all machines. */
  readonly home: string;
  /** Without a slash at the end. */
  readonly url: string;
  readonly leaseFactor: number;
}

/** @throws INVALID_REQUEST if nodes could not share anything, or not read what others sealed */
export function resolveNode(
  node: z.infer<typeof NodeKey> | undefined,
  { home, database, clusterKey }: { readonly home: string } & { readonly [name: string]: string | undefined },
): NodeChoice | undefined {
  if (node === undefined) return undefined;
  for (const [key, value] of Object.entries({ database, clusterKey })) {
    if (value !== undefined) continue;
    throw new TroupeError(
      'INVALID_REQUEST',
      `The configuration has "node", and nodes share a database and a key: set "${key}" to the name of an environment variable`,
    );
  }
  const place = `${hostname()} ${home}`;
  const hash = createHash('sha256').update(place).digest('hex');
  const id =
    node.id ??
    `${hostname()
      .replaceAll(/[^\w.-]/g, '-')
      .slice(0, 50)}-${hash.slice(0, 6)}`;
  return { id, home: hash, url: new URL(node.url).origin, leaseFactor: node.leaseFactor };
}

/**
 * The settings of the file with what TROUPE_NODE_ID and TROUPE_NODE_URL say about this node: with them, one file serves
 * all nodes.
 */
export function withNodeOfEnvironment(
  settings: { readonly [key: string]: unknown },
  { TROUPE_NODE_ID: id, TROUPE_NODE_URL: url }: NodeJS.ProcessEnv,
): { readonly [key: string]: unknown } {
  const own = { ...(id ? { id } : {}), ...(url ? { url } : {}) };
  if (Object.keys(own).length === 0) return settings;
  const { node = {} } = settings;
  return typeof node === 'object' ? { ...settings, node: { ...node, ...own } } : settings;
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, search, hash, username } = new URL(text);
  return /^https?:$/.test(protocol) && pathname === '/' && search + hash + username === '';
}

/** @throws INVALID_REQUEST if the variable is not set */
export function secretIn(env: NodeJS.ProcessEnv, key: string, variable: string | undefined): string | undefined {
  if (variable === undefined) return undefined;
  const value = secretValue(env, variable);
  if (value !== undefined) return value;
  throw new TroupeError('INVALID_REQUEST', `The configuration names the ${key} variable ${variable}, which is not set`);
}

export function databaseIn(env: NodeJS.ProcessEnv, variable: string | undefined): string | undefined {
  const url = secretIn(env, 'database', variable);
  if (url === undefined || (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url))) return url;
  // The value may contain a password.
  throw new TroupeError(
    'INVALID_REQUEST',
    `The variable ${variable}, which "database" names, must hold a URL such as postgres://user:password@host:5432/troupe`,
  );
}

export function clusterKeyIn(env: NodeJS.ProcessEnv, variable: string | undefined): string | undefined {
  const key = secretIn(env, 'clusterKey', variable);
  if (key === undefined || key.trim().length >= MIN_CLUSTER_KEY) return key;
  throw new TroupeError(
    'INVALID_REQUEST',
    `The variable ${variable}, which "clusterKey" names, must hold at least ${MIN_CLUSTER_KEY} characters; create a key with: openssl rand -base64 32`,
  );
}
