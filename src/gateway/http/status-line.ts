import { STATUS_CODES } from 'node:http';

/** A status as the first line of an answer has it: `404 Not Found`. */
export function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
}
