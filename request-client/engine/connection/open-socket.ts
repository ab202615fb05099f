import { request as httpRequest } from 'node:http';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls';
import { TroupeError } from '#troupe/protocol/errors.js';
import { networkFault } from '../run/network-fault.js';
import type { RequestTarget } from '../run/request-target.js';
import type { ProxyAddress } from './proxy-rules.js';

/** How one request gets to its server. */
export interface Route {
  readonly target: RequestTarget;
  /** Null for a direct connection. */
  readonly proxy: ProxyAddress | null;
  /**
   * The host that the proxy connects to: the target's, or an address that was checked. Null without a proxy, and for a
   * proxy that gets the request itself.
   */
  readonly tunnelTo: string | null;
  readonly verifyTls: boolean;
  /** Undefined for Node's defaults. */
  readonly identity: SecureContext | undefined;
  /** Offered to the server, in the order of preference. */
  readonly protocols: readonly HttpProtocol[];
  /** Of a direct connection. */
  readonly lookup?: LookupFunction;
  /** Ends a direct connection before any byte is sent. */
  guard?(socket: Socket): void;
}

/** Names of ALPN. */
export type HttpProtocol = 'h2' | 'http/1.1';

/**
 * Connects to a server, directly or through a proxy, with TLS for https.
 * @throws REQUEST_FAILED for what the proxy is to blame for; the system's and OpenSSL's errors for the server
 */
export async function openSocket(route: Route, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted();
  const { target, proxy } = route;
  const plain = proxy === null ? await direct(route, signal) : await throughProxy(route, proxy, signal);
  if (!target.secure) return plain;
  const secured = await withTls(
    plain,
    {
      ...namesOf(target.hostname),
      ...(route.identity === undefined ? {} : { secureContext: route.identity }),
      rejectUnauthorized: route.verifyTls,
      ALPNProtocols: [...route.protocols],
    },
    signal,
  );
  if (!route.protocols.includes('http/1.1') && secured.alpnProtocol !== 'h2') {
    secured.destroy();
    throw new TroupeError(
      'REQUEST_FAILED',
      `${target.host} does not offer HTTP/2; set the HTTP version of the request to automatic`,
      { cause: 'HTTP2' },
    );
  }
  return secured;
}

/** The plain socket belongs to the returned one. */
async function withTls(plain: Socket, options: ConnectionOptions, signal: AbortSignal): Promise<TLSSocket> {
  const secured = connectTls({ ...options, socket: plain });
  // After an alert of the server, Node leaves the connection open that HTTP/2 uses.
  for (const end of ['error', 'close']) secured.once(end, () => void plain.destroy());
  await established(secured, 'secureConnect', signal);
  return secured;
}

async function direct({ target, lookup, guard }: Route, signal: AbortSignal): Promise<Socket> {
  const socket = connectTcp({
    host: target.hostname,
    port: target.port,
    ...(lookup === undefined ? {} : { lookup }),
  });
  guard?.(socket);
  await established(socket, 'connect', signal);
  return socket;
}

async function throughProxy({ target, tunnelTo }: Route, proxy: ProxyAddress, signal: AbortSignal): Promise<Socket> {
  const { hostname, port, secure } = proxy;
  try {
    const tcp = connectTcp({ host: hostname, port });
    await established(tcp, 'connect', signal);
    const socket = secure ? await withTls(tcp, namesOf(hostname), signal) : tcp;
    return tunnelTo === null ? socket : await tunnel(socket, proxy, authorityOf(tunnelTo, target.port), signal);
  } catch (error) {
    signal.throwIfAborted();
    const { message, details } = networkFault(error, `http://${proxy.shown}`);
    throw error instanceof TroupeError
      ? error
      : new TroupeError('REQUEST_FAILED', `The proxy ${message}`, { cause: 'PROXY', reason: details?.cause });
  }
}

/** CONNECT, RFC 9110, section 9.3.6. */
async function tunnel(socket: Socket, proxy: ProxyAddress, authority: string, signal: AbortSignal): Promise<Socket> {
  const { authorization, shown } = proxy;
  const request = httpRequest({
    method: 'CONNECT',
    path: authority,
    headers: { Host: authority, ...(authorization === null ? {} : { 'Proxy-Authorization': authorization }) },
    createConnection: () => socket,
  });
  const onAbort = (): void => void request.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const status = await new Promise<number>((resolve, reject) => {
      request.once('connect', ({ statusCode = 0 }, _socket, head) => {
        if (head.length > 0) socket.unshift(head);
        resolve(statusCode);
      });
      request.on('error', reject);
      request.end();
    });
    if (status >= 200 && status < 300) return socket;
    throw new TroupeError('REQUEST_FAILED', `The proxy ${shown} ${refusalOf(status, authorization !== null)}`, {
      cause: 'PROXY',
      status,
    });
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function refusalOf(status: number, hasLogin: boolean): string {
  if (status !== 407) return `refused the connection (status ${status}); check its rules for this host`;
  return hasLogin
    ? 'refused its user name and password (status 407); check them'
    : 'requires a login (status 407); set its user name and password';
}

/** Waits until a socket is connected. Aborting destroys it. */
async function established(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<void> {
  const onAbort = (): void => void socket.destroy(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  // Who uses the socket has listeners of its own; this one is for the moment until then.
  socket.on('error', () => undefined);
  try {
    await new Promise<void>((resolve, reject) => {
      // One that the guard has destroyed still says that it is connected, and then why it is not.
      socket.once(event, () => {
        if (!socket.destroyed) resolve();
      });
      socket.once('error', reject);
      socket.once('close', () => reject(Object.assign(new Error('The connection was closed'), { code: 'ECONNRESET' })));
      if (signal.aborted) onAbort();
    });
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** SNI has no addresses, but the certificate is checked against them. */
function namesOf(hostname: string): { host: string; servername: string } {
  return { host: hostname, servername: isIP(hostname) === 0 ? hostname : '' };
}

function authorityOf(hostname: string, port: number): string {
  return `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
}
