import type { Method, Route } from './route.js';

/** The routes at a path. */
export interface Found {
  /** None of them needs a token. */
  readonly isOpen: boolean;
  readonly routes: ReadonlyMap<Method, Route>;
  /** Decoded; null if the percent-encoding is malformed. */
  readonly params: { readonly [name: string]: string | null };
}

interface Pattern {
  readonly segments: readonly string[];
  /** Its last segment matches all remaining segments. */
  readonly takesRest: boolean;
  readonly routes: Map<Method, Route>;
}

/**
 * Finds routes by raw path. A path is split before it is decoded, so an encoded slash never makes two segments of one;
 * `.` and `..` have no meaning. A literal path takes precedence over a pattern. `{name...}` at the end of a pattern
 * matches all remaining segments, at least one.
 */
export class Router {
  readonly #literal = new Map<string, Map<Method, Route>>();
  readonly #patterns: Pattern[] = [];

  constructor(routes: readonly Route[]) {
    for (const route of routes) this.#routesOf(route.path).set(route.method, route);
  }

  /** Null if no route has the path. */
  find(path: string): Found | null {
    const literal = this.#literal.get(path);
    if (literal) return found(literal, {});
    const segments = path.split('/');
    for (const pattern of this.#patterns) {
      const { length } = pattern.segments;
      if (pattern.takesRest ? length > segments.length : length !== segments.length) continue;
      const params = match(pattern.segments, segments);
      if (params) return found(pattern.routes, params);
    }
    return null;
  }

  #routesOf(path: string): Map<Method, Route> {
    if (!path.includes('{')) {
      const found = this.#literal.get(path) ?? new Map<Method, Route>();
      this.#literal.set(path, found);
      return found;
    }
    const known = this.#patterns.find((pattern) => pattern.segments.join('/') === path);
    if (known) return known.routes;
    const pattern: Pattern = { segments: path.split('/'), takesRest: path.endsWith('...}'), routes: new Map() };
    this.#patterns.push(pattern);
    return pattern.routes;
  }
}

function found(routes: ReadonlyMap<Method, Route>, params: Found['params']): Found {
  let isOpen = true;
  for (const { role } of routes.values()) isOpen &&= role === null;
  return { isOpen, routes, params };
}

function match(pattern: readonly string[], segments: readonly string[]): { [name: string]: string | null } | null {
  const params: { [name: string]: string | null } = {};
  for (let index = 0; index < pattern.length; index += 1) {
    const expected = pattern[index] ?? '';
    const segment = segments[index] ?? '';
    if (!expected.startsWith('{')) {
      if (segment !== expected) return null;
      continue;
    }
    if (segment === '') return null;
    if (expected.endsWith('...}')) {
      const rest = segments.slice(index).map(decode);
      params[expected.slice(1, -4)] = rest.includes(null) ? null : rest.join('/');
      return params;
    }
    params[expected.slice(1, -1)] = decode(segment);
  }
  return params;
}

function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
