import type { ReplyHead } from '../http/reply-head.js';

/** A request that does not reach an MCP session: an HTTP status, and a JSON-RPC error without an id. */
export class RpcFault extends Error {
  override readonly name = 'RpcFault';
  readonly status: number;
  readonly rpcCode: number;
  readonly retryAfterSeconds: number | null;

  constructor(status: number, rpcCode: number, message: string, retryAfterSeconds: number | null = null) {
    super(message);
    this.status = status;
    this.rpcCode = rpcCode;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** Status and headers of the answer. */
  get head(): ReplyHead {
    const retry: [string, string][] =
      this.retryAfterSeconds === null ? [] : [['Retry-After', String(this.retryAfterSeconds)]];
    const allow: [string, string][] = this.status === 405 ? [['Allow', 'POST']] : [];
    return { status: this.status, headers: [['Content-Type', 'application/json'], ...allow, ...retry] };
  }

  /** Body of the answer. */
  get body(): string {
    return JSON.stringify({ jsonrpc: '2.0', error: { code: this.rpcCode, message: this.message }, id: null });
  }
}
