import { randomUUID } from 'node:crypto';

/** The header that names an MCP session. */
export const MCP_SESSION = 'mcp-session-id';

const NODE_AT_END = /@([\w.-]{1,60})$/;

/** @param node the node that has the session, if several share a database: the others pass its requests on */
export function newMcpSessionId(node: string | undefined): string {
  return node === undefined ? randomUUID() : `${randomUUID()}@${node}`;
}

/** Null for a session of a service that is alone. */
export function nodeOfMcpSession(id: string): string | null {
  return NODE_AT_END.exec(id)?.[1] ?? null;
}
