import { causeOf } from '../../../src/protocol/report/failure-of-error.js';
import type { SessionRecord, SessionStatus } from '../../../src/protocol/session.js';
import type { SessionRow } from '../../../src/protocol/stream.js';

/** A record never changes, so its searchable text is built once. */
const texts = new WeakMap<SessionRecord, string>();

/** The rows of a state that contain every word, in a name, flow, model, label, id, error or summary. */
export function searchRows(
  rows: readonly SessionRow[],
  search: string,
  wanted: SessionStatus | 'all',
): readonly SessionRow[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted === 'all' && words.length === 0) return rows;
  return rows.filter(({ record }) => {
    if (wanted !== 'all' && record.status !== wanted) return false;
    if (words.length === 0) return true;
    const text = textOf(record);
    return words.every((word) => text.includes(word));
  });
}

function textOf(record: SessionRecord): string {
  const known = texts.get(record);
  if (known !== undefined) return known;
  const { id, name, prompt, flowFiles, model, labels, mode, error, summary, startedBy } = record;
  const named = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
  const cause = error === null ? null : causeOf(error).cause;
  const text = [
    id,
    name,
    prompt,
    model,
    mode,
    summary,
    startedBy,
    error?.code,
    error?.error,
    cause?.code,
    ...flowFiles,
    ...named,
  ]
    .join(' ')
    .toLowerCase();
  texts.set(record, text);
  return text;
}
