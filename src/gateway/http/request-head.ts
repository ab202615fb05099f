import type { AccessHeaders } from '../access.js';
import type { HttpRequest } from './http-server.js';

/** What decides who may enter, and where the request ends. */
export interface RequestHead extends AccessHeaders {
  /** Of the body; null where the request does not say. */
  readonly contentLength: number | null;
  /** Why nobody can say for sure what was asked, as a sentence; null where the head is sound. */
  readonly fault: string | null;
}

/** Headers of which two would have two readings: a proxy in front may go by the one, the service by the other. */
const SINGLE = ['host', 'origin', 'authorization', 'cookie', 'content-length', 'transfer-encoding'] as const;

/**
 * Reads the head of a request in one pass. The server has refused by itself what it cannot parse: bare line feeds, folded
 * lines, spaces before a colon, lengths that are no number, a length beside chunks. uWebSockets.js takes the first of two
 * like-named headers, and any Transfer-Encoding for `chunked`; that is for us to refuse.
 */
export function readHead(request: HttpRequest): RequestHead {
  const seen: { [name in (typeof SINGLE)[number]]?: string } = {};
  let fault: string | null = addressFault(request);
  request.eachHeader((name, value) => {
    const single = SINGLE.find((one) => one === name);
    if (single === undefined) return;
    if (seen[single] !== undefined) fault = `The request has the header ${single} twice; send it once`;
    seen[single] = value;
  });
  const { 'content-length': length, 'transfer-encoding': encoding } = seen;
  if (length !== undefined && !/^\d{1,15}$/.test(length)) fault = 'The Content-Length is not a number of bytes';
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') {
    fault = 'The Transfer-Encoding is not chunked, the only one that this service takes';
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
  if (!path.startsWith('/')) return 'The address of the request does not begin with a slash';
  return /^[\x21-\x7e]*$/.test(path + query)
    ? null
    : 'The address of the request has characters that must be percent-encoded';
}
