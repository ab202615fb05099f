import { queryPairs, queryPart } from '../../protocol/query.js';
import type { PairRow, ParamRow } from '../../protocol/request-window.js';

/** The rows of the Params table for a URL: disabled ones keep their positions if possible. */
export function paramsOf(url: string, before: readonly ParamRow[]): ParamRow[] {
  const [, query] = /\?([^#]*)/.exec(url) ?? [];
  const sent =
    query === undefined ? [] : queryPairs(query).map(({ key, value }) => ({ name: key, value, enabled: true }));
  const rows: ParamRow[] = [];
  for (const row of before) {
    const next = row.enabled ? sent.shift() : row;
    if (next !== undefined) rows.push(next);
  }
  return [...rows, ...sent];
}

/** The URL with the query from the rows. */
export function urlWith(url: string, rows: readonly ParamRow[]): string {
  const [, base = url, , fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url) ?? [];
  const sent = rows.filter(({ enabled }) => enabled);
  const query = sent.map(({ name, value }) => queryPart(name, value)).join('&');
  return `${base}${sent.length === 0 ? '' : `?${query}`}${fragment}`;
}

/**
 * A row for each `:name` that begins a segment of the path, with the known values. As in Postman, a name ends at a dot, unless
 * there is a longer one already.
 */
export function pathVariablesOf(url: string, before: readonly PairRow[]): PairRow[] {
  const [, path = ''] = /^(?:[^:/?#]+:\/\/)?[^/?#]*([^?#]*)/.exec(url) ?? [];
  const known = (name: string): PairRow | undefined => before.find((row) => row.name === name);
  return [...path.matchAll(/\/:([^/{}]+)/g)].flatMap(([, segment = '']) => {
    const [short = ''] = segment.split('.');
    if (known(segment) === undefined && short === '') return [];
    return [known(segment) ?? known(short) ?? { name: short, value: '', enabled: true }];
  });
}
