import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';

/** What answers one MCP session. */
export interface McpPeer {
  /** Once, before the first message. */
  connect(transport: Transport): Promise<void>;
  /** The client seems to be gone: what is dear is given back, and made again should it come back. */
  rest(): void;
  /** Gives everything back. Idempotent. */
  close(): Promise<void>;
}

/** What the peer of a new MCP session is made for: `caller` tells apart whoever waits for a place. */
export interface McpAsker {
  readonly sessions: Sessions;
  readonly caller: string;
}

/** Makes the peer of a new MCP session. */
export type MakeMcpPeer = (asker: McpAsker) => McpPeer;
