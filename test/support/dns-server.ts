import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Teardown } from './service.js';

/** What a name server says of a name: its addresses and how long they hold, a status, or nothing at all. */
export type DnsReply =
  | { readonly addresses: readonly string[]; readonly ttlS: number }
  | 'no such name'
  | 'server failure'
  | 'silence';

/** A DNS server of a test's own, on a port of 127.0.0.1. */
export interface DnsServer {
  /** As a resolver wants it. */
  readonly address: string;
  /** The names that were asked for, in the order of their coming; each counts once for its A query. */
  readonly asked: readonly string[];
}

const QUERY_TYPES = { a: 1, aaaa: 28 };
const STATUS = { 'no such name': 3, 'server failure': 2 };

/** Answers each A query as told, and each AAAA query with no address where the name has one. */
export async function startDnsServer(t: Teardown, reply: (name: string) => DnsReply): Promise<DnsServer> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, { address, port }) => {
    const { name, end } = questionOf(query);
    const type = query.readUInt16BE(end);
    if (type === QUERY_TYPES.a) asked.push(name);
    const said = reply(name);
    if (said !== 'silence') socket.send(answerTo(query, end + 4, type, said), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.teardown(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, asked };
}

function questionOf(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), end: at + 1 };
}

/** A header of twelve bytes, the question as it came, the answers (RFC 1035, section 4). */
function answerTo(query: Buffer, questionEnd: number, type: number, said: Exclude<DnsReply, 'silence'>): Buffer {
  const found = typeof said === 'object' && type === QUERY_TYPES.a ? said : { addresses: [], ttlS: 0 };
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | (typeof said === 'string' ? STATUS[said] : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(found.addresses.length, 6);
  const records = found.addresses.map((address) => {
    const record = Buffer.alloc(16);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(QUERY_TYPES.a, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(found.ttlS, 6);
    record.writeUInt16BE(4, 10);
    for (const [index, part] of address.split('.').entries()) record.writeUInt8(Number(part), 12 + index);
    return record;
  });
  return Buffer.concat([header, query.subarray(12, questionEnd), ...records]);
}
