/** Status and headers of an answer. One of the headers that every answer carries is replaced by one of its name. */
export interface ReplyHead {
  readonly status: number;
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
}

/** Answers are the service's own and change with every call: no page elsewhere reads them, no cache keeps them. */
const FIXED_HEADERS = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Cache-Control', 'no-store'],
] as const;

/** Every header of an answer, also those that all answers have. */
export function eachHeader(head: ReplyHead, write: (name: string, value: string) => void): void {
  for (const [name, value] of FIXED_HEADERS) if (!has(head, name)) write(name, value);
  for (const [name, value] of head.headers) write(name, value);
}

function has({ headers }: ReplyHead, name: string): boolean {
  for (const [own] of headers) if (own === name) return true;
  return false;
}
