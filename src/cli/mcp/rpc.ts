/** A message of JSON-RPC 2.0, as far as the bridge looks into it. */
export interface RpcMessage {
  readonly [member: string]: unknown;
}

export type RpcId = string | number;

/** https://www.jsonrpc.org/specification#error_object, and the SDK's code for a lost connection. */
export const RPC_CODES = { parse: -32700, invalid: -32600, connection: -32000 } as const;

/** The request's id; null for a notification or an answer. */
export function requestId({ id, method }: RpcMessage): RpcId | null {
  return typeof method === 'string' && (typeof id === 'string' || typeof id === 'number') ? id : null;
}

export function rpcResult(id: RpcId, result: object): RpcMessage {
  return { jsonrpc: '2.0', id, result };
}

export function rpcError(id: RpcId | null, code: number, message: string): RpcMessage {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/** A message, or null for anything else that is JSON. */
export function asMessage(value: unknown): RpcMessage | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}

/** A failed call of the tool. */
export function failure(id: RpcId, text: string): RpcMessage {
  return rpcResult(id, { isError: true, content: [{ type: 'text', text }] });
}
