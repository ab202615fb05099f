import { z } from 'zod';
import { isHostPattern, normalizedHost } from '../net-policy/host-pattern.js';

/** `hostLimits` of the configuration: the most jobs at once, by host or `*.domain`. */
export const HostLimitsKey = z
  .record(z.string(), z.int('is a whole number').min(1, 'is at least 1').max(10_000, 'is at most 10000'))
  .superRefine((limits, context) => {
    for (const [pattern, message] of faultsOf(Object.keys(limits))) {
      context.addIssue({ code: 'custom', path: [pattern], message });
    }
  });

function faultsOf(patterns: readonly string[]): ReadonlyMap<string, string> {
  const faults = new Map<string, string>();
  const first = new Map<string, string>();
  for (const pattern of patterns) {
    if (!isHostPattern(pattern) || pattern.includes('/')) {
      faults.set(pattern, 'is not a host name, *.domain, or address; leave out scheme, port, and path');
      continue;
    }
    const host = normalizedHost(pattern) ?? pattern;
    const other = first.get(host);
    if (other === undefined) first.set(host, pattern);
    else faults.set(pattern, `is the same host as ${other}; keep one of them`);
  }
  return faults;
}
