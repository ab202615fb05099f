import { CsvError, parse } from 'csv-parse/sync';
import { visit } from 'jsonc-parser';
import { TroupeError } from '#troupe/protocol/errors.js';
import { fileText } from '../../protocol/file-text.js';
import { asObject } from '../collection/json-access.js';

/** The variables of one iteration. */
export type DataRow = Readonly<Record<string, unknown>>;

/**
 * Reads a data file: a JSON list of objects, or CSV as spreadsheets write it, with the names in its first line.
 *
 * @param content bytes, or the text of {@link fileText}
 * @param name of the file, for errors
 * @throws INVALID_REQUEST if it is neither, has no rows, or has values that would be lost
 */
export function readDataRows(content: Uint8Array | string, name: string): readonly DataRow[] {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const text = fileText(bytes, name);
  const rows = /^\s*[[{]/.test(text) ? jsonRows(text, name) : csvRows(text, name);
  if (rows.length === 0) throw new TroupeError('INVALID_REQUEST', `The data file ${name} has no rows`);
  return rows;
}

function jsonRows(content: string, name: string): readonly DataRow[] {
  const invalid = (): TroupeError =>
    new TroupeError('INVALID_REQUEST', `The data file ${name} must be a JSON list of objects, or CSV`);
  let list: unknown;
  try {
    list = JSON.parse(withLongNumbersAsText(content));
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

/** Integers that no number holds exactly become text, as in CSV: `JSON.parse` would round them. */
function withLongNumbersAsText(json: string): string {
  const pieces: string[] = [];
  let at = 0;
  visit(json, {
    onLiteralValue(value, offset, length) {
      const digits = json.slice(offset, offset + length);
      if (typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/.test(digits)) return;
      pieces.push(json.slice(at, offset), `"${digits}"`);
      at = offset + length;
    },
  });
  return pieces.join('') + json.slice(at);
}

interface CsvRecord {
  readonly fields: readonly (string | number)[];
  /** So many bytes the file has up to the end of this record. */
  readonly end: number;
}

const LINE_ENDS = ['\r\n', '\n', '\r'];

function csvRows(text: string, name: string): readonly DataRow[] {
  const refuse = (line: number, why: string): TroupeError =>
    new TroupeError('INVALID_REQUEST', `The data file ${name} cannot be used: line ${line}: ${why}`);
  // Excel writes and reads such a line.
  const declared = /^"?sep=([^"\r\n])"?(?:\r\n|\r|\n|$)/iu.exec(text);
  const skipped = declared?.[0] ?? '';
  const csv = text.slice(skipped.length);
  const separators = declared?.[1] === undefined ? separatorsIn(csv) : [declared[1]];
  const [separator = ',', other] = separators;
  /** The line of what follows so many bytes of `csv`, and blanks. The parser counts CRLF within quotes as two lines. */
  const lineAfter = (bytes: number): number => {
    const encoded = Buffer.from(csv);
    const before = encoded.subarray(0, bytes).toString();
    const [blank = ''] = /^\s*/.exec(encoded.subarray(bytes).toString()) ?? [];
    return (skipped + before + blank).split(/\r\n|\r|\n/).length;
  };
  if (other !== undefined) {
    const [one, two] = [separator, other].map((character) => (character === '\t' ? 'tabs' : `"${character}"`));
    throw refuse(
      lineAfter(0),
      `the names may be separated by ${one} or by ${two}; quote names that contain one of them, or add a first line sep=${separator === '\t' ? other : separator}`,
    );
  }
  const records: CsvRecord[] = [];
  try {
    parse(csv, {
      delimiter: separator,
      record_delimiter: LINE_ENDS,
      trim: true,
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      cast: (value, { quoting }) => (quoting ? value : valueIn(value)),
      on_record(fields: (string | number)[], { bytes }) {
        records.push({ fields, end: bytes });
        return null;
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // These bytes end before the value that is at fault.
    throw refuse(lineAfter(Number(error.bytes)), REASONS[error.code] ?? error.message);
  }
  const [head, ...rows] = records;
  const names = head?.fields.map(String) ?? [];
  const twice = names.find((one, index) => one !== '' && names.indexOf(one) < index);
  if (twice !== undefined) throw refuse(lineAfter(0), `it has the name '${twice}' twice`);
  return rows.map(({ fields }, index) => {
    const lost = fields.findIndex((value, column) => value !== '' && (names[column] ?? '') === '');
    if (lost !== -1) {
      const line = lineAfter(records[index]?.end ?? 0);
      throw refuse(
        line,
        `'${fields[lost]}' in column ${lost + 1} has no name; quote values that contain "${separator}"`,
      );
    }
    const named = names.map((one, column) => [one, fields[column] ?? ''] as const);
    return Object.fromEntries(named.filter(([one]) => one !== ''));
  });
}

const REASONS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote that opens here is not closed',
  CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE:
    'something follows after the closing quote of a value; double the quotes within it',
};

/** So much of a file is looked at for its names. */
const MAX_HEAD = 64 * 1024;
const QUOTED = /"(?:[^"]|"")*"/g;

/** The separators that stand between the names, outside of quotes. */
function separatorsIn(csv: string): string[] {
  const [head = ''] = /[^\r\n]+/.exec(csv.slice(0, MAX_HEAD).trimStart().replace(QUOTED, '')) ?? [];
  return [',', ';', '\t'].filter((separator) => head.includes(separator));
}

/** A number if it is written with the same characters, so that `007` and `1.50` are sent as they are; else the text. */
function valueIn(text: string): string | number {
  const number = Number(text);
  const isKept = /^-?\d+(?:\.\d+)?$/.test(text) && String(number) === text;
  return isKept && (!Number.isInteger(number) || Number.isSafeInteger(number)) ? number : text;
}
