/** Status and headers of an answer. A header with the name of a default one replaces it. */
export interface ReplyHead {
  readonly status: number;
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
}

/** Default headers of every answer: foreign pages cannot read it, and no cache keeps it. */
const FIXED_HEADERS = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Cache-Control', 'no-store'],
] as const;

/** Calls back for every header of an answer, including the default ones. */
export function eachHeader(head: ReplyHead, write: (name: string, value: string) => void): void {
  for (const [name, value] of FIXED_HEADERS) if (!has(head, name)) write(name, value);
  for (const [name, value] of head.headers) write(name, value);
}

function has({ headers }: ReplyHead, name: string): boolean {
  for (const [own] of headers) if (own === name) return true;
  return false;
}
