import type { Socket } from 'node:net';

/** What a SOCKS 5 client wants to be connected to (RFC 1928). */
export interface SocksRequest {
  readonly host: string;
  readonly port: number;
}

/** Replies of RFC 1928, section 6. */
export const SocksReply = { done: 0, refused: 2, unreachable: 4 } as const;

/** A greeting and a request with the longest name are shorter. */
const MAX_BYTES = 600;

/**
 * Reads the greeting and the request from a client, and answers the greeting: no authentication. The reply to the request
 * is the caller's. Rejects when the client says something else or goes away; the caller's timer bounds the wait.
 */
export function readSocksRequest(client: Socket): Promise<SocksRequest> {
  return new Promise((resolve, reject) => {
    let got: Buffer = Buffer.alloc(0);
    let greeted = false;
    const end = (): void => settle(() => reject(new Error('The client went away')));
    const settle = (finish: () => void): void => {
      client.off('data', read).off('close', end).off('end', end);
      client.pause();
      finish();
    };
    const refuse = (why: string): void => settle(() => reject(new Error(why)));
    const read = (chunk: Buffer): void => {
      got = Buffer.concat([got, chunk]);
      if (!greeted) {
        const [version, methods = 0] = got;
        if (version !== 5) refuse('Not SOCKS 5');
        if (version !== 5 || got.length < 2 + methods) return;
        got = got.subarray(2 + methods);
        greeted = true;
        client.write(Buffer.from([5, 0]));
      }
      const parsed = parseRequest(got);
      if (parsed === 'incomplete') {
        if (got.length > MAX_BYTES) refuse('The client sent too much');
      } else if (parsed === 'wrong') refuse('Not a request to connect');
      else accept(parsed);
    };
    const accept = ({ request, length }: Parsed): void => {
      const rest = got.subarray(length);
      settle(() => {
        // What came early belongs to whatever the client is connected to.
        if (rest.length > 0) client.unshift(rest);
        resolve(request);
      });
    };
    client.on('data', read).on('close', end).on('end', end);
  });
}

/** The reply to a request; the address in it, which clients do not look at, is 0.0.0.0:0. */
export function socksReply(reply: number): Buffer {
  return Buffer.from([5, reply, 0, 1, 0, 0, 0, 0, 0, 0]);
}

interface Parsed {
  readonly request: SocksRequest;
  readonly length: number;
}

function parseRequest(got: Buffer): Parsed | 'incomplete' | 'wrong' {
  const [version, command, , kind, nameLength = 0] = got;
  if (version === undefined) return 'incomplete';
  if (version !== 5 || (command !== undefined && command !== 1)) return 'wrong';
  if (got.length < 5) return 'incomplete';
  const sizes: Readonly<Record<number, number>> = { 1: 4, 3: 1 + nameLength, 4: 16 };
  const size = kind === undefined ? undefined : sizes[kind];
  if (size === undefined) return 'wrong';
  const length = 4 + size + 2;
  if (got.length < length) return 'incomplete';
  const address = got.subarray(4, 4 + size);
  return { request: { host: hostOf(kind, address), port: got.readUInt16BE(4 + size) }, length };
}

function hostOf(kind: number | undefined, address: Buffer): string {
  if (kind === 3) return address.subarray(1).toString('latin1');
  if (kind === 1) return [...address].join('.');
  return Array.from({ length: 8 }, (_, index) => address.readUInt16BE(index * 2).toString(16)).join(':');
}
