import { TroupeError } from '#troupe/protocol/errors.js';
import { asObject } from '../collection/json-access.js';

/** The variables of one iteration. */
export type DataRow = Readonly<Record<string, unknown>>;

/**
 * Reads a data file: a JSON list of objects, or CSV with the names in its first line.
 * @throws INVALID_REQUEST if it is neither, or has no rows
 */
export function readDataRows(text: string, name: string): readonly DataRow[] {
  const content = text.replace(/^\uFEFF/, '');
  const rows = /^\s*\[/.test(content) ? jsonRows(content, name) : csvRows(content);
  if (rows.length === 0) throw new TroupeError('INVALID_REQUEST', `The data file ${name} has no rows`);
  return rows;
}

function jsonRows(content: string, name: string): readonly DataRow[] {
  const invalid = (): TroupeError =>
    new TroupeError('INVALID_REQUEST', `The data file ${name} must be a JSON list of objects, or CSV`);
  let list: unknown;
  try {
    list = JSON.parse(content);
  } catch {
    throw invalid();
  }
  if (!Array.isArray(list)) throw invalid();
  return list.map((row) => {
    const object = asObject(row);
    if (object === undefined) throw invalid();
    return object;
  });
}

const FIELD = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|$)/y;

/** RFC 4180. Numbers become numbers, as in Postman. */
function csvRows(content: string): readonly DataRow[] {
  const lines: unknown[][] = [];
  let line: unknown[] = [];
  FIELD.lastIndex = 0;
  while (FIELD.lastIndex < content.length) {
    const found = FIELD.exec(content);
    if (found === null) break;
    const [, quoted, bare = '', end] = found;
    line.push(quoted === undefined ? valueIn(bare.trim()) : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    lines.push(line);
    line = [];
  }
  const [names = [], ...rows] = lines.filter((fields) => fields.length > 1 || fields[0] !== '');
  return rows.map((fields) => Object.fromEntries(names.map((name, index) => [String(name), fields[index] ?? ''])));
}

function valueIn(text: string): unknown {
  return /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/.test(text) ? Number(text) : text;
}
