import type { LookupFunction, Socket } from 'node:net';
import type { PreparedRequest } from './prepared-request.js';
import type { RequestTarget } from './request-target.js';

/** Limits for requests: which hosts they may reach, and with what content. */
export interface ReachBounds {
  /** Called before each exchange, also for redirects. @throws REQUEST_FAILED if it is not permitted */
  admit(request: PreparedRequest, target: RequestTarget): void;
  /** Resolves a name for a connection to this port, and rejects blocked addresses. */
  lookup(port: number): LookupFunction;
  /**
   * The address to which a proxy may connect for this target, which is checked like one of {@link lookup}. Null for a
   * target that is not reached through a proxy: this machine. @throws REQUEST_FAILED if it is blocked or has no address
   */
  addressFor(target: RequestTarget): Promise<string | null>;
  /** Ends a connection to a blocked address before any byte is sent. */
  guard(socket: Socket, target: RequestTarget): void;
}
