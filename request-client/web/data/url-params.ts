import type { PairRow, ParamRow } from '../../protocol/request-window.js';

/** The rows of the Params table for a URL: disabled ones keep their positions if possible. */
export function paramsOf(url: string, before: readonly ParamRow[]): ParamRow[] {
  const [, query] = /\?([^#]*)/.exec(url) ?? [];
  const sent = query === undefined ? [] : query.split('&').map(paramOf);
  const rows: ParamRow[] = [];
  for (const row of before) {
    const next = row.enabled ? sent.shift() : row;
    if (next !== undefined) rows.push(next);
  }
  return [...rows, ...sent];
}

function paramOf(text: string): ParamRow {
  const at = text.indexOf('=');
  return at === -1
    ? { name: text, value: null, enabled: true }
    : { name: text.slice(0, at), value: text.slice(at + 1), enabled: true };
}

/** The URL with the query from the rows. */
export function urlWith(url: string, rows: readonly ParamRow[]): string {
  const [, base = url, , fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url) ?? [];
  const sent = rows.filter(({ enabled }) => enabled);
  const query = sent.map(({ name, value }) => (value === null ? name : `${name}=${value}`)).join('&');
  return `${base}${sent.length === 0 ? '' : `?${query}`}${fragment}`;
}

/** A row for each `:name` in the path of a URL, with the known values. */
export function pathVariablesOf(url: string, before: readonly PairRow[]): PairRow[] {
  const [, path = ''] = /^(?:[^:/?#]+:\/\/)?[^/?#]*([^?#]*)/.exec(url) ?? [];
  const names = [...path.matchAll(/\/:([^/{}]+)/g)].map(([, name = '']) => name);
  return names.map((name) => before.find((row) => row.name === name) ?? { name, value: '', enabled: true });
}
