import type { HeaderEntry } from '../request.js';

/** Where a body is: small ones in memory, others in a file that {@link HttpResponse.dispose} removes. */
export type StoredBody =
  | { readonly kind: 'memory'; readonly bytes: Buffer }
  | { readonly kind: 'file'; readonly path: string };

/** An answer that was followed: where it led. */
export interface RedirectStep {
  readonly status: number;
  readonly url: string;
}

/** A whole answer. Who sent the request disposes of it. */
export interface HttpResponse {
  /** Of the request that was answered: after redirects, the last one. */
  readonly url: string;
  readonly method: string;
  readonly status: number;
  readonly statusText: string;
  readonly httpVersion: string;
  /** As they came: case, order and duplicates. */
  readonly headers: readonly HeaderEntry[];
  /** Content-Encoding undone. */
  readonly body: StoredBody;
  /** Bytes of the body after Content-Encoding was undone. */
  readonly bodyBytes: number;
  /** From the first byte sent to the last received, redirects included. */
  readonly durationMs: number;
  readonly redirects: readonly RedirectStep[];
  /** Removes the body's file, if there is one. Idempotent. */
  dispose(): Promise<void>;
}

/** All values of a header, in their order; the name in any case. */
export function headerValues(headers: readonly HeaderEntry[], name: string): string[] {
  const lower = name.toLowerCase();
  return headers.filter((header) => header.name.toLowerCase() === lower).map(({ value }) => value);
}
