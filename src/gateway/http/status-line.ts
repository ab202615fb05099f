import { STATUS_CODES } from 'node:http';

/** A status as it is in the first line of an answer: `404 Not Found`. */
export function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
}
