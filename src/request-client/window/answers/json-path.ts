import { compile } from 'json-p3';

/** What a query selects: where each value is, and whether there is one at most. */
export interface Selected {
  readonly locations: readonly (readonly (string | number)[])[];
  readonly isSingular: boolean;
}

/**
 * Evaluates a JSONPath query (RFC 9535). Bundled with the package that does it.
 * @throws Error with the position of a mistake
 */
export function selectByPath(path: string, value: unknown): Selected {
  const query = compile(path);
  return { locations: query.query(value).nodes.map(({ location }) => location), isSingular: query.singularQuery() };
}
