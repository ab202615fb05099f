import type { HeaderEntry } from '../request.js';

/** A response body: small ones in memory, others in a file that {@link HttpResponse.dispose} removes. */
export type StoredBody =
  | { readonly kind: 'memory'; readonly bytes: Buffer }
  | { readonly kind: 'file'; readonly path: string };

/** A redirect that was followed. */
export interface RedirectStep {
  readonly status: number;
  readonly url: string;
}

/** A complete answer. The sender of the request disposes of it. */
export interface HttpResponse {
  /** The URL of the answered request: the last one after redirects. */
  readonly url: string;
  readonly method: string;
  readonly status: number;
  readonly statusText: string;
  readonly httpVersion: string;
  /** As received: case, order and duplicates. */
  readonly headers: readonly HeaderEntry[];
  /** With the Content-Encoding decoded. */
  readonly body: StoredBody;
  /** Bytes of the decoded body. */
  readonly bodyBytes: number;
  /** From the first byte sent to the last received, redirects included. */
  readonly durationMs: number;
  readonly redirects: readonly RedirectStep[];
  /** Removes the body's file, if there is one. Idempotent. */
  dispose(): Promise<void>;
}

/** All values of a header, in their order; the case of the name does not matter. */
export function headerValues(headers: readonly HeaderEntry[], name: string): string[] {
  const lower = name.toLowerCase();
  return headers.filter((header) => header.name.toLowerCase() === lower).map(({ value }) => value);
}
