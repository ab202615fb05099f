import type { PictureBudget } from '../agent-js/pictures/picture-budget.js';
import type { ClosedPorts } from '../net-policy/closed-ports.js';
import type { Sessions } from '../supervisor/ports/sessions.js';
import type { ServerOption } from './choose-server.js';
import type { MakeMcpPeer, StatelessPeer } from './mcp/mcp-peer.js';

/** A fault of the service itself, caught while a request was answered. */
export interface GatewayFault {
  readonly method: string;
  readonly path: string;
  readonly error: unknown;
}

/** A request that was answered. */
export interface GatewayAnswered {
  /** See {@link Principal.name}; null if the caller was not admitted. */
  readonly principalName: string | null;
  /** The client's address; empty if the request changes nothing. */
  readonly address: string;
  readonly method: string;
  readonly path: string;
  /** The route's pattern; null if no route was found or the caller was not admitted. */
  readonly route: string | null;
  /** The request may have changed something. */
  readonly changes: boolean;
  readonly ms: number;
  /** 0 if the client disconnected before there was an answer. */
  readonly status: number;
}

export interface GatewayOptions {
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** `auto` by default. */
  readonly server?: ServerOption | undefined;
  /** Handles the requests; until {@link Gateway.serve} sets it, they are answered 503. */
  readonly sessions?: Sessions | undefined;
  /** The address that clients use if a proxy is in front of the service. */
  readonly publicUrl?: string | undefined;
  /** Where the trace viewer listens, once a trace is opened. By default a free port. */
  readonly traceViewer?: { readonly port: number; readonly publicUrl?: string | undefined } | undefined;
  /** Further accepted values of the Host header, `name` or `name:port`. */
  readonly allowedHosts: readonly string[];
  /** If set, every request needs this token or a created one, as a Bearer token. See {@link Credentials}. */
  readonly token?: string | undefined;
  /** With it the service proves itself to clients of the same user, see `auth/service-proof.ts`. */
  readonly secret?: string | undefined;
  /** How often an idle event stream sends a comment, so that proxies keep it open; 15 s by default. */
  readonly keepAliveMs?: number | undefined;
  /** Memory for all bodies that are being received, in bytes; 256 MiB by default. */
  readonly bodyBytes?: number | undefined;
  /** Makes what answers MCP clients; agent_eval by default. */
  readonly makeMcpPeer?: MakeMcpPeer | undefined;
  /** The same for clients without MCP sessions. */
  readonly statelessMcpPeer?: StatelessPeer | undefined;
  /** After this time without a connection, an MCP client that had a stream loses its browser; 2 min by default. */
  readonly mcpGoneMs?: number | undefined;
  /** Called for every answered request. */
  readonly onAnswered?: ((answered: GatewayAnswered) => void) | undefined;
  /** The body of `GET /metrics`. */
  readonly metrics?: (() => Promise<string>) | undefined;
  readonly onFault?: ((fault: GatewayFault) => void) | undefined;
  /** The path of chromedriver; by default where packages install it. */
  readonly chromedriver?: string | undefined;
  /** Ports that pages must not reach; those of WebDriver are added. */
  readonly closedPorts?: ClosedPorts | undefined;
  /** Limits what pictures of all sessions cost; its own by default. */
  readonly pictures?: PictureBudget | undefined;
}
