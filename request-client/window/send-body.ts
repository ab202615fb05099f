import { createReadStream } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { TroupeError } from '#troupe/protocol/errors.js';
import type { HttpResponse } from '../engine/run/response.js';

/** Sends a complete body, as bytes without a type: only the page displays or saves it, never the browser by itself. */
export async function sendBody(kept: HttpResponse | undefined, response: ServerResponse): Promise<void> {
  if (kept === undefined) throw new TroupeError('NOT_FOUND', 'This response is no longer stored');
  response.setHeader('Content-Type', 'application/octet-stream');
  response.setHeader('Content-Length', kept.bodyBytes);
  response.setHeader('Content-Disposition', 'attachment');
  response.setHeader('Content-Security-Policy', "default-src 'none'; sandbox");
  if (kept.body.kind === 'memory') response.end(kept.body.bytes);
  else await pipeline(createReadStream(kept.body.path), response);
}
