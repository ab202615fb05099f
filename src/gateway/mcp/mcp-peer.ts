import type { McpServer, Server, Transport } from '@modelcontextprotocol/server';
import type { Sessions } from '../../supervisor/ports/sessions.js';

/** Answers the messages of one MCP session. */
export interface McpPeer {
  /** Called once, before the first message. */
  connect(transport: Transport): Promise<void>;
  /** The client seems to be gone: releases expensive resources, which are created again if it returns. */
  suspend(): void;
  /** Releases everything. Idempotent. */
  close(): Promise<void>;
}

/** The client of a new MCP session; `caller` identifies it for fair scheduling. */
export interface McpClient {
  readonly sessions: Sessions;
  readonly caller: string;
  /** The service's address, as the client uses it. */
  readonly base: string;
}

/** Creates the peer of a new MCP session. */
export type MakeMcpPeer = (client: McpClient) => McpPeer;

/** Answers requests that belong to no MCP session: each gets a server of its own (revision 2026-07-28). */
export interface StatelessPeer {
  serverFor(client: McpClient): McpServer | Server;
  /** Stops what outlives its request. Idempotent. */
  close(): Promise<void>;
}
