import type { AccessHeaders } from '../host-check.js';
import type { HttpRequest } from './http-server.js';

/** The headers that decide about admission, and the extent of the request. */
export interface RequestHead extends AccessHeaders {
  /** Of the body; null if the request does not declare it. */
  readonly contentLength: number | null;
  /** Why the request is ambiguous, as a sentence; null for a valid head. */
  readonly fault: string | null;
}

/** Headers that may occur only once: a proxy in front might use the one, the service the other. */
const SINGLE_HEADERS = ['host', 'origin', 'authorization', 'cookie', 'content-length', 'transfer-encoding'] as const;

/**
 * Reads the head of a request in one pass. The server rejects by itself what it cannot parse: bare line feeds, folded
 * lines, spaces before a colon, lengths that are not numbers, a length with chunks. uWebSockets.js takes the first of
 * two headers of the same name, and any Transfer-Encoding for `chunked`; both are rejected here.
 */
export function readHead(request: HttpRequest): RequestHead {
  const seen: { [name in (typeof SINGLE_HEADERS)[number]]?: string } = {};
  let fault: string | null = addressFault(request);
  request.eachHeader((name, value) => {
    const single = SINGLE_HEADERS.find((one) => one === name);
    if (single === undefined) return;
    if (seen[single] !== undefined) fault = `The request has the header ${single} twice; send it once`;
    seen[single] = value;
  });
  const { 'content-length': length, 'transfer-encoding': encoding } = seen;
  if (length !== undefined && !/^\d{1,15}$/.test(length)) fault = 'The Content-Length is not a number of bytes';
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') {
    fault = 'The Transfer-Encoding is not "chunked", the only one that this service supports';
  }
  return {
    host: seen.host ?? '',
    origin: seen.origin ?? '',
    authorization: seen.authorization ?? '',
    cookie: seen.cookie ?? '',
    contentLength: length === undefined ? null : Number(length),
    fault,
  };
}

function addressFault({ path, query }: HttpRequest): string | null {
  if (!path.startsWith('/')) return 'The path of the request does not begin with a slash';
  return /^[\x21-\x7e]*$/.test(path + query)
    ? null
    : 'The URL of the request has characters that must be percent-encoded';
}
