import { SessionId } from '../../protocol/session.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import type { Principal } from '../credentials.js';
import type { HttpRequest } from '../http/http-server.js';
import type { Route } from '../route.js';
import type { Found } from '../router.js';
import { type Away, isForwarded } from './forwarder.js';
import { MCP_SESSION, nodeOfMcpSession } from './mcp-session-id.js';

/** Null if this node answers. A request that a node has passed on is not passed on again. */
export function awayFrom(
  { nodes }: Sessions,
  { route, found, native }: { readonly route: Route; readonly found: Found; readonly native: HttpRequest },
  principal: Principal | null,
): Away | null {
  if (nodes === null || principal === null || principal.isForwarded) return null;
  const { role } = principal;
  if (route.path === '/mcp') {
    const node = nodeOfMcpSession(native.header(MCP_SESSION));
    // A client whose node is gone gets 404, and begins again here.
    return node === null || node === nodes.ownId ? null : { nodes, role, session: null, home: () => nodes.find(node) };
  }
  const id = SessionId.safeParse(found.params.id).data;
  if (id === undefined || !isForwarded(route) || nodes.isHere(id)) return null;
  const handoff = principal.linkScope?.handoffs.get(id);
  return { nodes, role, session: id, handoff, home: () => nodes.homeOf(id) };
}
