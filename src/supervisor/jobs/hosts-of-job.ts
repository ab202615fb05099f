import { normalizedHost } from '../../net-policy/host-pattern.js';
import type { AutoRequest } from '../../protocol/session.js';

/** The most hosts of one job that are counted. */
const MAX_HOSTS = 20;

/**
 * The hosts that a job says it works on: its `hosts`, or else those of the http(s) URLs among its arguments. In order,
 * with blanks between them; empty if it names none. What a flow opens beside them is not known before it runs.
 */
export function hostsOf({ hosts, args = {} }: Pick<AutoRequest, 'hosts' | 'args'>): string {
  const named = hosts ?? Object.values(args).flatMap((value) => hostOfUrl(value) ?? []);
  const known = new Set(named.flatMap((host) => normalizedHost(host) ?? []));
  return [...known].sort().slice(0, MAX_HOSTS).join(' ');
}

function hostOfUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^https?:\/\//i.test(value) || !URL.canParse(value)) return undefined;
  return new URL(value).hostname;
}
