/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The slow reference of `match` for JSON values: every path at which `actual` differs from `expected`, written from the
 * specification without regard to speed, limits or hostile scripts.
 */
export function failingPaths(actual: Json | undefined, expected: Json, path = '$'): string[] {
  if (typeof expected === 'string' && expected.startsWith('#')) return fits(actual, expected) ? [] : [path];
  if (expected === null || typeof expected !== 'object') return actual === expected ? [] : [path];
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return [path];
    const length = actual.length === expected.length ? [] : [path];
    const both = expected.slice(0, actual.length);
    return [...length, ...both.flatMap((item, at) => failingPaths(actual[at] as Json, item, `${path}[${at}]`))];
  }
  if (actual === undefined || actual === null || typeof actual !== 'object' || Array.isArray(actual)) return [path];
  const members = actual as { readonly [key: string]: Json };
  return Object.entries(expected).flatMap(([key, value]) =>
    failingPaths(Object.hasOwn(members, key) ? members[key] : undefined, value, `${path}.${key}`),
  );
}

function fits(actual: Json | undefined, marker: string): boolean {
  if (marker.startsWith('##')) return actual === undefined || actual === null || fits(actual, marker.slice(1));
  const counted = /^#\[(\d*)\]$/.exec(marker);
  if (counted !== null) return Array.isArray(actual) && (counted[1] === '' || actual.length === Number(counted[1]));
  switch (marker) {
    case '#string':
    case '#number':
    case '#boolean':
      return typeof actual === marker.slice(1);
    case '#array':
      return Array.isArray(actual);
    case '#object':
      return typeof actual === 'object' && actual !== null && !Array.isArray(actual);
    case '#null':
      return actual === null;
    case '#notnull':
      return actual !== null && actual !== undefined;
    case '#present':
      return actual !== undefined;
    case '#notpresent':
      return actual === undefined;
    case '#ignore':
      return true;
    case '#uuid':
      return typeof actual === 'string' && UUID.test(actual);
    case '#regex [a-c]+':
      return typeof actual === 'string' && /^[a-c]+$/.test(actual);
    case '#? _ > 1':
      return actual !== undefined && (actual as number) > 1;
    default:
      throw new Error(`The reference does not know ${marker}`);
  }
}
