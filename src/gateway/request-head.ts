import type { HttpRequest } from 'uWebSockets.js';
import type { AccessHeaders } from './access.js';

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
 * Reads the head of a request in one pass. uWebSockets.js has refused by itself what it
 * cannot parse: bare line feeds, folded lines, spaces before a colon, lengths that are no number, a length beside
 * chunks. It takes the first of two like-named headers, and any Transfer-Encoding for `chunked`; that is for us to refuse.
 */
export function readHead(req: HttpRequest): RequestHead {
  const seen: { [name in (typeof SINGLE)[number]]?: string } = {};
  let fault: string | null = /^[\x21-\x7e]*$/.test(req.getUrl() + req.getQuery())
    ? null
    : 'The address of the request has characters that must be percent-encoded';
  req.forEach((name, value) => {
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
