import type { PairRow } from '../../protocol/request-window.js';
import { asObject, type JsonObject, listOf, member, textOf } from '../collection/json-access.js';

/** A list of `{key, value, disabled}`, or v2.0's lines of text, as rows of a table. */
export function readRows(list: unknown): PairRow[] {
  if (typeof list === 'string') return readLines(list);
  return listOf(list).map((entry) => ({
    name: textOf(member(entry, 'key')) ?? '',
    value: textOf(member(entry, 'value')) ?? '',
    enabled: isEnabled(entry),
  }));
}

export function isEnabled(entry: unknown): boolean {
  return member(entry, 'disabled') !== true && member(entry, 'enabled') !== false;
}

function readLines(text: string): PairRow[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [, off, name, value = ''] = /^\s*(\/\/)?\s*([^:]+):\s*(.*)$/s.exec(line) ?? [];
    return name === undefined ? [] : [{ name: name.trim(), value, enabled: off === undefined }];
  });
}

/**
 * Rows as a list of the collection. Other members of an entry (a description, a type) stay with the row of the same
 * key: the one at the same position, else the first unused one.
 */
export function writeRows<T extends { readonly name: string; readonly enabled: boolean }>(
  old: unknown,
  rows: readonly T[],
  own: (row: T) => JsonObject,
): unknown[] {
  const free = new Map(listOf(old).map((entry, index) => [index, entry]));
  const keyed = (index: number, name: string): boolean => free.has(index) && keyOf(free.get(index)) === name;
  return rows.map((row, index) => {
    const found = keyed(index, row.name) ? index : [...free.keys()].find((at) => keyed(at, row.name));
    const entry = found === undefined ? {} : (asObject(free.get(found)) ?? {});
    if (found !== undefined) free.delete(found);
    const { disabled: _, ...rest } = entry;
    return { ...rest, key: row.name, ...own(row), ...(row.enabled ? {} : { disabled: true }) };
  });
}

function keyOf(entry: unknown): string {
  return textOf(member(entry, 'key')) ?? '';
}
