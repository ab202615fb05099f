import type { WireCall } from './mcp-wire.js';

export const STATELESS = '2026-07-28';

/** A request as the revision without sessions wants it; `headers` and `meta` replace parts. */
export function statelessCall(
  method: string,
  params: object = {},
  { headers = {}, meta = {} }: { readonly headers?: WireCall['headers']; readonly meta?: object } = {},
): WireCall {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': STATELESS,
    'io.modelcontextprotocol/clientCapabilities': {},
    ...meta,
  };
  return {
    headers: { 'mcp-protocol-version': STATELESS, 'mcp-method': method, ...headers },
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
  };
}
