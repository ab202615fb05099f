import { STATELESS_MCP_INSTRUCTIONS } from '../../agent-js/prompt/mcp-instructions.js';
import { STATELESS_EVAL_TOOL } from '../../gateway/mcp/eval-tool.js';
import { STATELESS_REVISION } from '../../gateway/mcp/mcp-revisions.js';
import { PRODUCT_NAME } from '../../protocol/product-name.js';
import { type RpcId, type RpcMessage, rpcResult } from './rpc.js';

const META = 'io.modelcontextprotocol/';
const UNSUPPORTED_REVISION = -32022;
const FOR_AN_HOUR = { ttlMs: 3_600_000, cacheScope: 'public' };

/** The revision that a request names itself; null for a message of the revisions with `initialize`. */
export function namedRevision({ params }: RpcMessage): string | null {
  const revision: unknown = Reflect.get(Object(Reflect.get(Object(params), '_meta')), `${META}protocolVersion`);
  return typeof revision === 'string' ? revision : null;
}

/** The answer to a request of the revision without sessions that needs no service; null if it needs one. */
export function answerLocally(id: RpcId, message: RpcMessage, version: string): RpcMessage | null {
  const requested = namedRevision(message);
  if (requested !== STATELESS_REVISION) {
    const data = { supported: [STATELESS_REVISION], requested };
    const error = { code: UNSUPPORTED_REVISION, message: `Revision ${requested} is not supported`, data };
    return { jsonrpc: '2.0', id, error };
  }
  const serverInfo = { name: PRODUCT_NAME, title: 'Troupe browser', version };
  const rest = { ...FOR_AN_HOUR, resultType: 'complete', _meta: { [`${META}serverInfo`]: serverInfo } };
  if (message.method === 'tools/list') return rpcResult(id, { tools: [STATELESS_EVAL_TOOL], ...rest });
  if (message.method !== 'server/discover') return null;
  const discovered = {
    supportedVersions: [STATELESS_REVISION],
    capabilities: { tools: {} },
    instructions: STATELESS_MCP_INSTRUCTIONS,
  };
  return rpcResult(id, { ...discovered, ...rest });
}
