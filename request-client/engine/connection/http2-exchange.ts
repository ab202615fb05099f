import { STATUS_CODES } from 'node:http';
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import { pipeline } from 'node:stream/promises';
import type { HeaderEntry } from '../request.js';
import { type Answer, headerEntries, toWire, type WireRequest } from './answer.js';

/** Fields of a connection, which HTTP/2 does not allow in requests (RFC 9113, section 8.2.2), and what it sends otherwise. */
const NOT_SENT = new Set(['connection', 'host', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']);

/** One request over HTTP/2. Header names are sent in lower case, and duplicates one after another. */
export async function exchangeOverHttp2(
  session: ClientHttp2Session,
  { method, path, headers, open }: WireRequest,
  signal: AbortSignal,
): Promise<Answer> {
  const stream = session.request(fieldsOf(method, path, headers), { endStream: open === null, signal });
  const answered = new Promise<Answer>((resolve, reject) => {
    stream.once('response', (...[fields, _flags, raw]: unknown[]) => resolve(answerOf(stream, fields, raw)));
    stream.on('error', reject);
    stream.once('close', () =>
      reject(Object.assign(new Error('The stream was closed without an answer'), { code: 'ECONNRESET' })),
    );
  });
  if (open !== null) {
    // A server may answer and close before it has read everything: then its answer counts, not the broken pipe.
    pipeline(open(), stream).catch((error: unknown) => stream.destroy(error instanceof Error ? error : undefined));
  }
  return await answered;
}

function fieldsOf(method: string, path: string, headers: readonly HeaderEntry[]): OutgoingHttpHeaders {
  const host = headers.find(({ name }) => name.toLowerCase() === 'host')?.value ?? '';
  const fields: { [name: string]: string | string[] } = {
    ':method': method.toUpperCase(),
    ':scheme': 'https',
    ':authority': toWire(host),
    ':path': path,
  };
  for (const { name, value } of headers) {
    const lower = name.toLowerCase();
    if (NOT_SENT.has(lower)) continue;
    const known = fields[lower];
    const written = toWire(value);
    fields[lower] = known === undefined ? written : [...(Array.isArray(known) ? known : [known]), written];
  }
  return fields;
}

function answerOf(stream: ClientHttp2Stream, fields: unknown, raw: unknown): Answer {
  const status = Number(typeof fields === 'object' && fields !== null ? Reflect.get(fields, ':status') : 0);
  const flat = Array.isArray(raw) ? raw.map(String) : [];
  return {
    status,
    // HTTP/2 has no reason phrases.
    statusText: STATUS_CODES[status] ?? '',
    httpVersion: '2.0',
    headers: headerEntries(flat).filter(({ name }) => !name.startsWith(':')),
    body: stream,
  };
}
